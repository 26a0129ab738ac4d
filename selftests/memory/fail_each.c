// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded: runs the program's main() once as it is, then again and again,
 * each time with another allocation that fails: that one only, and it with all
 * after it. Allocations are those that the program's own code asks for, not
 * the ones of libraries. What has to hold each time: the program ends by itself,
 * either with status 0 and the same output and files as without a failure, or
 * with status 1, a message on stderr and no file. Prints what doesn't, and what
 * was done; exits 1 when something doesn't hold.
 *
 *	FAIL_FOLDER	where the program writes; emptied each time
 *	FAIL_BEFORE	a shell command in front of each run
 *	FAIL_AFTER	and after it, which has to succeed
 *	FAIL_KEEPS	where it fails it may leave files
 *	FAIL_FILTER	through which its output is compared: a shell command;
 *			of files only the names are, then
 *	FAIL_LIMIT	so many allocations at most, spread evenly: without it
 *			one of each stack of callers; "all" are all
 *	FAIL_NTH	N or N+ (and all after it): only that one, without the
 *			rest, for a debugger
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <ftw.h>
#include <link.h>
#include <pthread.h>
#include <search.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAMES	24
#define STACKS	(1 << 16)
#define SECONDS	20	/* longer is a hang */
#define OUTPUT	(16 << 20)

/* What a run reports to the process that started it */
struct shared {
	atomic_uint count;		/* allocations */
	atomic_flag busy;
	uint32_t stacks;
	uint32_t first[STACKS / 2];	/* allocation of each new stack */
	uint64_t seen[STACKS];		/* hashes of stacks */
	void *frames[FRAMES];		/* of the one that failed */
	int frame_count;
};

struct outcome {
	int status;			/* of wait() */
	uint64_t out, files;		/* hashes */
	char err[4096];
};

static struct shared *shared;
static uintptr_t program, program_end;
static unsigned int nth;
static bool counting, lasting, armed;
static int out_fd, err_fd;
static uint64_t files_hash;

#define REAL(name) ({							\
	static __typeof__(&name) real;					\
	if (!real)							\
		real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);	\
	real;								\
})

static uint64_t hash_add(uint64_t hash, const void *bytes, size_t size)
{
	const uint8_t *byte = bytes;

	while (size--)
		hash = (hash ^ *byte++) * 0x100000001b3;
	return hash;
}

static bool ours(const void *address)
{
	return (uintptr_t)address - program < program_end - program;
}

static void stack_count(unsigned int number)
{
	void *frames[FRAMES];
	int count = backtrace(frames, FRAMES);
	uint64_t hash = 0xcbf29ce484222325;
	uint32_t slot;

	for (int i = 0; i < count; i++)
		if (ours(frames[i]))
			hash = hash_add(hash, &frames[i], sizeof(frames[i]));
	while (atomic_flag_test_and_set(&shared->busy))
		;
	for (slot = hash % STACKS; shared->seen[slot]; slot = (slot + 1) % STACKS)
		if (shared->seen[slot] == hash)
			goto out;
	if (shared->stacks < STACKS / 2) {
		shared->seen[slot] = hash;
		shared->first[shared->stacks++] = number;
	}
out:
	atomic_flag_clear(&shared->busy);
}

/* Is this allocation to fail? */
static bool fails(const void *caller)
{
	unsigned int number;

	if (!armed || !ours(caller))
		return false;
	number = ++shared->count;
	if (counting)
		stack_count(number);
	if (number == nth)
		shared->frame_count = backtrace(shared->frames, FRAMES);
	if (!nth || number < nth || (number > nth && !lasting))
		return false;
	errno = ENOMEM;
	return true;
}

#define FAILS	fails(__builtin_return_address(0))

void *malloc(size_t size)
{
	return FAILS ? NULL : REAL(malloc)(size);
}

void *calloc(size_t count, size_t size)
{
	return FAILS ? NULL : REAL(calloc)(count, size);
}

void *realloc(void *block, size_t size)
{
	return FAILS ? NULL : REAL(realloc)(block, size);
}

