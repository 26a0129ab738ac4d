// SPDX-License-Identifier: GPL-2.0
/*
 * insns CODE FORMS RESULTS: runs each instruction of the file CODE from random
 * states, whenever there is a byte to read, and answers with one. The states
 * are the same each time. See insns.h.
 *
 * What is run may kill the process, so that it has a child for it. There the
 * bases of FS and GS are the data's: nothing of libc is called any more.
 */
#include "insns.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <asm/ldt.h>
#include <asm/prctl.h>

#define POINTER_LOW	0x400
#define POINTER_SPAN	0x800
#define FLAGS_ALWAYS	0x202		/* IF */
#define FLAGS_RANDOM	0x8d5		/* CF PF AF ZF SF OF */
#define FLAG_DF		0x400
#define LINGER_US	3000000		/* then an instruction doesn't end */

static struct insns_result *results;
static const struct insns_form *forms;
static size_t form_count;
static volatile size_t *progress;	/* the form that the child is at */
static struct {				/* of a signal, else 0 */
	uint64_t number, code, fault, ip;
} taken;

/* For the code below: the state before, and after. */
uint64_t insns_in[INSNS_REGISTERS], insns_out[INSNS_REGISTERS];
uint64_t insns_in_flags, insns_out_flags, insns_host_sp, insns_start;
uint64_t insns_exit, insns_began, insns_ended;
uint32_t insns_mxcsr = 0x1f80;
uint8_t insns_in_sse[512] __attribute__((aligned(64)));
uint8_t insns_out_sse[512] __attribute__((aligned(64)));
void insns_run(void);
extern char insns_next[], insns_jumped[], insns_return[];

#ifdef __x86_64__
#define SAVE(reg, number) "mov %" reg ", insns_out + 8 * " number "\n"
#define LOAD(reg, number) "mov insns_in + 8 * " number ", %" reg "\n"
#define EACH(what) \
	what("rax", "0") what("rcx", "1") what("rdx", "2") what("rbx", "3") \
	what("rbp", "5") what("rsi", "6") what("rdi", "7") what("r8", "8") \
	what("r9", "9") what("r10", "10") what("r11", "11") \
	what("r12", "12") what("r13", "13") what("r14", "14") \
	what("r15", "15") what("rsp", "4")
#define KEEP	"push %rbx\n push %rbp\n push %r12\n push %r13\n" \
		"push %r14\n push %r15\n mov %rsp, insns_host_sp\n"
#define GIVE	"pop %r15\n pop %r14\n pop %r13\n pop %r12\n" \
		"pop %rbp\n pop %rbx\n ret\n"
#define HOST_SP	"mov insns_host_sp, %rsp\n"
#define PUSHF	"pushfq\n"
#define POPF	"popfq\n"
#define PUSH	"pushq "
#define POP	"popq "
#else
#define SAVE(reg, number) "mov %" reg ", insns_out + 8 * " number "\n"
#define LOAD(reg, number) "mov insns_in + 8 * " number ", %" reg "\n"
#define EACH(what) \
	what("eax", "0") what("ecx", "1") what("edx", "2") what("ebx", "3") \
	what("ebp", "5") what("esi", "6") what("edi", "7") what("esp", "4")
#define KEEP	"push %ebx\n push %ebp\n push %esi\n push %edi\n" \
		"mov %esp, insns_host_sp\n"
#define GIVE	"pop %edi\n pop %esi\n pop %ebp\n pop %ebx\n ret\n"
#define HOST_SP	"mov insns_host_sp, %esp\n"
#define PUSHF	"pushfl\n"
#define POPF	"popfl\n"
#define PUSH	"pushl "
#define POP	"popl "
#endif

__asm__(".text\n"
	".globl insns_run\n.type insns_run,@function\n"
	"insns_run:\n"
	KEEP
	"fxrstor insns_in_sse\n"
	"lfence\n rdtsc\n"
	"mov %eax, insns_began\n mov %edx, insns_began + 4\n"
	PUSH "insns_in_flags\n" POPF
	EACH(LOAD)
	"jmp *insns_start\n"
	".globl insns_next, insns_jumped, insns_return\n"
	"insns_next: movl $1, insns_exit\n jmp 1f\n"
	"insns_jumped: movl $2, insns_exit\n"
	"1:\n"
	EACH(SAVE)
	HOST_SP
	PUSHF POP "insns_out_flags\n"
	PUSH "$0x202\n" POPF
	"lfence\n rdtsc\n"
	"mov %eax, insns_ended\n mov %edx, insns_ended + 4\n"
	"fxsave insns_out_sse\n"
	"insns_return:\n"
	"fninit\n ldmxcsr insns_mxcsr\n"
	GIVE);

static uint64_t random_state;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t random_value(void)
{
	uint64_t value = random_next();

	switch (random_next() >> 60) {
	case 0:
		return 0;
	case 1:
		return -1;
	case 2 ... 4:
		return (int8_t)value;
	case 5:
		return 1ull << (value & 63);
	case 6:
		return (1ull << (value & 63)) - 1;
	case 7:
		return (int32_t)value;
	default:
		return value;
	}
}

