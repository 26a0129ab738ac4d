// SPDX-License-Identifier: GPL-2.0
/* A file for what has no room in memory is in TMPDIR, has no name, and other
 * users can't read it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tap.h>
#include "lib/outfile.h"

static int entries(const char *folder)
{
	DIR *dir = opendir(folder);
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count - 2;
}

int main(void)
{
	char folder[] = "/tmp/temp_file.XXXXXX", text[5] = "";
	struct stat there = { 0 }, st = { 0 };
	int fd;

	if (!mkdtemp(folder) || stat(folder, &there))
		tap_bail("no folder");
	setenv("TMPDIR", folder, 1);
	fd = temp_file_open();
	tap_ok(fd >= 0 && !fstat(fd, &st), "it is opened");
	tap_ok(st.st_dev == there.st_dev && S_ISREG(st.st_mode), "where it should");
	tap_is(st.st_nlink, 0, "it has no name");
	tap_is(entries(folder), 0, "the folder is empty");
	tap_is(st.st_mode & 0777, 0600, "no other user may read it");
	tap_is(fcntl(fd, F_GETFD), FD_CLOEXEC, "nor a program that is run");
	tap_ok(pwrite(fd, "text", 4, 0) == 4 && pread(fd, text, 4, 0) == 4 &&
	       !strcmp(text, "text"), "it is written and read");
	close(fd);
	rmdir(folder);
	tap_is(temp_file_open(), -ENOENT, "a folder that isn't there");
	setenv("TMPDIR", "", 1);
	fd = temp_file_open();
	tap_ok(fd >= 0, "without TMPDIR it is /tmp");
	return tap_done();
}
