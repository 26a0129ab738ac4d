// SPDX-License-Identifier: GPL-2.0
/*
 * A page with a flame graph: the report as JSON, that of the file that it is
 * compared with, and a script that draws both. It
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
	    ".incbin \"usr/" file "\"\n"				\
	    "flame_" #name "_end:\n"					\
	    ".popsection\n");						\
	extern const char flame_##name[], flame_##name##_end[]

EMBED(head, "heapmon/report/page/head.html");
EMBED(style, "heapmon/report/page/flame.css");
EMBED(body, "heapmon/report/page/body.html");
EMBED(names, "lib/page/names.js");
EMBED(tree, "heapmon/report/page/tree.js");
EMBED(script, "heapmon/report/page/flame.js");

#define PUT(out, name) \
	fwrite(flame_##name, 1, flame_##name##_end - flame_##name, out)

static int flame_put_report(FILE *out, const char *id,
			    const struct digest *digest, struct error *err)
{
	int ret;

	fprintf(out, "<script type=\"application/json\" id=\"%s\">\n", id);
	ret = report_print_json(out, digest, err);
	fputs("</script>\n", out);
	return ret;
}

int report_print_flame(FILE *out, const struct digest *digest,
		       const struct digest *before, struct error *err)
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
	ret = flame_put_report(out, "report", digest, err);
	if (!ret && before)
		ret = flame_put_report(out, "before", before, err);
	fprintf(out, "<script nonce=\"%016" PRIx64 "\">\n", nonce);
	PUT(out, names);
	PUT(out, tree);
	PUT(out, script);
	fputs("</script>\n</body>\n</html>\n", out);
	return ret;
}