static uint64_t register_value(const struct insns_form *form, uint8_t kind,
			       uint64_t slot)
{
	uint64_t offset = POINTER_LOW + (random_next() % POINTER_SPAN & ~15ull);

	switch (kind) {
	case INSNS_POINTER:
		return INSNS_DATA + offset;
	case INSNS_OFFSET:
		return offset;
	case INSNS_INDEX:
		return random_next() & 0x78;
	case INSNS_TARGET:
		return slot + INSNS_JUMPED;
	case INSNS_FEW:
		return random_next() >> 63;
	case INSNS_NUMBER:
		return form->number;
	default:
		return random_value();
	}
}

static uint64_t data_word(const struct insns_form *form, uint64_t target,
			  size_t index)
{
	uint16_t segment;

	__asm__("mov %%cs, %0" : "=r"(segment));
	switch (form->fill) {
	case INSNS_FILL_TARGET:
		return sizeof(void *) == 8 ? target : target << 32 | target;
	case INSNS_FILL_NUMBER:
		return form->number;
	case INSNS_FILL_FAR:
		return (uint64_t)segment << 32 | target;
	case INSNS_FILL_FAR_WIDE:
		return index & 1 ? segment : target;
	default:
		return random_next();
	}
}

static void data_fill(const struct insns_form *form, uint64_t slot)
{
	uint64_t *words = (uint64_t *)INSNS_DATA;

	for (size_t i = 0; i < INSNS_DATA_SIZE / 8; i++)
		words[i] = data_word(form, slot + INSNS_JUMPED, i);
}

/* Control words as processes have them; the rest is random. */
static void sse_fill(void)
{
	uint64_t *words = (uint64_t *)insns_in_sse;

	for (size_t i = 0; i < sizeof(insns_in_sse) / 8; i++)
		words[i] = random_next();
	words[0] = 0xffull << 32 | 0x37f;
	words[1] = words[2] = 0;
	words[3] = 0xffff00001f80;
}

static uint64_t hash_add(uint64_t hash, const void *bytes, size_t size)
{
	const uint64_t *words = bytes;

	for (size_t i = 0; i < size / 8; i++) {
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return hash;
}

#ifdef __x86_64__
static const uint8_t context_order[] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};
enum { CONTEXT_IP = REG_RIP, CONTEXT_SP = REG_RSP, CONTEXT_SSE = 0 };
#else
static const uint8_t context_order[] = {
	REG_EAX, REG_ECX, REG_EDX, REG_EBX, REG_ESP, REG_EBP, REG_ESI, REG_EDI,
};
enum { CONTEXT_IP = REG_EIP, CONTEXT_SP = REG_ESP, CONTEXT_SSE = 112 };
#endif

static void signal_take(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;
	greg_t *registers = at->uc_mcontext.gregs;
	const volatile uint64_t *sse =
		(void *)((char *)at->uc_mcontext.fpregs + CONTEXT_SSE);

	for (size_t i = 0; i < sizeof(context_order); i++)
		insns_out[i] = (uintptr_t)registers[context_order[i]];
	for (size_t i = 0; i < sizeof(insns_out_sse) / 8; i++)
		((volatile uint64_t *)insns_out_sse)[i] = sse[i];
	insns_out_flags = (uintptr_t)registers[REG_EFL];
	insns_exit = INSNS_SIGNAL;
	taken.number = number;
	taken.code = (uint8_t)info->si_code;
	taken.fault = (uintptr_t)info->si_addr;
	taken.ip = (uintptr_t)registers[CONTEXT_IP];
	registers[CONTEXT_IP] = (uintptr_t)insns_return;
	registers[CONTEXT_SP] = insns_host_sp;
	registers[REG_EFL] = FLAGS_ALWAYS;
}

/* All of it but where the last x87 instruction was: that is in the kernel's
 * page when it was stepped. */
static uint64_t sse_hash(void)
{
	const uint64_t *words = (const uint64_t *)insns_out_sse;
	uint64_t control = words[0] & 0xffffffffffff;
	size_t end = 160 + 16 * sizeof(context_order);

	return hash_add(hash_add(0, &control, 8), words + 3, end - 24);
}

/* But what is in [from, to), as far as that is words. */
static uint64_t data_hash(uint64_t from, uint64_t to)
{
	uint64_t first = (from - INSNS_DATA + 7) & ~7ull;
	uint64_t last = (to - INSNS_DATA) & ~7ull, hash;

	if (first > last || last > INSNS_DATA_SIZE)
		first = last = 0;
	hash = hash_add(0, (char *)INSNS_DATA, first);
	return hash_add(hash, (char *)INSNS_DATA + last,
			INSNS_DATA_SIZE - last);
}

