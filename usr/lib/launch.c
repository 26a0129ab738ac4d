// SPDX-License-Identifier: GPL-2.0
#include "launch.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include "lib/elf_symbols.h"
#include "lib/maps_line.h"

#define HITS_MOST	64	/* of the loader's breakpoint */
#define STATE_32	12	/* offset of r_debug.r_state in a 32-bit one */

/* The instruction that stops a program of this machine */
#if defined(__aarch64__)
#define BREAKPOINT	0xd4200000ul	/* brk #0 */
#define BREAKPOINT_MASK	0xfffffffful
#else
#define BREAKPOINT	0xccul		/* int3 */
#define BREAKPOINT_MASK	0xfful
#endif

/* ---- its loader ---- */

/* 0: it has none. */
static uint64_t auxv_value(const uint8_t *auxv, size_t size, bool wide,
			   uint64_t type)
{
	size_t word = wide ? 8 : 4;

	for (size_t at = 0; at + 2 * word <= size; at += 2 * word) {
		uint64_t key = 0, value = 0;

		memcpy(&key, auxv + at, word);
		memcpy(&value, auxv + at + word, word);
		if (key == type)
			return value;
	}
	return 0;
}

static int proc_open(pid_t pid, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

ssize_t proc_read(pid_t pid, const char *name, void *data, size_t size)
{
	int fd = proc_open(pid, name);
	ssize_t n = fd < 0 ? -1 : read(fd, data, size);

	if (fd >= 0)
		close(fd);
	return n;
}

/*
 * Where a program that was just executed is when its libraries are mapped: the
 * protocol by which its loader notifies debuggers (struct r_debug of link.h).
 */
struct loader {
	uint64_t stop;		/* of a static program, where it begins */
	uint64_t state;		/* address of r_debug.r_state; 0: not known */
};

struct loader_wanted {
	const char *name;
	uint64_t value;		/* 0: not found */
};

static void loader_symbols_find(Elf *elf, uint32_t type,
				struct loader_wanted *wanted, size_t count)
{
	struct elf_symbols at = { .elf = elf, .type = type };

	while (elf_symbols_next(&at))
		for (size_t k = 0; k < count; k++)
			if (!wanted[k].value &&
			    !strcmp(wanted[k].name, at.name))
				wanted[k].value = at.symbol.st_value;
}

/* 0, or a negative errno. */
static int loader_read(struct loader *loader, pid_t pid)
{
	struct loader_wanted wanted[] = {
		{ "_dl_debug_state", 0 }, { "_r_debug", 0 },
	};
	uint8_t ident[EI_NIDENT] = { 0 }, auxv[1024];
	ssize_t size = proc_read(pid, "auxv", auxv, sizeof(auxv));
	struct maps_lines lines;
	struct maps_line maps;
	int fd = -1;
	uint64_t base;
	bool wide;
	Elf *elf;

	*loader = (struct loader){ 0 };
	if (size < 0 || proc_read(pid, "exe", ident, sizeof(ident)) < 0)
		return -errno;
	wide = ident[EI_CLASS] == ELFCLASS64;
	loader->stop = auxv_value(auxv, size, wide, AT_ENTRY);
	if (!loader->stop)
		return -ENOENT;
	base = auxv_value(auxv, size, wide, AT_BASE);
	if (!base || maps_lines_open(&lines, pid))
		return 0;
	while (fd < 0 && maps_lines_next(&lines, &maps))
		if (maps.start == base)
			fd = maps_line_open(&maps, pid);
	maps_lines_close(&lines);
	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf) {
		loader_symbols_find(elf, SHT_DYNSYM, wanted, 2);
		loader_symbols_find(elf, SHT_SYMTAB, wanted, 2);
	}
	elf_end(elf);
	close(fd);
	if (wanted[0].value)
		loader->stop = base + wanted[0].value;
	if (wanted[0].value && wanted[1].value)
		loader->state = base + wanted[1].value +
				(wide ? offsetof(struct r_debug, r_state) :
					STATE_32);
	return 0;
}

