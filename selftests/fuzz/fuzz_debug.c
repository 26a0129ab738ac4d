// SPDX-License-Identifier: GPL-2.0
/*
 * Well-formed modules (modules/) with a few bytes changed, as trcust reads
 * them: --from-module --args --retep makes a TSF, --explain compiles it, --list
 * lists functions, or the variables of one. libdw may crash on them in trcust's
 * child process, which must give a message. No crash in code of ours, hang, large
 * memory, or failure in silence.
 *
 * An input is a byte that selects the module, and edits of eight bytes.
 */
#include <elf.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/debug/arch/arch.h"
#include "trcust/list.h"
#include "trcust/run.h"

#define MODULES_MAX	32
#define RANGES_MAX	64
#define EDITS_MAX	16
#define OWN_CRASH	98
#define SANITIZER	99
#define MEMORY_KB	(2ul << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:"
	       "handle_sigill=0:detect_leaks=0:exitcode=99:"
	       "allocator_may_return_null=1";
}

struct range {
	size_t start, size;
};

struct module_file {
	uint8_t *bytes;
	size_t size;
	struct range ranges[RANGES_MAX];
	size_t range_count;
};

struct edit {
	uint8_t kind, range;
	uint16_t value;
	uint32_t at;
};

static struct module_file modules[MODULES_MAX];
static size_t module_count;
static char folder[] = "/tmp/fuzz_debug.XXXXXX", path[64], tsf[64];
static int messages, real_stderr;
static FILE *nowhere;
static pid_t owner;

/* In the child only: the parent's SIGSEGV is the driver's. Where it happened is
 * after the frames of this function and of the signal. */
static void on_crash(int number)
{
	void *frames[32];
	int count = backtrace(frames, 32);
	Dl_info here, there;

	if (count > 2 && dladdr((void *)on_crash, &here) &&
	    dladdr(frames[2], &there) && here.dli_fbase == there.dli_fbase) {
		backtrace_symbols_fd(frames, count, STDERR_FILENO);
		_exit(OWN_CRASH);
	}
	signal(number, SIG_DFL);
}

