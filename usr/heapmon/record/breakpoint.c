// SPDX-License-Identifier: GPL-2.0
#include "breakpoint.h"

#include <elf.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#if defined(__aarch64__)

/* brk leaves the program counter where it is (Arm ARM, D1.3.4). */
int breakpoint_leave(pid_t pid, uint64_t address)
{
	struct user_regs_struct regs;
	struct iovec all = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &all))
		return -errno;
	return regs.pc == address ? 0 : -EAGAIN;
}

#else

int breakpoint_leave(pid_t pid, uint64_t address)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, pid, 0, &regs))
		return -errno;
	if (regs.rip != address + 1)
		return -EAGAIN;
	regs.rip = address;
	return ptrace(PTRACE_SETREGS, pid, 0, &regs) ? -errno : 0;
}

#endif
