// SPDX-License-Identifier: GPL-2.0
/*
 * deny SYSCALL ERRNO PROGRAM...: runs a program for which one system call (by
 * number) fails with this error.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

int main(int argc, char **argv)
{
	unsigned int call = argc > 3 ? atoi(argv[1]) : 0;
	unsigned int error = argc > 3 ? atoi(argv[2]) : 0;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {
		.len = sizeof(code) / sizeof(code[0]), .filter = code,
	};

	if (argc < 4 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
		perror("deny");
		return 125;
	}
	execv(argv[3], argv + 3);
	perror(argv[3]);
	return 125;
}
