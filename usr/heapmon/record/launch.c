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

/* ---- signals that ask the recording to end ---- */

static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

#define NUMBERS	(sizeof(numbers) / sizeof(numbers[0]))

static volatile sig_atomic_t stops;	/* signals that have come */
static volatile sig_atomic_t last;
static volatile pid_t program;		/* gets the first one, too */

static void stopping_stop_note(int number)
{
	int before = errno;

	stops++;
	last = number;
	if (program > 0 && number != SIGINT && stops == 1)
		kill(program, number);
	errno = before;
}

void stopping_hold(bool hold)
{
	static sigset_t before;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < NUMBERS; i++)
		sigaddset(&set, numbers[i]);
	if (hold)
		sigprocmask(SIG_BLOCK, &set, &before);
	else
		sigprocmask(SIG_SETMASK, &before, NULL);
}

void stopping_take(void)
{
	struct sigaction action = { .sa_handler = stopping_stop_note }, old;

	for (size_t i = 0; i < NUMBERS; i++)
		if (!sigaction(numbers[i], &action, &old) &&
		    old.sa_handler == SIG_IGN && numbers[i] == SIGHUP)
			signal(SIGHUP, SIG_IGN);
}

void stopping_program(pid_t pid)
{
	program = pid;
}

/* One that has ended may not have been waited for yet. */
static bool program_runs(void)
{
	siginfo_t info = { 0 };

	return program > 0 &&
	       !waitid(P_PID, program, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       !info.si_pid;
}

bool stopping_asked(void)
{
	return stops > (program_runs() ? 1 : 0);
}

int stopping_number(void)
{
	return last;
}

int stopping_check(struct error *err)
{
	if (!stopping_asked())
		return 0;
	return error_set(err, -ECANCELED,
			 "ended by signal %d (%s) before the recording began",
			 last, strsignal(last));
}

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

static int launch_refused(struct error *err, int cause, const char *what)
{
	error_set(err, -cause, "cannot %s: %s", what, strerror(cause));
	if (cause == EPERM)
		error_hint(err, "ptrace(2) is needed to stop the program at its start");
	return -cause;
}

/* Until it stops; false: it has ended */
static bool launch_stop_wait(struct launch *launch, int *number)
{
	int status;

	while (waitpid(launch->pid, &status, 0) < 0)
		if (errno != EINTR || stopping_asked())
			return false;
	if (WIFSTOPPED(status)) {
		*number = status >> 8;
		return true;
	}
	launch->ended = true;
	launch->status = status;
	return false;
}

/* Let it run until the stop that is waited for; other signals are its own. */
static bool run_until(struct launch *launch, int wanted)
{
	int number = 0, pass = 0;

	do {
		if (ptrace(PTRACE_CONT, launch->pid, 0, pass))
			return false;
		if (!launch_stop_wait(launch, &number))
			return false;
		pass = number;
	} while (number != wanted);
	return true;
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
	if (!run_until(launch, SIGTRAP))
		return -ECHILD;
	code = text_exchange(launch->pid, address, insn, &dummy);
	return code ? code : breakpoint_leave(launch->pid, address);
}

/* The loader notifies debuggers before and after it maps. */
static int libraries_wait(struct launch *launch)
{
	struct loader loader;
	int code = loader_read(&loader, launch->pid), number;

	for (int i = 0; !code && i < HITS_MOST; i++) {
		code = breakpoint_run(launch, loader.stop);
		if (code || loader_is_done(&loader, launch->pid))
			return code;
		if (ptrace(PTRACE_SINGLESTEP, launch->pid, 0, 0))
			return -errno;
		code = launch_stop_wait(launch, &number) ? 0 : -ECHILD;
	}
	return code;
}

/* ---- from beginning to end ---- */

static int exec_wait(struct launch *launch, int why, struct error *err)
{
	int number, cause = 0;

	if (!launch_stop_wait(launch, &number) ||
	    ptrace(PTRACE_SETOPTIONS, launch->pid, 0,
		   PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) ||
	    !run_until(launch, SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
		if (stopping_check(err))
			return -ECANCELED;
		if (read(why, &cause, sizeof(cause)) == sizeof(cause))
			return error_set(err, -cause, "cannot run '%s': %s",
					 launch->name, strerror(cause));
		return error_set(err, -ECHILD,
				 "'%s' ended before it was executed",
				 launch->name);
	}
	return 0;
}

int launch_start(struct launch *launch, char **argv, struct error *err)
{
	int why[2], code, cause;

	*launch = (struct launch){ .name = argv[0] };
	if (pipe2(why, O_CLOEXEC))
		return launch_refused(err, errno, "make a pipe");
	/* the program gets the signals as heapmon itself got them */
	stopping_hold(true);
	launch->pid = fork();
	if (!launch->pid) {
		/* In the new process */
		cause = 0;
		stopping_hold(false);
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			cause = errno;
		if (!cause) {
			raise(SIGSTOP);
			execvp(argv[0], argv);
			cause = errno;
		}
		_exit(write(why[1], &cause, sizeof(cause)) < 0);
	}
	stopping_take();
	stopping_hold(false);
	close(why[1]);
	if (launch->pid < 0) {
		code = launch_refused(err, errno, "fork");
		launch->pid = 0;
	} else {
		launch->stopped = true;
		code = exec_wait(launch, why[0], err);
	}
	close(why[0]);
	/* where the loader can't be followed it is armed from its first
	 * instruction on */
	if (!code && libraries_wait(launch) == -ECHILD)
		code = stopping_asked() ? stopping_check(err) :
		       error_set(err, -ECHILD,
				 "'%s' ended while its libraries were loaded",
				 launch->name);
	if (code)
		launch_drop(launch);
	return code;
}

int launch_continue(struct launch *launch, struct error *err)
{
	launch->stopped = false;
	if (launch->pid && ptrace(PTRACE_DETACH, launch->pid, 0, 0))
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
	if (!launch->pid || launch->ended || !launch->stopped)
		return;
	kill(launch->pid, SIGKILL);
	while (waitpid(launch->pid, &launch->status, 0) < 0 && errno == EINTR)
		;
	launch->ended = true;
}