/* It is at `stop`: is everything mapped? */
static bool loader_is_done(const struct loader *loader, pid_t pid)
{
	uint32_t state = RT_CONSISTENT;
	int fd = loader->state ? proc_open(pid, "mem") : -1;

	if (fd < 0)
		return true;
	if (pread(fd, &state, sizeof(state), loader->state) != sizeof(state))
		state = RT_CONSISTENT;
	close(fd);
	return state == RT_CONSISTENT;
}

/* ---- the program ---- */

/* Until it stops; false: it has ended */
static bool launch_stop_wait(struct launch *launch, int *number)
{
	int status;

	while (waitpid(launch->pid, &status, 0) < 0)
		if (errno != EINTR || (launch->asked && launch->asked()))
			return false;
	if (WIFSTOPPED(status)) {
		*number = status >> 8;
		return true;
	}
	launch->ended = true;
	launch->status = status;
	return false;
}

/* Until the stop that is waited for; other signals are its own, with which it goes
 * on by the request. */
static bool stop_reach(struct launch *launch, int request, int wanted)
{
	int number;

	while (launch_stop_wait(launch, &number)) {
		if (number == wanted)
			return true;
		/* of an event there is no signal */
		if (ptrace(request, launch->pid, 0,
			   number > 0xff ? 0 : number))
			return false;
	}
	return false;
}

/* ---- a breakpoint ---- */

#if defined(__aarch64__)

/* It stopped at the breakpoint that was at `address`, and is to go on with what
 * is there now. 0; -EAGAIN: it stopped elsewhere; or a negative errno. brk leaves
 * the program counter where it is (Arm ARM, D1.3.4). */
static int breakpoint_leave(pid_t pid, uint64_t address)
{
	struct user_regs_struct regs;
	struct iovec all = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &all))
		return -errno;
	return regs.pc == address ? 0 : -EAGAIN;
}

#else

static int breakpoint_leave(pid_t pid, uint64_t address)
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

static int text_exchange(pid_t pid, uint64_t address, uint64_t insn,
			 uint64_t *before)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, address, 0);
	if (errno)
		return -errno;
	*before = word & BREAKPOINT_MASK;
	/* somebody's tracepoint, which would get the trap */
	if (*before == insn)
		return -EBUSY;
	word = (word & ~BREAKPOINT_MASK) | insn;
	return ptrace(PTRACE_POKETEXT, pid, address, word) ? -errno : 0;
}

/* Once: then it is at the breakpoint, which is removed again. */
static int breakpoint_run(struct launch *launch, uint64_t address)
{
	uint64_t insn, dummy;
	int code = text_exchange(launch->pid, address, BREAKPOINT, &insn);

	if (code)
		return code;
	if (ptrace(PTRACE_CONT, launch->pid, 0, 0) ||
	    !stop_reach(launch, PTRACE_CONT, SIGTRAP))
		return -ECHILD;
	code = text_exchange(launch->pid, address, insn, &dummy);
	return code ? code : breakpoint_leave(launch->pid, address);
}

/* The program was started with SIGTRAP ignored or blocked, which a breakpoint would
 * change. */
static bool trap_is_refused(pid_t pid)
{
	static const char *const names[] = { "\nSigBlk:", "\nSigIgn:" };
	char status[4096];
	ssize_t n = proc_read(pid, "status", status, sizeof(status) - 1);

	if (n < 0)
		return true;
	status[n] = '\0';
	for (int i = 0; i < 2; i++) {
		const char *p = strstr(status, names[i]);

		if (!p || strtoull(p + strlen(names[i]), NULL, 16) &
			  1ULL << (SIGTRAP - 1))
			return true;
	}
	return false;
}

/* The loader notifies debuggers before and after it maps. */
static int libraries_wait(struct launch *launch)
{
	struct loader loader;
	int code = loader_read(&loader, launch->pid);

	if (!code && trap_is_refused(launch->pid))
		code = -EBUSY;
	for (int i = 0; !code && i < HITS_MOST; i++) {
		code = breakpoint_run(launch, loader.stop);
		if (code || loader_is_done(&loader, launch->pid))
			return code;
		if (ptrace(PTRACE_SINGLESTEP, launch->pid, 0, 0))
			return -errno;
		if (!stop_reach(launch, PTRACE_SINGLESTEP, SIGTRAP))
			return -ECHILD;
	}
	return code;
}

/* ---- from beginning to end ---- */

