// SPDX-License-Identifier: GPL-2.0
/* The files of tables: how they are read, where a table may lie. */
#include <errno.h>
#include <rastrace/tdf.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tap.h"
#include "usr/lib/hash.h"
#include "usr/lib/table.h"

struct image {
	struct tdf_header header;
	struct tdf_name names[2];
};

static void check_place(uint32_t offset, uint32_t count, bool good)
{
	struct image image = {
		.header = {
			.magic = TDF_MAGIC,
			.version = TDF_VERSION,
			.header_size = sizeof(image.header),
			.file_size = sizeof(image),
		},
	};
	struct error err = {0};
	struct table_file file = {
		"TDF", "it", (uint8_t *)&image, sizeof(image), &err
	};
	const void *entries;

	image.header.crc = hash_crc32(0, &image, sizeof(image));
	tap_is(table_file_check(&file, TDF_MAGIC, TDF_VERSION,
				sizeof(image.header)), 0, "the header");
	entries = table_entries(&file, "names",
				(struct tdf_table) { offset, count },
				sizeof(struct tdf_name));
	tap_ok(good ? entries == file.data + offset : !entries,
	       "%u entries at %u %s", count, offset,
	       good ? "are there" : "are refused");
}

static void check_places(void)
{
	uint32_t behind = offsetof(struct image, names);

	check_place(behind, 2, true);
	check_place(behind, 3, false);
	check_place(behind + 8, 2, false);
	check_place(behind + 4, 1, false);
	check_place(behind - 8, 1, false);
	check_place(24, 1, false);	/* in the header, behind what all have */
	check_place(0, 1, false);
	check_place(0xfffffff8, 1, false);
	check_place(behind, 0xffffffff, false);
}

static void check_files(void)
{
	struct error err = {0};
	size_t size = 1;
	void *data;

	alarm(10);		/* a FIFO without a writer would block */
	if (mkfifo("fifo", 0600))
		tap_bail("mkfifo: %s", strerror(errno));
	tap_is(table_file_read("fifo", &data, &size, &err), -EINVAL,
	       "a FIFO is refused");
	tap_is(table_file_read(".", &data, &size, &err), -EISDIR,
	       "a directory is refused");
	tap_is(table_file_read("none", &data, &size, &err), -ENOENT,
	       "no file");
	fclose(fopen("empty", "w"));
	tap_is(table_file_read("empty", &data, &size, &err), 0, "an empty file");
	tap_is(size, 0, "has nothing");
	free(data);
	unlink("fifo");
	unlink("empty");
}

int main(void)
{
	char dir[] = "/tmp/rastrace.XXXXXX";

	if (!mkdtemp(dir) || chdir(dir))
		tap_bail("no scratch directory");
	check_places();
	check_files();
	rmdir(dir);
	return tap_done();
}
