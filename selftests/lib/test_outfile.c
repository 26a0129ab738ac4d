// SPDX-License-Identifier: GPL-2.0
/* A file is replaced whole, by who may write it, and not through a trap. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"
#include "lib/outfile.h"

#define OWNER		65534	/* of the directory */
#define STRANGER	65533

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		tap_bail("%s: %s", path, strerror(errno));
}

static bool holds(const char *path, const char *text)
{
	char got[32] = "";
	FILE *file = fopen(path, "r");

	if (!file)
		return false;
	if (!fgets(got, sizeof(got), file))
		got[0] = '\0';
	fclose(file);
	return !strcmp(got, text);
}

static int replace(const char *path, struct error *err)
{
	struct outfile *out;
	int code = outfile_open(&out, path, err);

	if (code)
		return code;
	outfile_write(out, "new", 3);
	return outfile_commit(out, err);
}

static void check_plain(void)
{
	struct error err = {0};
	struct stat st;

	umask(022);
	tap_is(replace("file", &err), 0, "a new file");
	tap_ok(holds("file", "new"), "it is written");
	tap_ok(!stat("file", &st) && (st.st_mode & 0777) == 0644, "its mode");
	put("file", "old");
	chmod("file", 0640);
	tap_ok(!symlink("file", "link"), "an own link");
	tap_is(replace("link", &err), 0, "is followed");
	tap_ok(holds("file", "new"), "the file it names is replaced");
	tap_ok(!lstat("link", &st) && S_ISLNK(st.st_mode), "the link is kept");
	tap_ok(!stat("file", &st) && (st.st_mode & 0777) == 0640,
	       "the mode is kept");
	tap_is(replace(".", &err), -EISDIR, "a directory is refused");
	tap_is(replace("/dev/null", &err), 0, "a device is written to");
	tap_ok(!stat("/dev/null", &st) && S_ISCHR(st.st_mode), "unchanged");
	alarm(10);		/* a FIFO without a reader would block */
	tap_ok(!mkfifo("fifo", 0600), "a FIFO");
	tap_is(replace("fifo", &err), -ENXIO, "no process reads it");
}

/* Who made it must not read what replaces it. */
static void check_owner(void)
{
	struct error err = {0};
	struct stat st;

	if (chown("file", OWNER, STRANGER) || chmod("file", 0666))
		tap_bail("chown: %s", strerror(errno));
	umask(077);
	tap_is(replace("file", &err), 0, "root replaces a user's file");
	tap_ok(!stat("file", &st) && st.st_uid == geteuid() &&
	       st.st_gid == getegid() && (st.st_mode & 0777) == 0600,
	       "by one of its own");
	if (chown("file", -1, STRANGER) || chmod("file", 0640))
		tap_bail("chown: %s", strerror(errno));
	tap_is(replace("file", &err), 0, "root replaces its own file");
	tap_ok(!stat("file", &st) && st.st_gid == STRANGER &&
	       (st.st_mode & 0777) == 0640, "group and mode are kept");
	if (link("file", "other"))
		tap_bail("link: %s", strerror(errno));
	tap_is(replace("other", &err), 0, "a file with another name");
	tap_ok(!stat("other", &st) && st.st_gid == getegid() &&
	       (st.st_mode & 0777) == 0600, "gives it nothing");
	unlink("other");
	umask(022);
}

static int replace_in_place(const char *path, struct error *err)
{
	int fd = outfile_open_in_place(path, err);

	if (fd < 0)
		return fd;
	if (write(fd, "now", 3) != 3)
		tap_bail("write: %s", strerror(errno));
	close(fd);
	return 0;
}

