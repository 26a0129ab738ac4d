// SPDX-License-Identifier: GPL-2.0
/*
 * A page with a flame graph: the report as JSON and a script that draws it. It
 * loads nothing, and nothing but its own script may run in it.
 */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#define EMBED(name, file)						\
	asm(".pushsection .rodata\n"					\
	    ".global flame_" #name ", flame_" #name "_end\n"		\
	    "flame_" #name ":\n"					\
	    ".incbin \"usr/heapmon/report/page/" file "\"\n"		\
	    "flame_" #name "_end:\n"					\
	    ".popsection\n");						\
	extern const char flame_##name[], flame_##name##_end[]

EMBED(head, "head.html");
EMBED(style, "flame.css");
EMBED(body, "body.html");
EMBED(script, "flame.js");

#define PUT(out, name) \
	fwrite(flame_##name, 1, flame_##name##_end - flame_##name, out)

int report_print_flame(FILE *out, const struct digest *digest,
		       struct error *err)
{
	uint64_t nonce;
	int ret;

	if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
		return error_set(err, -errno, "cannot get random bytes: %s",
				 strerror(errno));
	PUT(out, head);
	fprintf(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'nonce-%016" PRIx64 "'; script-src 'nonce-%016" PRIx64 "'\">\n",
		nonce, nonce);
	fprintf(out, "<style nonce=\"%016" PRIx64 "\">\n", nonce);
	PUT(out, style);
	fputs("</style>\n", out);
	PUT(out, body);
	fputs("<script type=\"application/json\" id=\"report\">\n", out);
	ret = report_print_json(out, digest, err);
	fprintf(out, "</script>\n<script nonce=\"%016" PRIx64 "\">\n", nonce);
	PUT(out, script);
	fputs("</script>\n</body>\n</html>\n", out);
	return ret;
}
