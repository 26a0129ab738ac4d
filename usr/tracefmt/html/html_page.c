// SPDX-License-Identifier: GPL-2.0
#include "html_page.h"

#define EMBED(name, file)						\
	asm(".pushsection .rodata\n"					\
	    ".global html_" #name ", html_" #name "_end\n"		\
	    "html_" #name ":\n"						\
	    ".incbin \"usr/tracefmt/html/page/" file "\"\n"		\
	    "html_" #name "_end:\n"					\
	    ".popsection\n");						\
	extern const char html_##name[], html_##name##_end[]

EMBED(head, "head.html");
EMBED(style, "page.css");
EMBED(body, "body.html");
EMBED(data, "data.js");
EMBED(expression, "expression.js");
EMBED(filter, "filter.js");
EMBED(timeline, "timeline.js");
EMBED(table, "table.js");
EMBED(latency, "latency.js");
EMBED(figures, "figures.js");
EMBED(page, "page.js");

#define PART(name)	{ html_##name, html_##name##_end }

const struct html_page html_pages[HTML_PARTS] = {
	[HTML_HEAD] = PART(head), [HTML_STYLE] = PART(style),
	[HTML_BODY] = PART(body),
	[HTML_SCRIPT] = PART(data), PART(expression), PART(filter),
	PART(timeline), PART(table), PART(latency), PART(figures), PART(page),
};