/* A file that is read while it is written. */
static void check_in_place(void)
{
	struct error err = {0};
	struct stat st, old;

	tap_is(replace_in_place("place", &err), 0, "in place: a new file");
	tap_ok(holds("place", "now"), "it is written");
	put("place", "longer");
	stat("place", &old);
	tap_is(replace_in_place("place", &err), 0, "in place: an own file");
	tap_ok(holds("place", "now") && !stat("place", &st) &&
	       st.st_ino == old.st_ino, "the file itself is written to");
	if (link("place", "other"))
		tap_bail("link: %s", strerror(errno));
	put("place", "old");
	tap_is(replace_in_place("other", &err), 0,
	       "in place: a second name of an own file");
	tap_ok(holds("place", "old") && holds("other", "now"), "is replaced");
	unlink("other");
	if (!geteuid()) {
		if (chown("place", OWNER, OWNER))
			tap_bail("chown: %s", strerror(errno));
		tap_is(replace_in_place("place", &err), 0,
		       "in place: a user's file");
		tap_ok(!stat("place", &st) && st.st_uid == geteuid(),
		       "is replaced");
	}
	tap_is(replace_in_place("/dev/null", &err), 0, "in place: a device");
	tap_is(replace_in_place(".", &err), -EISDIR, "in place: a directory");
	unlink("place");
}

static unsigned int names(const char *path)
{
	DIR *dir = opendir(path);
	unsigned int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* Whether there is a file already or not. */
static void check_killed(const char *path)
{
	static const char text[1 << 17];
	unsigned int before = names(".");
	struct outfile *out;
	int status = 0;
	pid_t child = fork();

	if (!child) {
		if (outfile_open(&out, path, NULL))
			_exit(1);
		outfile_write(out, text, sizeof(text));
		kill(getpid(), SIGKILL);
	}
	waitpid(child, &status, 0);
	tap_ok(WIFSIGNALED(status), "killed while writing '%s'", path);
	tap_is(names("."), before, "nothing is left");
}

/* A FIFO of another user in a directory that all users may write to. */
static void check_fifo(uid_t owner, mode_t mode, bool good)
{
	struct error err = {0};
	int reader;

	if (mkdir("dir", 0777) || chmod("dir", mode) ||
	    chown("dir", OWNER, OWNER) || mkfifo("dir/fifo", 0600) ||
	    chown("dir/fifo", owner, owner))
		tap_bail("a FIFO: %s", strerror(errno));
	reader = open("dir/fifo", O_RDONLY | O_NONBLOCK);
	tap_is(replace("dir/fifo", &err), good ? 0 : -EACCES,
	       "a FIFO of user %u in a directory of mode %o is %s", owner, mode,
	       good ? "written to" : "refused");
	err = (struct error){0};
	tap_is(replace_in_place("dir/fifo", &err), good ? 0 : -EACCES,
	       "in place, too");
	if (!good)
		tap_ok(strstr(err.text, "FIFO of another user"),
		       "the reason is given: %s", err.text);
	close(reader);
	unlink("dir/fifo");
	rmdir("dir");
}

/* A link that another user made, in a directory like /tmp. */
static void check_planted(uid_t owner, bool good)
{
	struct error err = {0};

	put("victim", "old");
	if (mkdir("dir", 0777) || chmod("dir", 01777) ||
	    chown("dir", OWNER, OWNER) || symlink("../victim", "dir/link") ||
	    lchown("dir/link", owner, owner))
		tap_bail("a link in a sticky directory: %s", strerror(errno));
	tap_is(replace("dir/link", &err), good ? 0 : -EACCES,
	       "a link of user %u is %s", owner, good ? "followed" : "refused");
	tap_ok(holds("victim", good ? "new" : "old"), "what it names");
	if (!good)
		tap_ok(strstr(err.text, "symbolic link of another user"),
		       "the reason is given: %s", err.text);
	unlink("dir/link");
	rmdir("dir");
	unlink("victim");
}

int main(void)
{
	char dir[] = "/tmp/rastrace.XXXXXX";

	if (!mkdtemp(dir) || chdir(dir))
		tap_bail("no scratch directory");
	check_plain();
	check_killed("file");
	check_killed("none");
	check_in_place();
	if (geteuid()) {
		tap_skip("owners and planted links", "needs root");
	} else {
		check_owner();
		check_fifo(STRANGER, 01777, false);
		check_fifo(STRANGER, 0777, false);
		check_fifo(STRANGER, 0755, true);
		check_fifo(0, 01777, true);
		check_planted(STRANGER, false);
		check_planted(OWNER, true);
		check_planted(0, true);
	}
	unlink("file");
	unlink("link");
	unlink("fifo");
	rmdir(dir);
	return tap_done();
}