static void state_run(const struct insns_form *form, uint64_t slot,
		      struct insns_result *result)
{
	for (size_t i = 0; i < INSNS_REGISTERS; i++)
		insns_in[i] = register_value(form, form->kinds[i], slot);
	insns_in_flags = FLAGS_ALWAYS | (random_next() & FLAGS_RANDOM) |
			 (random_next() >> 61 ? 0 : FLAG_DF);
	data_fill(form, slot);
	sse_fill();
	insns_start = slot;
	taken.number = taken.code = taken.fault = taken.ip = 0;
	insns_run();
	result->signal = taken.number;
	result->code = taken.code;
	result->fault = taken.fault;
	result->ip = taken.ip;
	for (size_t i = 0; i < sizeof(context_order); i++)
		result->registers[i] = insns_out[i];
	result->flags = insns_out_flags;
	result->sse = sse_hash();
	result->data = data_hash(INSNS_DATA, INSNS_DATA);
	result->data_kept = data_hash(insns_out[INSNS_SP] - INSNS_RED_ZONE,
				      insns_out[INSNS_SP]);
	result->cycles = taken.number ? 0 : insns_ended - insns_began;
	result->exit = insns_exit;
}

static void form_run(size_t index)
{
	random_state = 0x2545f4914f6cdd1dull + index;
	for (int i = 0; i < 20; i++)
		random_next();
	for (size_t i = 0; i < INSNS_STATES; i++)
		state_run(&forms[index], INSNS_CODE + index * INSNS_SLOT,
			  &results[index * INSNS_STATES + i]);
}

static void map_at(uintptr_t address, size_t size, int protection, int flags,
		   int fd)
{
	if (mmap((void *)address, size, protection, flags | MAP_FIXED, fd, 0) !=
	    (void *)address) {
		perror("mmap");
		_exit(2);
	}
}

static void exit_put(uintptr_t at, const void *to)
{
	uint32_t distance = (uintptr_t)to - (at + 5);

	*(uint8_t *)at = 0xe9;
	__builtin_memcpy((void *)(at + 1), &distance, 4);
}

/* FS and GS: from here on this is no program that libc knows. */
#ifdef __x86_64__
static void segments_set(void)
{
	syscall(SYS_arch_prctl, ARCH_SET_GS, (long)INSNS_DATA);
	syscall(SYS_arch_prctl, ARCH_SET_FS, (long)INSNS_DATA);
}

static void child_end(void)
{
	__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(0));
}
#else
static void segments_set(void)
{
	struct user_desc segment = {
		.entry_number = -1, .base_addr = INSNS_DATA, .limit = 0xfffff,
		.seg_32bit = 1, .limit_in_pages = 1,
	};
	unsigned int selector;

	if (syscall(SYS_set_thread_area, &segment)) {
		perror("set_thread_area");
		_exit(2);
	}
	selector = segment.entry_number << 3 | 3;
	__asm__ volatile("mov %0, %%fs\n mov %0, %%gs" : : "r"(selector));
}

static void child_end(void)
{
	__asm__ volatile("int $0x80" : : "a"(SYS_exit_group), "b"(0));
}
#endif

static void child_run(void)
{
	static const int caught[] = {
		SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP,
	};
	static char stack[65536];
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = {
		.sa_sigaction = signal_take,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};

	sigaltstack(&other, NULL);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaction(caught[i], &action, NULL);
	segments_set();
	for (; *progress < form_count; ++*progress)
		form_run(*progress);
	child_end();
}

/* 0, or the signal that it died by. */
static int child_wait(pid_t child)
{
	size_t seen = -1;
	int status, waited = 0;

	while (!waitpid(child, &status, WNOHANG)) {
		usleep(200);
		waited = seen == *progress ? waited + 200 : 0;
		seen = *progress;
		if (waited >= LINGER_US)
			kill(child, SIGKILL);
	}
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void all_run(void)
{
	for (*progress = 0; *progress < form_count;) {
		pid_t child = fork();
		int signal;

		if (child < 0) {
			perror("fork");
			exit(2);
		}
		if (!child)
			child_run();
		signal = child_wait(child);
		if (*progress >= form_count)
			break;
		for (int i = 0; i < INSNS_STATES; i++)
			results[*progress * INSNS_STATES + i] =
				(struct insns_result) {
					.exit = INSNS_DIED, .signal = signal,
				};
		++*progress;
	}
}

static int file_open(const char *path, size_t *size)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		perror(path);
		exit(2);
	}
	*size = st.st_size;
	return fd;
}

int main(int argc, char **argv)
{
	size_t code_size, size;
	int fd;
	char byte;

	if (argc != 4)
		return 2;
	fd = file_open(argv[1], &code_size);
	map_at(INSNS_CODE, code_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd);
	fd = file_open(argv[2], &size);
	form_count = size / sizeof(*forms);
	forms = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	fd = file_open(argv[3], &size);
	results = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (forms == MAP_FAILED || results == MAP_FAILED ||
	    progress == MAP_FAILED)
		return 2;
	map_at(INSNS_DATA, INSNS_DATA_SIZE, PROT_READ | PROT_WRITE,
	       MAP_PRIVATE | MAP_ANONYMOUS, -1);
	map_at(INSNS_EXITS, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	       MAP_PRIVATE | MAP_ANONYMOUS, -1);
	exit_put(INSNS_EXITS, insns_next);
	exit_put(INSNS_EXITS + 5, insns_jumped);
	while (read(0, &byte, 1) == 1) {
		all_run();
		if (write(1, &byte, 1) != 1)
			return 2;
	}
	return 0;
}
