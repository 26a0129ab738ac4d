// SPDX-License-Identifier: GPL-2.0
#include "process.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/elf_symbols.h"
#include "lib/maps_line.h"

int old_process_open(struct old_process *process, uint32_t pid,
		     struct error *err)
{
	unsigned char head[EI_NIDENT + 4];
	uint16_t machine;
	char path[32];
	int fd, got = 0;

	memset(process, 0, offsetof(struct old_process, window));
	process->pid = pid;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		got = read(fd, head, sizeof(head));
	if (got != sizeof(head)) {
		int code = fd < 0 ? -errno : -EIO;

		if (fd >= 0)
			close(fd);
		return error_set(err, code, "cannot read '%s': %s", path,
				 strerror(-code));
	}
	close(fd);
	memcpy(&machine, head + EI_NIDENT + 2, sizeof(machine));
	process->word = head[EI_CLASS] == ELFCLASS32 ? 4 : 8;
	process->i386 = machine == EM_386;
	return 0;
}

void old_process_close(struct old_process *process)
{
	free(process->regions);
	process->regions = NULL;
}

/* There is room for one more. brk's memory may be in parts, by madvise(2). */
static void region_add(struct old_process *process,
		       const struct maps_line *maps)
{
	struct old_region *region = &process->regions[process->count];
	const char *slash = strrchr(maps->path, '/');

	*region = (struct old_region){
		.start = maps->start, .end = maps->end,
		.writable = maps->mode[0] == 'r' && maps->mode[1] == 'w' &&
			    maps->mode[3] == 'p',
		.file = maps->inode != 0,
		.heap = !strncmp(maps->path, "[heap]", 6),
		.anonymous = !maps->inode &&
			     (!maps->path[0] ||
			      !strncmp(maps->path, "[anon:", 6)),
		.first = maps->inode && !maps->offset,
	};
	snprintf(region->name, sizeof(region->name), "%s",
		 slash ? slash + 1 : "");
	if (process->count && region->heap && region[-1].heap &&
	    region[-1].end == region->start)
		region[-1].end = region->end;
	else
		process->count++;
}

int old_process_map(struct old_process *process, struct error *err)
{
	struct maps_lines lines;
	struct maps_line maps;
	int code = maps_lines_open(&lines, process->pid);

	process->count = 0;
	process->window_size = 0;
	if (code)
		return error_set(err, code, "cannot read '/proc/%" PRIu32
				 "/maps': %s", process->pid, strerror(-code));
	while (!code && maps_lines_next(&lines, &maps)) {
		if (!array_grow(&process->regions, process->count,
				&process->room, sizeof(*process->regions)))
			code = error_no_memory(err);
		else
			region_add(process, &maps);
	}
	maps_lines_close(&lines);
	return code;
}

const struct old_region *old_process_region(const struct old_process *process,
					    uint64_t address)
{
	size_t n = array_count_upto(process->regions, process->count,
				    sizeof(*process->regions), address);

	if (!n || process->regions[n - 1].end <= address)
		return NULL;
	return &process->regions[n - 1];
}

const struct old_region *old_process_heap(const struct old_process *process)
{
	for (size_t i = 0; i < process->count; i++)
		if (process->regions[i].heap)
			return &process->regions[i];
	return NULL;
}

