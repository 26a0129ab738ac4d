// SPDX-License-Identifier: GPL-2.0
/*
 * A TFF is taken only when everything in it is in order: the rows damage one
 * field of a good one.
 */
#include <errno.h>
#include "selftests/tracefmt/builder.h"
#include "tap.h"
#include "lib/formats/tff.h"

/* The tables of the good one, in the order in which the builder writes them. */
struct image {
	struct tff_header header;
	struct tff_section sections[2];
	struct tff_entry entries[2];
	struct tff_ctype ctypes[4];
	struct tff_member members[3];
};

static struct bytes image_make(void)
{
	struct tff_builder tff = { .major = 5 };
	struct tff_ctype integer = { .bytes = 4, .kind = TFF_CTYPE_INT };
	struct tff_ctype pointer = { .bytes = 8, .target = 2,
				     .kind = TFF_CTYPE_POINTER };
	struct tff_ctype node = { .bytes = 16, .kind = TFF_CTYPE_STRUCT };
	struct tff_ctype color = { .bytes = 4, .kind = TFF_CTYPE_ENUM };

	tff_section_begin(&tff, "/bin/app", 1);
	tff_entry_add(&tff, 1, 0x1111, 0, "one", "%P%{int}\n");
	tff_entry_add(&tff, 2, 0x2222, TFF_STATIC, "two", "");
	tff_ctype_add(&tff, "int", integer);
	tff_ctype_add(&tff, "struct node *", pointer);
	tff_ctype_add(&tff, "struct node", node);
	tff_member_add(&tff, "next", (struct tff_member){ .ctype = 1 });
	tff_member_add(&tff, "bits", (struct tff_member){
			       .value = 64, .bits = 3 });
	tff_section_begin(&tff, "/bin/other", 2);
	tff_ctype_add(&tff, "enum color", color);
	tff_member_add(&tff, "RED", (struct tff_member){
			       .value = -1, .ctype = TFF_CTYPE_NONE });
	return tff_finish(&tff);
}

static void seal(struct bytes *file)
{
	struct tff_header *h = (void *)file->data;

	h->file_size = file->size;
	h->crc = 0;
	h->crc = hash_crc32(0, file->data, file->size);
}

static int parse(struct bytes *file, struct error *err)
{
	struct tff *tff;
	int code;

	seal(file);
	code = tff_parse(&tff, file->data, file->size, "it", err);
	tff_close(tff);
	return code;
}