static int launch_refused(struct error *err, int cause, const char *what)
{
	return error_set(err, -cause, "cannot %s: %s", what, strerror(cause));
}

static void launch_close(struct launch *launch)
{
	if (launch->go >= 0)
		close(launch->go);
	if (launch->why >= 0)
		close(launch->why);
	launch->go = launch->why = -1;
}

int launch_wait(struct launch *launch)
{
	while (!launch->ended) {
		if (waitpid(launch->pid, &launch->status, 0) == launch->pid)
			launch->ended = true;
		else if (errno != EINTR)
			break;
	}
	return launch->status;
}

int launch_make(struct launch *launch, char **argv, struct error *err)
{
	int go[2], why[2], cause;
	char byte;

	*launch = (struct launch){ .argv = argv, .go = -1, .why = -1 };
	if (pipe2(go, O_CLOEXEC))
		return launch_refused(err, errno, "make a pipe");
	if (pipe2(why, O_CLOEXEC)) {
		cause = errno;
		close(go[0]);
		close(go[1]);
		return launch_refused(err, cause, "make a pipe");
	}
	launch->pid = fork();
	cause = errno;
	if (!launch->pid) {
		close(go[1]);

		/* In the new process; without a byte to read, its parent is
		 * gone. */
		if (read(go[0], &byte, 1) != 1)
			_exit(0);
		execvp(argv[0], argv);
		cause = errno;
		_exit(write(why[1], &cause, sizeof(cause)) < 0);
	}
	close(go[0]);
	close(why[1]);
	launch->go = go[1];
	launch->why = why[0];
	if (launch->pid > 0)
		return 0;
	launch->pid = 0;
	launch_close(launch);
	return launch_refused(err, cause, "fork");
}

int launch_seize(struct launch *launch, struct error *err)
{
	if (ptrace(PTRACE_SEIZE, launch->pid, 0,
		   PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) {
		int cause = errno;

		launch_refused(err, cause, "stop the program at its start");
		error_hint(err, "ptrace(2) is needed for that");
		return -cause;
	}
	launch->stopped = true;
	return 0;
}

int launch_execute(struct launch *launch, struct error *err)
{
	int cause = 0, code = 0;

	if (write(launch->go, "", 1) != 1)
		cause = errno;
	if (!cause && launch->stopped &&
	    !stop_reach(launch, PTRACE_CONT,
			SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
		code = -ECHILD;
		error_set(err, code, "'%s' ended before it was executed",
			  launch->argv[0]);
	}
	/* nothing comes when it is executed */
	if (!cause && (!launch->stopped || launch->ended) &&
	    read(launch->why, &cause, sizeof(cause)) != sizeof(cause))
		cause = 0;
	launch_close(launch);
	if (cause) {
		launch_wait(launch);
		launch->pid = 0;
		return error_set(err, -cause, "cannot run '%s': %s",
				 launch->argv[0], strerror(cause));
	}
	/* where the loader can't be followed it stays at its first instruction */
	if (!code && launch->stopped && libraries_wait(launch) == -ECHILD) {
		code = -ECHILD;
		error_set(err, code, "'%s' ended while its libraries were loaded",
			  launch->argv[0]);
	}
	return code;
}

int launch_continue(struct launch *launch, struct error *err)
{
	bool stopped = launch->stopped;

	launch->stopped = false;
	/* one that was killed has no stop any more, but a status */
	if (stopped && !launch->ended &&
	    ptrace(PTRACE_DETACH, launch->pid, 0, 0) && errno != ESRCH)
		return launch_refused(err, errno, "let the program run");
	return 0;
}

bool launch_poll(struct launch *launch)
{
	int status;

	if (!launch->pid || launch->ended)
		return true;
	if (waitpid(launch->pid, &status, WNOHANG) == launch->pid) {
		launch->ended = true;
		launch->status = status;
	}
	return launch->ended;
}

void launch_drop(struct launch *launch)
{
	bool waits = launch->go >= 0;

	if (!launch->pid)
		return;
	launch_close(launch);
	if (!waits && !launch->stopped)
		return;
	if (launch->stopped && !launch->ended)
		kill(launch->pid, SIGKILL);
	launch_wait(launch);
}