/* libc, or ld.so: older ones define a malloc until libc is there. */
static bool region_is_glibc(const struct old_region *region)
{
	static const char *const begins[] = {
		"libc.so", "libc-2.", "ld-", "ld.so",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strncmp(region->name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static bool file_defines_malloc(int fd)
{
	struct elf_symbols at = { .type = SHT_DYNSYM };
	bool defines = false;

	elf_version(EV_CURRENT);
	at.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	while (at.elf && !defines && elf_symbols_next(&at))
		defines = !strcmp(at.name, "malloc");
	elf_end(at.elf);
	return defines;
}

const struct old_region *old_process_allocator(const struct old_process *process)
{
	for (size_t i = 0; i < process->count; i++) {
		const struct old_region *region = &process->regions[i];
		const struct maps_line mapping = {
			.start = region->start, .end = region->end,
		};
		bool defines;
		int fd;

		if (!region->first || region_is_glibc(region))
			continue;
		fd = maps_line_open(&mapping, process->pid);
		if (fd < 0)
			continue;
		defines = file_defines_malloc(fd);
		close(fd);
		if (defines)
			return region;
	}
	return NULL;
}

bool old_process_has_glibc(const struct old_process *process)
{
	for (size_t i = 0; i < process->count; i++)
		if (!strcmp(process->regions[i].name, "libc.so.6") ||
		    !strncmp(process->regions[i].name, "libc-2.", 7))
			return true;
	return false;
}

/* ---- reading ---- */

/* How many of the bytes are there. */
static size_t process_read_some(const struct old_process *process,
				uint64_t address, void *data, size_t size)
{
	struct iovec here = { data, size };
	struct iovec there = { (void *)(uintptr_t)address, size };
	ssize_t got = process_vm_readv(process->pid, &here, 1, &there, 1, 0);

	return got < 0 ? 0 : got;
}

bool old_process_read(const struct old_process *process, uint64_t address,
		      void *data, size_t size)
{
	return process_read_some(process, address, data, size) == size;
}

uint64_t old_word(const struct old_process *process, const void *data)
{
	uint64_t value = 0;

	memcpy(&value, data, process->word);
	return value;
}

bool old_process_word(const struct old_process *process, uint64_t address,
		      uint64_t *value)
{
	uint8_t data[8];

	if (!old_process_read(process, address, data, process->word))
		return false;
	*value = old_word(process, data);
	return true;
}

/* More when what was read is used up, less when most of it is skipped. */
static void window_move(struct old_process *process, uint64_t address,
			uint64_t advance)
{
	size_t size = process->window_next;

	size = advance <= process->window_size + 64 ? size * 2 : size / 2;
	if (size < OLD_WINDOW_LEAST)
		size = OLD_WINDOW_LEAST;
	if (size > OLD_WINDOW_MOST)
		size = OLD_WINDOW_MOST;
	process->window_next = size;
	process->window_at = address;
	process->window_size = process_read_some(process, address,
						 process->window, size);
}

bool old_process_next_word(struct old_process *process, uint64_t address,
			   uint64_t *value)
{
	uint64_t at = address - process->window_at;

	if (at >= process->window_size ||
	    process->window_size - at < process->word) {
		window_move(process, address, at);
		at = 0;
		if (process->window_size < process->word)
			return false;
	}
	*value = old_word(process, process->window + at);
	return true;
}

#define WAIT_STEP	50000		/* ns */
#define WAIT_STEPS	20000		/* a second in all */
#define MOMENT		50000		/* ns */

/* ---- stopping ---- */

static struct old_thread *stop_find(struct old_stop *stop, pid_t tid)
{
	for (size_t i = 0; i < stop->count; i++)
		if (stop->threads[i].tid == tid)
			return &stop->threads[i];
	return NULL;
}

static int stop_add(struct old_stop *stop, pid_t tid, struct error *err)
{
	int code;

	if (!array_grow(&stop->threads, stop->count, &stop->room,
			sizeof(*stop->threads)))
		return error_no_memory(err);
	if (!ptrace(PTRACE_SEIZE, tid, 0, 0)) {
		ptrace(PTRACE_INTERRUPT, tid, 0, 0);
		stop->threads[stop->count++] = (struct old_thread){
			.tid = tid,
		};
		return 1;
	}
	code = -errno;
	/* one that has ended can't be stopped, and needn't be */
	if (code == -ESRCH || process_thread_ended(stop->pid, tid))
		return 0;
	error_set(err, code, "process %" PRIu32 " can't be stopped: %s",
		  stop->pid, strerror(-code));
	error_hint(err, "another program, such as a debugger, may be attached to it");
	return code;
}

/* How many threads weren't known yet. */
static int stop_look(struct old_stop *stop, struct error *err)
{
	struct dirent *entry;
	int added = 0, code;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", stop->pid);
	dir = opendir(path);
	if (!dir)
		return error_set(err, -ESRCH, "there is no process %" PRIu32,
				 stop->pid);
	while ((entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);

		if (!tid || stop_find(stop, tid))
			continue;
		code = stop_add(stop, tid, err);
		if (code < 0) {
			closedir(dir);
			return code;
		}
		added += code;
	}
	closedir(dir);
	return added;
}

/* true: nothing to wait for any more. Any stop will do: when it is that of a
 * signal, the signal is handed on at the end. */
static bool thread_wait(struct old_thread *thread)
{
	int status;
	pid_t got = waitpid(thread->tid, &status, __WALL | WNOHANG);

	if (!got)
		return false;
	if (got < 0 || !WIFSTOPPED(status)) {
		thread->tid = 0;
		return true;
	}
	thread->stopped = true;
	if (status >> 16 != PTRACE_EVENT_STOP)
		thread->signal = WSTOPSIG(status);
	return true;
}

static int old_stop_wait(struct old_stop *stop, struct error *err)
{
	struct timespec step = { .tv_nsec = WAIT_STEP };
	unsigned int steps = 0;

	for (size_t i = 0; i < stop->count; i++) {
		struct old_thread *thread = &stop->threads[i];

		if (thread->stopped || !thread->tid)
			continue;
		while (!thread_wait(thread)) {
			if (++steps > WAIT_STEPS)
				return error_set(err, -EBUSY, "thread %d of process %" PRIu32 " can't be stopped: it waits for a device, or for a vfork",
						 thread->tid, stop->pid);
			nanosleep(&step, NULL);
		}
	}
	return 0;
}

/* ---- going on ---- */

#ifdef __x86_64__
/*
 * signal(7), "Interruption of system calls and library functions by stop
 * signals", and those with a timeout of the socket: they wait, and have done
 * nothing yet when they say EINTR.
 */
static const int waiting[] = {
	SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_semop,
	SYS_semtimedop, SYS_rt_sigtimedwait, SYS_io_getevents,
	SYS_io_pgetevents, SYS_io_uring_enter, SYS_read, SYS_readv,
	SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_accept, SYS_accept4,
	SYS_write, SYS_writev, SYS_sendto, SYS_sendmsg, SYS_sendmmsg,
	SYS_connect,
};

/* The same by their numbers of i386 (arch/x86/entry/syscalls/syscall_32.tbl), in
 * that order; those of sockets and semaphores are also socketcall and ipc. */
static const int waiting_i386[] = {
	256, 319, 441, 117, 420, 177, 421, 247, 385, 416, 426, 3, 145, 371,
	372, 337, 417, 102, 364, 4, 146, 369, 370, 345, 362,
};

static bool call_waits(const struct user_regs_struct *regs, bool i386)
{
	const int *calls = i386 ? waiting_i386 : waiting;
	size_t count = i386 ? sizeof(waiting_i386) : sizeof(waiting);

	for (size_t i = 0; i < count / sizeof(*calls); i++)
		if (calls[i] == (int)regs->orig_rax)
			return true;
	return false;
}

static bool signals_wait(pid_t tid)
{
	struct __ptrace_peeksiginfo_args of_thread = { .nr = 1 };
	struct __ptrace_peeksiginfo_args of_process = {
		.nr = 1, .flags = PTRACE_PEEKSIGINFO_SHARED,
	};
	siginfo_t info;

	return ptrace(PTRACE_PEEKSIGINFO, tid, &of_thread, &info) ||
	       ptrace(PTRACE_PEEKSIGINFO, tid, &of_process, &info);
}

static void thread_call_again(const struct old_thread *thread)
{
	struct user_regs_struct regs;
	bool i386;

	if (thread->signal || ptrace(PTRACE_GETREGS, thread->tid, 0, &regs))
		return;
	i386 = regs.cs == 0x23;
	if ((regs.cs != 0x33 && !i386) || (int)regs.rax != -EINTR ||
	    !call_waits(&regs, i386) || signals_wait(thread->tid))
		return;
	regs.rax = regs.orig_rax;
	/* syscall: 0f 05; int $0x80: cd 80, which is also in front of where
	 * the vDSO's sysenter returns to */
	regs.rip -= 2;
	ptrace(PTRACE_SETREGS, thread->tid, 0, &regs);
}
#else
/* AArch64: the result is where the first argument was, which is gone. */
static void thread_call_again(const struct old_thread *thread)
{
}
#endif

static void thread_go(struct old_thread *thread, int request)
{
	if (!thread->stopped)
		return;
	thread_call_again(thread);
	ptrace(request, thread->tid, 0, (void *)(intptr_t)thread->signal);
	thread->stopped = false;
	thread->signal = 0;
}

void old_stop_end(struct old_stop *stop)
{
	for (size_t i = 0; i < stop->count; i++)
		thread_go(&stop->threads[i], PTRACE_DETACH);
	free(stop->threads);
	*stop = (struct old_stop){ 0 };
}

/* Until there are no threads that aren't stopped. */
static int stop_all(struct old_stop *stop, struct error *err)
{
	int code;

	do {
		if (old_stop_wait(stop, err))
			return -EBUSY;
		code = stop_look(stop, err);
	} while (code > 0);
	return code;
}

int old_stop_begin(struct old_stop *stop, uint32_t pid, struct error *err)
{
	stop->count = 0;
	stop->pid = pid;
	return stop_all(stop, err);
}

int old_stop_turn(struct old_stop *stop, size_t n, struct error *err)
{
	struct old_thread *thread = &stop->threads[n % stop->count];
	struct timespec moment = { .tv_nsec = MOMENT };

	if (!thread->stopped)
		return 0;
	thread_go(thread, PTRACE_CONT);
	nanosleep(&moment, NULL);
	ptrace(PTRACE_INTERRUPT, thread->tid, 0, 0);
	return stop_all(stop, err);
}