/* Set one field, and compare the error. */
#define DAMAGE(place, value, reason)					\
	do {								\
		struct bytes file = image_make();			\
		struct image *image = (void *)file.data;		\
		struct error err = { 0 };				\
									\
		image->place = value;					\
		tap_is(parse(&file, &err), -EINVAL, #place " = " #value);	\
		tap_ok(strstr(err.text, reason), "is refused: %s",	\
		       err.text);					\
		bytes_free(&file);					\
	} while (0)

static void check_good(void)
{
	struct bytes file = image_make();
	struct error err = { 0 };
	struct tff *tff;

	tap_is(tff_parse(&tff, file.data, file.size, "it", &err), 0,
	       "a good file%s", err.text);
	tap_str(tff_string(tff, tff->ctypes[2].name), "struct node",
		"a type");
	tap_str(tff_string(tff, tff->members[1].name), "bits", "a member");
	tap_is(tff->sections[1].first_ctype, 3, "types of another section");
	tff_close(tff);
	bytes_free(&file);
}

/* Cut or altered anywhere, with the right checksum: it is read or refused. */
static void check_anywhere(void)
{
	struct bytes good = image_make();
	size_t refused = 0;

	for (size_t n = 1; n < good.size; n++) {
		struct bytes cut = { 0 }, altered = { 0 };
		struct error err = { 0 };
		struct tff *tff;

		bytes_add(&cut, good.data, n);
		if (n >= sizeof(struct tff_header))
			seal(&cut);
		refused += tff_parse(&tff, cut.data, n, "it", &err) != 0;
		tff_close(tff);
		bytes_add(&altered, good.data, good.size);
		altered.data[n] ^= 0xff;
		parse(&altered, &err);
		bytes_free(&cut);
		bytes_free(&altered);
	}
	tap_is(refused, good.size - 1, "a file that is cut short is refused");
	bytes_free(&good);
}

static void check_sections(void)
{
	DAMAGE(header.version, 1, "version 1");
	DAMAGE(header.flags, 2, "unknown flags");
	DAMAGE(header.major, 0, "major code");
	DAMAGE(header.ctypes.count, 3, "outside its tables");
	DAMAGE(header.ctypes.count, 0x10000000, "'ctypes' lies outside");
	DAMAGE(header.members.offset, 12, "'members' lies outside");
	DAMAGE(sections[0].ctypes, 5, "outside its tables");
	DAMAGE(sections[1].first_ctype, 2, "outside its tables");
	DAMAGE(sections[1].first_ctype, 4, "outside its tables");
	DAMAGE(sections[1].first_member, 1, "outside its tables");
	DAMAGE(sections[1].members, 2, "outside its tables");
	DAMAGE(sections[1].members, 0xffffffff, "outside its tables");
	DAMAGE(sections[0].name, 0xffff, "without a name");
	DAMAGE(sections[0].id_length, 31, "identity");
	DAMAGE(entries[1].minor, 1, "ascend");
	DAMAGE(entries[0].minor, 0, "minor 0");
	DAMAGE(entries[0].flags, 8, "flags 0x8");
	DAMAGE(entries[0].fmt, 0xffff, "text of minor 1");
}

static void check_types(void)
{
	DAMAGE(ctypes[0].kind, TFF_CTYPE_LAST + 1, "C type 0 of kind 23");
	DAMAGE(ctypes[0].name, 0xffffffff, "C type 0");
	DAMAGE(ctypes[2].kind, TFF_CTYPE_TIME, "with members");
	DAMAGE(ctypes[0].kind, TFF_CTYPE_ARRAY, "elements of C type 0");
	DAMAGE(ctypes[0].kind, TFF_CTYPE_SEQUENCE, "elements of C type 0");
	DAMAGE(ctypes[0].kind, TFF_CTYPE_ONE, "elements of C type 0");
	DAMAGE(ctypes[0].kind, TFF_CTYPE_LIST, "elements of C type 0");
	DAMAGE(ctypes[0].kind, TFF_CTYPE_EACH, "elements of C type 0");
	DAMAGE(ctypes[2].kind, TFF_CTYPE_MAP, "entries of C type 2");
	DAMAGE(ctypes[2].kind, TFF_CTYPE_INT, "with members");
	DAMAGE(ctypes[2].members, 3, "members of C type 2");
	DAMAGE(ctypes[2].first_member, 1, "members of C type 2");
	DAMAGE(ctypes[2].first_member, 0xffffffff, "members of C type 2");
	DAMAGE(ctypes[1].target, 3, "target of C type 1");
	DAMAGE(ctypes[3].first_member, 2, "members of C type 0");
	DAMAGE(members[0].ctype, 2, "member 0 of C type 2");
	DAMAGE(members[0].ctype, 0xffffffff, "member 0 of C type 2");
	DAMAGE(members[1].bits, 65, "member 1 of C type 2");
	DAMAGE(members[1].name, 0x10000, "member 1 of C type 2");
	DAMAGE(members[2].name, 0x10000, "member 0 of C type 0");
}

static void check_long_format(size_t length, int expected)
{
	struct tff_builder tff = { .major = 5 };
	char *text = malloc(length + 1);
	struct error err = { 0 };
	struct bytes file;

	memset(text, 'x', length);
	text[length] = '\0';
	tff_section_begin(&tff, "/bin/app", 1);
	tff_entry_add(&tff, 1, 0, 0, "", text);
	file = tff_finish(&tff);
	tap_is(parse(&file, &err), expected, "a format of %zu bytes%s%s",
	       length, expected ? ": " : "", err.text);
	bytes_free(&file);
	free(text);
}

int main(void)
{
	check_good();
	check_sections();
	check_types();
	check_anywhere();
	check_long_format(TFF_FMT_MAX, 0);
	check_long_format(TFF_FMT_MAX + 1, -EINVAL);
	return tap_done();
}