void *reallocarray(void *block, size_t count, size_t size)
{
	return FAILS ? NULL : REAL(reallocarray)(block, count, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return FAILS ? NULL : REAL(aligned_alloc)(alignment, size);
}

char *strdup(const char *text)
{
	return FAILS ? NULL : REAL(strdup)(text);
}

char *strndup(const char *text, size_t length)
{
	return FAILS ? NULL : REAL(strndup)(text, length);
}

int vasprintf(char **text, const char *format, va_list args)
{
	return FAILS ? -1 : REAL(vasprintf)(text, format, args);
}

int asprintf(char **text, const char *format, ...)
{
	va_list args;
	int ret;

	if (FAILS)
		return -1;
	va_start(args, format);
	ret = REAL(vasprintf)(text, format, args);
	va_end(args);
	return ret;
}

char *realpath(const char *path, char *resolved)
{
	return !resolved && FAILS ? NULL : REAL(realpath)(path, resolved);
}

ssize_t getline(char **line, size_t *size, FILE *file)
{
	return FAILS ? -1 : REAL(getline)(line, size, file);
}

FILE *fopen(const char *path, const char *mode)
{
	return FAILS ? NULL : REAL(fopen)(path, mode);
}

FILE *fdopen(int fd, const char *mode)
{
	return FAILS ? NULL : REAL(fdopen)(fd, mode);
}

FILE *open_memstream(char **text, size_t *size)
{
	return FAILS ? NULL : REAL(open_memstream)(text, size);
}

DIR *opendir(const char *path)
{
	return FAILS ? NULL : REAL(opendir)(path);
}

DIR *fdopendir(int fd)
{
	return FAILS ? NULL : REAL(fdopendir)(fd);
}

/* What is there takes no memory. */
void *tsearch(const void *key, void **root,
	      int (*compare)(const void *, const void *))
{
	if (!tfind(key, root, compare) && FAILS)
		return NULL;
	return REAL(tsearch)(key, root, compare);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd,
	   off_t offset)
{
	return FAILS ? MAP_FAILED :
		REAL(mmap)(address, size, protection, flags, fd, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   void *(*run)(void *), void *argument)
{
	return FAILS ? EAGAIN :
		REAL(pthread_create)(thread, attributes, run, argument);
}

/* What is chosen by chance is the same in each run. */
ssize_t getrandom(void *bytes, size_t size, unsigned int flags)
{
	memset(bytes, 42, size);
	return size;
}

static int segment_note(struct dl_phdr_info *info, size_t size, void *data)
{
	program = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t end = program + segment->p_vaddr + segment->p_memsz;

		if (segment->p_type == PT_LOAD && end > program_end)
			program_end = end;
	}
	return 1;	/* the first one is the program */
}

/* In the folder that is emptied, and in what is hashed, top is the folder. */
static int file_remove(const char *path, const struct stat *st, int type,
		       struct FTW *ftw)
{
	return ftw->level ? remove(path) : 0;
}

static int file_hash(const char *path, const struct stat *st, int type,
		     struct FTW *ftw)
{
	uint64_t hash = hash_add(0xcbf29ce484222325, path, strlen(path));
	char bytes[65536];
	ssize_t length;
	int fd;

	if (!ftw->level)
		return 0;
	fd = type == FTW_F && !getenv("FAIL_FILTER") ? open(path, O_RDONLY) : -1;
	while (fd >= 0 && (length = read(fd, bytes, sizeof(bytes))) > 0)
		hash = hash_add(hash, bytes, length);
	if (fd >= 0)
		close(fd);
	files_hash += hash;	/* in whatever order */
	return 0;
}

/* As the filter gives it again */
static uint64_t output_hash(int fd)
{
	const char *filter = getenv("FAIL_FILTER");
	uint64_t hash = 0xcbf29ce484222325;
	char command[512], bytes[4096];
	size_t length;
	FILE *file;

	snprintf(command, sizeof(command), "%s </proc/%d/fd/%d",
		 filter, getpid(), fd);
	file = filter ? popen(command, "r") : fdopen(dup(fd), "r");
	if (!filter)
		rewind(file);
	while ((length = fread(bytes, 1, sizeof(bytes), file)))
		hash = hash_add(hash, bytes, length);
	if (filter)
		pclose(file);
	else
		fclose(file);
	return hash;
}

/* The shell command in this variable, if there is one */
static bool hook(const char *name)
{
	const char *command = getenv(name);

	return !command || system(command) == 0;
}

static void run(int (*main_function)(int, char **, char **), int argc,
		char **argv, char **envp)
{
	dup2(out_fd, STDOUT_FILENO);
	dup2(err_fd, STDERR_FILENO);
	alarm(SECONDS);
	armed = true;
	exit(main_function(argc, argv, envp));
}

static void attempt(int (*main_function)(int, char **, char **), int argc,
		    char **argv, char **envp, struct outcome *outcome)
{
	const char *folder = getenv("FAIL_FOLDER");
	ssize_t length;
	pid_t pid;

	if (folder)
		nftw(folder, file_remove, 16, FTW_DEPTH | FTW_PHYS);
	hook("FAIL_BEFORE");
	shared->count = 0;
	shared->frame_count = 0;
	for (int fd = out_fd; fd; fd = fd == out_fd ? err_fd : 0)
		if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET))
			abort();
	fflush(stdout);
	pid = fork();
	if (!pid)
		run(main_function, argc, argv, envp);
	while (waitpid(pid, &outcome->status, 0) < 0 && errno == EINTR)
		;
	outcome->out = output_hash(out_fd);
	files_hash = 0;
	if (folder)
		nftw(folder, file_hash, 16, FTW_PHYS);
	outcome->files = files_hash;
	length = pread(err_fd, outcome->err, sizeof(outcome->err) - 1, 0);
	outcome->err[length > 0 ? length : 0] = '\0';
}

