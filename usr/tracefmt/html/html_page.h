/* SPDX-License-Identifier: GPL-2.0 */
/* What doesn't depend on the trace: the files of html/, which the program has
 * in it. */
#ifndef TRACEFMT_HTML_PAGE_H
#define TRACEFMT_HTML_PAGE_H

enum html_part {
	HTML_HEAD,		/* up to the script's nonce */
	HTML_STYLE,
	HTML_BODY,
	HTML_SCRIPT,		/* this and the others, up to HTML_PARTS */
	HTML_PARTS = HTML_SCRIPT + 8,
};

struct html_page {
	const char *begin, *end;
};

extern const struct html_page html_pages[HTML_PARTS];

#endif
