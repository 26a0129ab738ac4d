// SPDX-License-Identifier: GPL-2.0
/* as UID GID COMMAND [ARGUMENT...]: by a user without rights, in no other
 * group. */
#include <err.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 4)
		errx(2, "usage: as UID GID COMMAND [ARGUMENT...]");
	/* whatever it executes */
	for (int i = 0; !prctl(PR_CAPBSET_DROP, i, 0, 0, 0); i++)
		;
	if (setgroups(0, NULL) || setgid(atoi(argv[2])) ||
	    setuid(atoi(argv[1])))
		err(125, "user %s, group %s", argv[1], argv[2]);
	execvp(argv[3], argv + 3);
	err(126, "%s", argv[3]);
}
