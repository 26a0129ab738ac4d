// SPDX-License-Identifier: GPL-2.0
/*
 * subject [-u UID] [-g GID] [-c NUMBER,...] [-n] COMMAND [ARGUMENT...]: as this
 * user, in this group and no other one, with these capabilities and without the
 * means to get more; -n: as root of a user namespace of his own.
 */
#include <err.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static uint64_t numbers(char *list)
{
	uint64_t bits = 0;

	for (char *n = strtok(list, ","); n; n = strtok(NULL, ","))
		bits |= 1ULL << atoi(n);
	return bits;
}

/* Also of what is executed; root has no others than these. */
static void capabilities_set(uint64_t bits)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	for (int i = 0; i < 2; i++) {
		data[i].permitted = bits >> 32 * i;
		data[i].effective = data[i].permitted;
		data[i].inheritable = data[i].permitted;
	}
	if (syscall(SYS_capset, &header, data))
		err(125, "capset");
	for (int i = 0; i < 64; i++)
		if (bits >> i & 1 &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0))
			err(125, "capability %d", i);
}

static void line_write(const char *path, const char *format, unsigned int id)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || dprintf(fd, format, id) < 0)
		err(125, "%s", path);
	close(fd);
}

static void namespace_make(void)
{
	unsigned int uid = geteuid(), gid = getegid();

	/* who isn't dumpable can't write these */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		err(125, "unshare");
	line_write("/proc/self/setgroups", "deny", 0);
	line_write("/proc/self/uid_map", "0 %u 1", uid);
	line_write("/proc/self/gid_map", "0 %u 1", gid);
}

int main(int argc, char **argv)
{
	int uid = 0, gid = 0, option;
	uint64_t bits = 0;
	bool apart = false;

	while ((option = getopt(argc, argv, "+u:g:c:n")) != -1)
		switch (option) {
		case 'u': uid = atoi(optarg); break;
		case 'g': gid = atoi(optarg); break;
		case 'c': bits = numbers(optarg); break;
		case 'n': apart = true; break;
		default: return 2;
		}
	if (optind == argc)
		errx(2, "what is to be run?");
	for (int i = 0; i < 64; i++)
		if (!(bits >> i & 1))
			prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	if (setgroups(0, NULL) || setgid(gid) || setuid(uid))
		err(125, "user %d, group %d", uid, gid);
	capabilities_set(bits);
	if (apart)
		namespace_make();
	execvp(argv[optind], argv + optind);
	err(126, "%s", argv[optind]);
}
