// SPDX-License-Identifier: GPL-2.0
/* Lines of /proc/PID/maps are what they say; the program's own, too. */
#include <sys/stat.h>
#include "tap.h"
#include "lib/maps_line.h"

#define HEAD	"7f2e10000000-7f2e10022000 r-xp 00001000 fd:01 1234"
#define LIBC	{ 0x7f2e10000000, 0x7f2e10022000, 0x1000, 1234, 0xfd01, "r-xp" }

static const struct {
	const char *what, *line;
	struct maps_line maps;	/* without path and deleted */
	const char *path;	/* NULL: it is none */
	size_t deleted;		/* where in the path; 0: it isn't */
} rows[] = {
	{ "a file", HEAD "                       /lib/libc.so.6\n", LIBC,
	  "/lib/libc.so.6" },
	{ "without a newline", HEAD " /lib/libc.so.6", LIBC, "/lib/libc.so.6" },
	{ "anonymous", "00c0f000-00c10000 rw-s 00000000 00:00 0 \n",
	  { 0xc0f000, 0xc10000, 0, 0, 0, "rw-s" }, "" },
	{ "anonymous, without blanks", "1-2 ---p 0 00:00 0\n",
	  { 1, 2, 0, 0, 0, "---p" }, "" },
	{ "the heap", "55d0c4a00000-55d0c4a21000 rw-p 00000000 00:00 0    "
	  "                    [heap]\n",
	  { 0x55d0c4a00000, 0x55d0c4a21000, 0, 0, 0, "rw-p" }, "[heap]" },
	{ "the last page", "ffffffffff600000-ffffffffff601000 --xp 00000000 "
	  "00:00 0                  [vsyscall]\n",
	  { 0xffffffffff600000, 0xffffffffff601000, 0, 0, 0, "--xp" },
	  "[vsyscall]" },
	{ "great numbers", "fffffffffffffffe-ffffffffffffffff r-xp "
	  "ffffffffffffffff fff:fffff 18446744073709551615 /a\n",
	  { UINT64_MAX - 1, UINT64_MAX, UINT64_MAX, UINT64_MAX, 0xffffffff,
	    "r-xp" }, "/a" },
	{ "a name with blanks", "1-2 rw-p 0 00:00 0   [anon:a  b ]\n",
	  { 1, 2, 0, 0, 0, "rw-p" }, "[anon:a  b ]" },
	{ "a path with blanks", HEAD "   /a b/ c  d \n", LIBC, "/a b/ c  d " },
	{ "a file that is gone", HEAD " /bin/app (deleted)\n", LIBC,
	  "/bin/app (deleted)", 8 },
	{ "and its line's end", HEAD " /bin/app (deleted)", LIBC,
	  "/bin/app (deleted)", 8 },
	{ "only the last", HEAD " /a (deleted) (deleted)\n", LIBC,
	  "/a (deleted) (deleted)", 12 },
	{ "not at the end", HEAD " /a (deleted)/b\n", LIBC, "/a (deleted)/b" },
	{ "nothing but that", HEAD " (deleted)\n", LIBC, "(deleted)" },
	{ "a newline in the path", HEAD " /a\\012b\n", LIBC, "/a\\012b" },
	{ "another line after it", HEAD " /a\n" HEAD " /b\n", LIBC, "/a" },
	{ "cut in the path", HEAD "   /lib/li", LIBC, "/lib/li" },
	{ "cut in what is gone", HEAD " /bin/app (dele", LIBC,
	  "/bin/app (dele" },
	{ "cut before the inode", "1-2 r-xp 0 00:00 " },
	{ "cut in the device", "1-2 r-xp 0 00:" },
	{ "cut before the offset", "1-2 r-xp " },
	{ "cut in the mode", "1-2 r-" },
	{ "cut in the range", "7f2e10000000-" },
	{ "nothing", "" },
	{ "an empty line", "\n" },
	{ "a path's second half", "ib/libc.so.6 (deleted)\n" },
	{ "the end before the start", "2-1 r-xp 0 00:00 0 /a\n" },
	{ "no byte", "2-2 r-xp 0 00:00 0 /a\n" },
	{ "a mode that is too long", "1-2 r-xpp 0 00:00 0 /a\n" },
	{ "a mode that is far too long", "1-2 r-xprwxps 0 00:00 0 /a\n" },
	{ "no mode", "1-2 0 00:00 0 /a\n" },
	{ "an inode that is no number", "1-2 r-xp 0 00:00 x /a\n" },
	{ "an inode with something after it", "1-2 r-xp 0 00:00 0x5 /a\n" },
	{ "a device without a colon", "1-2 r-xp 0 0000 0 /a\n" },
};

static bool is_equal(const struct maps_line *a, const struct maps_line *b)
{
	return a->start == b->start && a->end == b->end &&
	       a->offset == b->offset && a->inode == b->inode &&
	       a->device == b->device && !strcmp(a->mode, b->mode);
}

static void row_check(size_t i)
{
	const size_t size = strlen(rows[i].line) + 1;
	struct maps_line maps = { 0 };
	char *line = malloc(size);	/* of its size, for sanitizers */
	bool good;

	if (!line)
		tap_bail("out of memory");
	memcpy(line, rows[i].line, size);
	good = maps_line_parse(line, &maps);
	if (!rows[i].path || !good)
		tap_ok(!rows[i].path && !good, "refused: %s", rows[i].what);
	else
		tap_ok(is_equal(&maps, &rows[i].maps) &&
		       !strcmp(maps.path, rows[i].path) &&
		       (rows[i].deleted ?
			maps.deleted == maps.path + rows[i].deleted :
			!maps.deleted), "%s: '%s'", rows[i].what, maps.path);
	free(line);
}

/* This function is in the file that is its process. */
static bool is_ours(const struct maps_line *maps)
{
	uint64_t here = (uintptr_t)is_ours;
	struct stat st;

	return maps->start <= here && here < maps->end &&
	       maps->mode[2] == 'x' && !stat("/proc/self/exe", &st) &&
	       maps->inode == st.st_ino;
}

static void own_check(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	unsigned int lines = 0, read = 0, ours = 0;
	struct maps_line maps;
	char *line = NULL;
	size_t room = 0;

	while (file && getline(&line, &room, file) > 0) {
		lines++;
		if (!maps_line_parse(line, &maps))
			continue;
		read++;
		ours += is_ours(&maps);
	}
	free(line);
	if (file)
		fclose(file);
	tap_ok(lines && read == lines, "%u of %u own lines", read, lines);
	tap_ok(ours == 1, "the test's own code is in %u", ours);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		row_check(i);
	own_check();
	return tap_done();
}