static void child_prepare(void)
{
	static char stack[1 << 16];
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const struct sigaction action = {
		.sa_handler = on_crash, .sa_flags = SA_ONSTACK,
	};
	const struct rlimit no_core = { 0, 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
	signal(SIGABRT, SIG_DFL);
}

static void range_add(struct module_file *m, size_t start, size_t size)
{
	if (size && start < m->size && size <= m->size - start &&
	    m->range_count < RANGES_MAX)
		m->ranges[m->range_count++] = (struct range){ start, size };
}

/* Where edits go: headers, symbols, unwind tables; debug information thrice. */
static void ranges_find64(struct module_file *m)
{
	const Elf64_Ehdr *eh = (void *)m->bytes;
	const Elf64_Shdr *sh = (void *)(m->bytes + eh->e_shoff);
	const char *names = (char *)m->bytes + sh[eh->e_shstrndx].sh_offset;

	for (int i = 0; i < eh->e_shnum; i++) {
		const char *name = names + sh[i].sh_name;
		bool debug = !strncmp(name, ".debug_", 7);

		for (int n = debug ? 3 : 1; n && sh[i].sh_type != SHT_NOBITS; n--)
			range_add(m, sh[i].sh_offset, sh[i].sh_size);
	}
	range_add(m, eh->e_shoff, eh->e_shnum * sizeof(*sh));
	range_add(m, eh->e_phoff, eh->e_phnum * sizeof(Elf64_Phdr));
}

static void ranges_find32(struct module_file *m)
{
	const Elf32_Ehdr *eh = (void *)m->bytes;
	const Elf32_Shdr *sh = (void *)(m->bytes + eh->e_shoff);

	for (int i = 0; i < eh->e_shnum; i++)
		if (sh[i].sh_type != SHT_NOBITS)
			range_add(m, sh[i].sh_offset, sh[i].sh_size);
	range_add(m, eh->e_shoff, eh->e_shnum * sizeof(*sh));
}

static void module_load(const char *name)
{
	struct module_file *m = &modules[module_count];
	FILE *file = fopen(name, "rb");
	struct stat st;

	if (!file || fstat(fileno(file), &st) || !(m->bytes = malloc(st.st_size)))
		abort();
	m->size = fread(m->bytes, 1, st.st_size, file);
	fclose(file);
	if (m->bytes[EI_CLASS] == ELFCLASS64)
		ranges_find64(m);
	else
		ranges_find32(m);
	module_count++;
}

/* Children end with exit(), too, which libFuzzer takes for the target's end. */
static void remove_folder(int status, void *unused)
{
	(void)unused;
	if (getpid() != owner) {
		fflush(NULL);
		_exit(status);
	}
	unlink(path);
	unlink(tsf);
	rmdir(folder);
}

static void prepare(void)
{
	glob_t found;

	if (module_count)
		return;
	if (glob(MODULES "/*.elf", 0, NULL, &found) || !mkdtemp(folder))
		abort();
	for (size_t i = 0; i < found.gl_pathc && module_count < MODULES_MAX; i++)
		module_load(found.gl_pathv[i]);
	globfree(&found);
	snprintf(path, sizeof(path), "%s/module", folder);
	snprintf(tsf, sizeof(tsf), "%s/made.tsf", folder);
	real_stderr = dup(STDERR_FILENO);
	messages = memfd_create("messages", 0);
	owner = getpid();
	backtrace((void *[1]){ NULL }, 1);	/* loads what it needs */
	nowhere = fopen("/dev/null", "w");
	pthread_atfork(NULL, NULL, child_prepare);
	on_exit(remove_folder, NULL);
}

static void edit_apply(uint8_t *bytes, const struct module_file *m,
		       const struct edit *edit)
{
	static const uint64_t odd[] = {
		0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff,
		0x80000000, 0xffffffff, 0xfffffff0, -1ull, 1ull << 63,
		0x8080808080808080, 0x7fffffffffffffff,
	};
	const struct range *range = &m->ranges[edit->range % m->range_count];
	size_t at = edit->at % range->size, left = range->size - at;
	uint64_t value = odd[edit->value % 16];
	size_t width = 1ul << (edit->kind >> 4 & 3);

	if (width > left)
		width = left;
	bytes += range->start + at;
	switch (edit->kind & 7) {
	case 0:
		*bytes ^= 1 << (edit->value & 7);
		break;
	case 1:
		*bytes = edit->value;
		break;
	case 2:
		memcpy(bytes, &value, width);
		break;
	case 3:
		*bytes += (edit->value & 15) - 8;
		break;
	case 4:
		memcpy(bytes, &edit->value, left < 2 ? left : 2);
		break;
	case 5:		/* from elsewhere in the range */
		width = left < 16 ? left : 16;
		at = edit->value % range->size;
		if (width > range->size - at)
			width = range->size - at;
		memmove(bytes, m->bytes + range->start + at, width);
		break;
	case 6:
		memset(bytes, edit->value, left < 8 ? left : 8);
		break;
	case 7:		/* goes on in what follows */
		memset(bytes, 0x80 | edit->value, left < 12 ? left : 12);
		break;
	}
}

static bool module_write(const struct module_file *m, const uint8_t *data,
			 size_t size)
{
	uint8_t *bytes = malloc(m->size);
	struct edit edit;
	FILE *file = fopen(path, "wb");
	size_t written = 0;

	if (bytes && file) {
		memcpy(bytes, m->bytes, m->size);
		for (size_t i = 0; i < EDITS_MAX && size >= sizeof(edit); i++) {
			memcpy(&edit, data, sizeof(edit));
			edit_apply(bytes, m, &edit);
			data += sizeof(edit);
			size -= sizeof(edit);
		}
		written = fwrite(bytes, 1, m->size, file);
	}
	free(bytes);
	return file && !fclose(file) && written == m->size;
}

/* What was printed, for people, and the driver keeps the input. */
static void fail(const char *what, int code)
{
	char text[4096];
	ssize_t length = pread(messages, text, sizeof(text) - 1, 0);

	dup2(real_stderr, STDERR_FILENO);
	text[length > 0 ? length : 0] = '\0';
	fprintf(stderr, "%s, status %d\n%s", what, code, text);
	abort();
}

static void check(int code)
{
	struct rusage used;
	struct stat st;

	if (code == SANITIZER || code == OWN_CRASH || code < 0 || code > 1)
		fail("a crash", code);
	if (code && (fstat(messages, &st) || !st.st_size))
		fail("no message", code);
	if (!getrusage(RUSAGE_CHILDREN, &used) &&
	    (unsigned long)used.ru_maxrss > MEMORY_KB)
		fail("too much memory", code);
	if (ftruncate(messages, 0) || lseek(messages, 0, SEEK_SET))
		fail("no room for messages", code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const lists[] = {
		"functions", "variables:main", "variables:sum,RETEP",
	};
	struct settings s = {
		.mode = RUN_FROM_MODULE, .level = 2, .output = tsf,
		.args = true, .retep = true, .site = MOVE_SAFE,
		.arch = arch_own(),
	};
	FILE *printed = stdout;
	int code;

	prepare();
	if (!size)
		return 0;
	if (!module_write(&modules[*data % module_count], data + 1,
				   size - 1))
		fail("the module can't be written", 0);
	unlink(tsf);
	dup2(messages, STDERR_FILENO);
	code = run_from_module(&s, path);
	check(code);
	s.output = NULL;
	s.explain = true;
	stdout = nowhere;
	if (!code)
		check(run_compile(&s, tsf, NULL));
	s.mode = RUN_LIST;
	s.list = lists[size % 3];
	s.json = size & 2;
	check(run_list(&s, path));
	stdout = printed;
	dup2(real_stderr, STDERR_FILENO);
	return 0;
}