/* What is wrong with it, or NULL */
static const char *judge(const struct outcome *is, const struct outcome *whole)
{
	if (WIFSIGNALED(is->status))
		return WTERMSIG(is->status) == SIGALRM ? "it hangs" :
			strsignal(WTERMSIG(is->status));
	if (is->status == whole->status && is->out == whole->out &&
	    is->files == whole->files)
		return NULL;
	if (!is->status)
		return is->out == whole->out ? "other files" : "other output";
	if (!is->err[0])
		return "there is no message";
	if (!strstr(is->err, "memory"))
		return "memory isn't named";
	return is->files && !getenv("FAIL_KEEPS") ? "a file is left" : NULL;
}

static void complain(const char *what, const struct outcome *outcome)
{
	printf("allocation %u%s: %s (status %#x)\n  at", nth,
	       lasting ? "+" : "", what, outcome->status);
	for (int i = 0; i < shared->frame_count; i++)
		if (ours(shared->frames[i]))
			printf(" %#lx", (uintptr_t)shared->frames[i] - 1 -
			       program);
	printf("\n%s", outcome->err);
	if (outcome->err[0] && outcome->err[strlen(outcome->err) - 1] != '\n')
		printf("\n");
}

/* The allocation that is to fail as the i-th of `limit`, of all at 0 */
static unsigned int chosen(unsigned int i, unsigned int limit, bool all,
			   unsigned int count)
{
	unsigned int from = all ? count : shared->stacks;

	if (limit && limit < from)
		i = (uint64_t)i * from / limit;
	if (i >= from)
		return 0;
	return all ? i + 1 : shared->first[i];
}

static int (*program_main)(int, char **, char **);

static int each_main(int argc, char **argv, char **envp)
{
	const char *text = getenv("FAIL_LIMIT"), *one = getenv("FAIL_NTH");
	unsigned int limit = text ? strtoul(text, NULL, 0) : 0;
	unsigned int count, tried = 0, reported = 0, wrong = 0;
	bool all = text && !strcmp(text, "all");
	struct outcome whole, now;
	const char *what;

	unsetenv("LD_PRELOAD");
	dl_iterate_phdr(segment_note, NULL);
	backtrace((void *[1]){ NULL }, 1);
	shared = REAL(mmap)(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (one) {
		nth = strtoul(one, NULL, 0);
		lasting = strchr(one, '+');
		armed = true;
		return program_main(argc, argv, envp);
	}
	out_fd = memfd_create("out", 0);
	err_fd = memfd_create("err", 0);
	counting = true;
	attempt(program_main, argc, argv, envp, &whole);
	counting = false;
	if (!WIFEXITED(whole.status) || !hook("FAIL_AFTER"))
		wrong++, complain("without a failure", &whole);
	count = shared->count;
	for (unsigned int i = 0; chosen(i, limit, all, count); i++) {
		if (limit && i >= limit)
			break;
		nth = chosen(i, limit, all, count);
		for (int mode = 0; mode < 2; mode++) {
			lasting = mode;
			attempt(program_main, argc, argv, envp, &now);
			tried++;
			reported += now.status != 0;
			what = judge(&now, &whole);
			setenv("FAIL_STATUS", now.status ? "1" : "0", 1);
			if (!hook("FAIL_AFTER") && !what)
				what = "what comes after it fails";
			if (what)
				wrong++, complain(what, &now);
		}
	}
	printf("%u allocations by %u stacks: %u failures, %u reported, %u wrong\n",
	       count, shared->stacks, tried, reported, wrong);
	return wrong || !tried;
}

int __libc_start_main(int (*main_function)(int, char **, char **), int argc,
		      char **argv, void (*init)(void), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(int (*main_function)(int, char **, char **), int argc,
		      char **argv, void (*init)(void), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack_end)
{
	program_main = main_function;
	return REAL(__libc_start_main)(each_main, argc, argv, init, fini,
				       rtld_fini, stack_end);
}
