// SPDX-License-Identifier: GPL-2.0
/* The files of tables: how they are read, where a table may lie. */
#include <errno.h>
#include <rastrace/tdf.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tap.h"
#include "lib/hash.h"
#include "lib/formats/table.h"

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
	uint32_t after = offsetof(struct image, names);

	check_place(after, 2, true);
	check_place(after, 3, false);
	check_place(after + 8, 2, false);
	check_place(after + 4, 1, false);
	check_place(after - 8, 1, false);
	check_place(24, 1, false);	/* in the header, after its start */
	check_place(0, 1, false);
	check_place(0xfffffff8, 1, false);
	check_place(after, 0xffffffff, false);
}

/* What is read of a file, and what is not */
static void check_content(void)
{
	static const char text[] = "some bytes";
	void *data = (void *)text;
	struct error err = {0};
	size_t size;
	FILE *file = fopen("some", "w");

	fputs(text, file);
	fclose(file);
	tap_is(table_file_read("some", &data, &size, &err), 0, "some bytes");
	tap_ok(size == strlen(text) && !memcmp(data, text, size),
	       "are all there");
	free(data);
	data = (void *)text;
	table_file_read("none", &data, &size, &err);
	tap_ok(!data && strstr(err.text, "cannot open 'none'"),
	       "and none of what isn't there");
	if (truncate("some", (1l << 30) + 1))
		tap_bail("truncate: %s", strerror(errno));
	data = (void *)text;
	tap_is(table_file_read("some", &data, &size, &err), -EFBIG,
	       "too large a file");
	tap_ok(!data, "isn't read");
	unlink("some");
	/* a file that says that it has a page */
	errno = EIO;
	if (access("/sys/kernel/uevent_seqnum", R_OK))
		return;
	tap_is(table_file_read("/sys/kernel/uevent_seqnum", &data, &size, &err),
	       0, "a file that is shorter than it says");
	tap_ok(size && size < 40, "as long as it is");
	free(data);
	/* one that can be opened and not read: lo has no speed */
	if (access("/sys/class/net/lo/speed", R_OK))
		return;
	alarm(10);
	tap_is(table_file_read("/sys/class/net/lo/speed", &data, &size, &err),
	       -EINVAL, "a file that can't be read");
	tap_ok(!data, "nothing of it is there");
	alarm(0);
}

/* The error has a hint, too. */
static void check_hints(void)
{
	struct tdf_header header = { .magic = TDF_MAGIC };
	struct error err = {0};
	struct table_file file = {
		"TDF", "it", (uint8_t *)&header, 10, &err
	};

	table_file_check(&file, TDF_MAGIC, TDF_VERSION, sizeof(header));
	tap_ok(strstr(err.hint, "make it anew with trcust"),
	       "what to do about a damaged file");
	file.size = sizeof(header);
	table_file_check(&file, TDF_MAGIC, TDF_VERSION, sizeof(header));
	tap_ok(strstr(err.hint, "trcust of the same release"),
	       "and about one of another version");
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
	int lowest = dup(0);	/* no descriptor below it is free */

	close(lowest);
	if (!mkdtemp(dir) || chdir(dir))
		tap_bail("no scratch directory");
	check_places();
	check_content();
	check_hints();
	check_files();
	tap_is(dup(0), lowest, "all files are closed");
	rmdir(dir);
	return tap_done();
}
