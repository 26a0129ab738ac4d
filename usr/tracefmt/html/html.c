// SPDX-License-Identifier: GPL-2.0
#include "html.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include "html_json.h"
#include "html_page.h"

/* The page's own script may run, nothing else, and nothing is loaded. */
#define POLICY							\
	"<meta http-equiv=\"Content-Security-Policy\" content=\""	\
	"default-src 'none'; style-src 'nonce-%s'; "		\
	"script-src 'nonce-%s'\">\n"

static void html_free(struct output *output)
{
	struct html *html = output->own;

	if (!html)
		return;
	pairing_close(html->pairing);
	html_store_close(&html->store);
	html_points_free(&html->points);
	free(html->body.data);
	free(html->values.data);
	free(html);
	output->own = NULL;
}

static int html_open(struct output *output, struct text *text,
		     struct error *err)
{
	struct html *html = calloc(1, sizeof(*html));
	int code;

	if (!html)
		return -ENOMEM;
	output->own = html;
	html->settings = *output->settings;
	html->settings.prefix = NULL;
	html->settings.colour = false;
	code = html_store_open(&html->store);
	if (code)
		return code;
	html->pairing = pairing_open();
	if (!html->pairing || text_open(&html->body, -1) ||
	    text_open(&html->values, -1))
		return -ENOMEM;
	return 0;
}

static int html_event(struct output *output, const struct event *event,
		      struct text *text, struct scratch *scratch)
{
	struct html *html = output->own;
	int64_t time = (int64_t)((uint64_t)event->time -
				 (uint64_t)output->start);
	struct pair_seen seen;
	int code = pairing_see(html->pairing, event, &seen);

	if (code)
		return code;
	html->given++;
	if (time > html->latest)
		html->latest = time;
	html_density_add(&html->density, time);
	return html_row_add(output, event, &seen, scratch);
}

/* ---- the page ---- */

static void html_part_add(struct text *text, unsigned int part)
{
	const struct html_page *page = &html_pages[part];

	text_add(text, page->begin, page->end - page->begin);
}

static void element_begin(struct text *text, const char *element,
			  const char *nonce)
{
	TEXT_ADD(text, "<");
	text_add_string(text, element);
	TEXT_ADD(text, " nonce=\"");
	text_add_string(text, nonce);
	TEXT_ADD(text, "\">\n");
}

static void head_add(struct text *text, const char *nonce)
{
	char policy[sizeof(POLICY) + 128];

	html_part_add(text, HTML_HEAD);
	text_add(text, policy, snprintf(policy, sizeof(policy), POLICY, nonce,
					nonce));
	element_begin(text, "style", nonce);
	html_part_add(text, HTML_STYLE);
	TEXT_ADD(text, "</style>\n");
	html_part_add(text, HTML_BODY);
}

static int html_data_add(struct output *output, struct text *text)
{
	struct html *html = output->own;
	int code;

	TEXT_ADD(text, "<script type=\"application/json\" id=\"meta\">\n");
	code = html_meta_add(output, text);
	TEXT_ADD(text, "</script>\n");
	return code ? code : html_store_write(&html->store, text);
}

static int html_close(struct output *output, struct text *text,
		      struct error *err)
{
	uint64_t random;
	char nonce[17];
	int code;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -errno;
	*text_put_hex(nonce, random, 16) = '\0';
	head_add(text, nonce);
	code = html_data_add(output, text);
	element_begin(text, "script", nonce);
	for (unsigned int i = HTML_SCRIPT; i < HTML_PARTS; i++)
		html_part_add(text, i);
	TEXT_ADD(text, "</script>\n</body>\n</html>\n");
	return code ? code : -text->error;
}

const struct output_ops output_html = {
	.name = "html",
	.in_order = true,
	.whole = true,
	.open = html_open,
	.event = html_event,
	.close = html_close,
	.free = html_free,
};
