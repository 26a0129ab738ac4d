// SPDX-License-Identifier: GPL-2.0
#include "pair_point.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a tracepoint is to its function ---- */

static int minor_compare(const void *minor, const void *entry)
{
	return *(const uint16_t *)minor -
	       ((const struct tff_entry *)entry)->minor;
}

/* The section's entry of the other minor; NULL: there is none. */
static const struct tff_entry *partner_find(const struct match_point *point)
{
	uint16_t minor = pair_minor(point) ^ PAIR_POST;

	if (!point->formatted || point->half)
		return NULL;
	return bsearch(&minor, point->tff->entries +
		       point->section->first_entry, point->section->entries,
		       sizeof(struct tff_entry), minor_compare);
}

static bool partner_armed(const struct match_point *point)
{
	const struct trace_session *session = point->session;
	uint16_t minor = pair_minor(point) ^ PAIR_POST;

	for (uint32_t i = 0; i < session->entry->points; i++)
		if (session->points[i].minor == minor)
			return session->points[i].state !=
			       RAS_POINT_UNSELECTED;
	return false;
}

static bool partner_static(const struct match_point *point)
{
	const struct tff_entry *partner = partner_find(point);

	return partner && partner->flags & TFF_STATIC;
}

static bool is_paired(const struct match_point *point)
{
	return point->armed ? partner_armed(point) :
			      !point->session && partner_static(point);
}

bool pair_migrates(const struct match_point *point)
{
	return point->formatted && point->entry->flags & TFF_MIGRATES &&
	       is_paired(point);
}

enum pair_role pair_role_of(const struct match_point *point)
{
	if (point->half)
		return point->half == MATCH_ENTRY ? PAIR_PRE : PAIR_POST_ALONE;
	if (point->halves[0] || !is_paired(point) || pair_migrates(point))
		return PAIR_PLAIN;
	return pair_minor(point) & PAIR_POST ? PAIR_POST_ALONE : PAIR_PRE;
}

/* ---- names ---- */

/* "vector<int>>", "operator=": the signs are the name's, not those of an arrow. */
static bool name_has_signs(const char *desc, size_t n)
{
	static const char operator[] = "operator";
	size_t start = n, length = strlen(operator);

	while (start && desc[start - 1] == '>')
		start--;
	if (start < n && start && !strchr(" -=", desc[start - 1]))
		return true;
	while (start && strchr("-=<>", desc[start - 1]))
		start--;
	return start < n && start >= length &&
	       !memcmp(desc + start - length, operator, length);
}

/* Without blanks and signs at its end. */
static size_t desc_trim(const char *desc, size_t n)
{
	while (n && strchr(" \t\n-:,;.=<>[{(", desc[n - 1]) &&
	       !name_has_signs(desc, n))
		n--;
	return n;
}

/* Words at the end that name the place in the function. */
static size_t desc_strip(const char *desc, size_t n)
{
	static const char *const words[] = {
		"pre-invocation", "post-invocation", "preinvocation",
		"postinvocation", "entry", "exit", "enter", "leave", "return",
		"returns", "pre", "post", "begin", "end", "start", "done",
	};

	n = desc_trim(desc, n);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t length = strlen(words[i]);

		if (n > length && desc[n - length - 1] == ' ' &&
		    !strncasecmp(desc + n - length, words[i], length))
			return desc_trim(desc, n - length);
	}
	return n;
}

static bool role_is_blank(char c)
{
	return c == ' ' || !c;
}

/* Length of the whole words at the begin of both; one of them may go on within
 * its last word: "DosOpen" and "DosOpenC". */
static size_t desc_common(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	if (!role_is_blank(a[n]) && !role_is_blank(b[n]))
		while (n && a[n - 1] != ' ')
			n--;
	return desc_trim(a, n);
}

const char *pair_name(const struct match_point *point, char *name)
{
	const struct tff_entry *partner = partner_find(point), *pre;
	const char *desc, *other = NULL;
	size_t n = 0;
	char safe[4 * PAIR_NAME_MAX];
	char *end;
	size_t length;

	if (!point->formatted) {
		snprintf(name, PAIR_NAME_MAX, "major 0x%04X minor 0x%04X",
			 pair_major(point), point->half ? pair_minor(point) :
			 pair_minor(point) & (uint16_t)~PAIR_POST);
		return name;
	}
	pre = partner && pair_minor(point) & PAIR_POST ? partner : point->entry;
	desc = tff_string(point->tff, pre->desc);
	if (partner)
		other = tff_string(point->tff, pre == partner ?
				   point->entry->desc : partner->desc);
	if (other)
		n = desc_common(desc, other);
	if (!n || (desc[0] == '(' && memchr(desc, ')', n) == desc + n - 1))
		n = desc_strip(desc, strlen(desc));
	n = n ? n : strlen(desc);
	n = n < PAIR_NAME_MAX ? n : PAIR_NAME_MAX - 1;
	while (n && (desc[n] & 0xc0) == 0x80)
		n--;
	end = text_put_safe(safe, desc, n);
	length = end - safe;
	if (length >= PAIR_NAME_MAX)
		length = PAIR_NAME_MAX - 1;
	while (length && length < (size_t)(end - safe) &&
	       (safe[length] & 0xc0) == 0x80)
		length--;
	memcpy(name, safe, length);
	name[length] = 0;
	return name;
}
