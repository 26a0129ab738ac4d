// SPDX-License-Identifier: GPL-2.0
/*
 * block_steps STEPS PROGRAM [ARGUMENT...]: run the program instruction by
 * instruction, from main() on if it has that symbol, and hold the way it takes
 * against the blocks of its code: what comes to an instruction that isn't a
 * block's first comes from the one before, what leaves one that isn't the
 * last goes to the next. A line per difference, and "steps N blocks N jumps N
 * suspect N": instructions that ran in blocks of more than one; blocks; computed
 * jumps in a function; instructions of which a way that isn't seen may lead to.
 *
 * block_steps blocks MODULE: "NAME+OFFSET NUMBER: WHY; WHY" of each block.
 *
 * block_steps trace PROGRAM: the same as the first one of a way that is on
 * standard input, an address in hexadecimal per line, of a program that is
 * loaded where it's linked to.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <elfutils/libdw.h>
#include "lib/debug/module/labels.h"
#include "lib/debug/module/module_symbols.h"
#include "lib/debug/module/flow.h"
#include "lib/debug/module/module_open.h"
#include "lib/debug/module/calls.h"

#define DIFFERENCES_MAX	10

struct function {
	struct module_range range;
	struct flow flow;
	struct labels *labels;
	struct spot {		/* per byte */
		bool known;	/* looked at */
		bool alone;	/* no block was found */
		uint64_t first, next;	/* of the block; 0: none */
	} *spots;
};

static struct module *module;
static struct symbol_index symbols;
static struct flow_source source;
static struct targets targets;	/* of jumps from other functions */
static struct landings landings;
static struct function **functions;	/* by number of the range */
static uint64_t bias;
static unsigned long steps, blocks, jumps, suspect, differences;

static void mark_targets(struct flow *flow)
{
	for (size_t i = 0; i < targets.count; i++) {
		struct flow_part *part = flow_part_find(flow,
							targets.addresses[i]);

		if (part)
			part->marks[targets.addresses[i] - part->start] |=
				FLOW_TARGET;
	}
}

static struct function *function_get(uint64_t address)
{
	const struct module_range *range =
		module_function_find(module, address);
	struct function **function;

	if (!range)
		return NULL;
	function = &functions[range - module->functions];
	if (*function)
		return *function;
	*function = calloc(1, sizeof(**function));
	(*function)->range = *range;
	(*function)->spots = calloc(range->end - range->start,
				    sizeof(*(*function)->spots));
	if (flow_decode(&(*function)->flow, &source, range->start, range, 1))
		exit(2);
	mark_targets(&(*function)->flow);
	landings_mark(&landings, &(*function)->flow);
	if (!((*function)->labels = labels_find(&(*function)->flow)))
		exit(2);
	return *function;
}

static struct spot *spot_get(struct function *function, uint64_t address)
{
	struct spot *spot = &function->spots[address - function->range.start];
	struct block block;
	int code;

	if (spot->known)
		return spot;
	spot->known = true;
	suspect += labels_may_be(function->labels, address);
	code = block_find(&function->flow, function->labels,
			  function->range.start, address, &block);
	if (code) {
		spot->alone = true;
		return spot;
	}
	blocks += !block.at;
	spot->first = block.insns[0].address;
	if (block.at + 1 < block.count)
		spot->next = block.insns[block.at + 1].address;
	block_free(&block);
	return spot;
}

static void differ(uint64_t from, uint64_t to, const char *what)
{
	if (differences++ < DIFFERENCES_MAX)
		printf("%#" PRIx64 " to %#" PRIx64 ": %s\n", from, to, what);
}

/* from: where it was before; 0: elsewhere. */
static void step(uint64_t from, uint64_t to)
{
	struct function *function = from ? function_get(from) : NULL;
	struct spot *before = function ? spot_get(function, from) : NULL;
	const struct flow_part *part;
	struct spot *now;

	if (before && before->next) {
		steps++;
		if (to != before->next)
			differ(from, to, "it left the block");
	}
	part = function ? flow_part_find(&function->flow, from) : NULL;
	if (part && part->marks[from - part->start] & FLOW_SWITCH)
		jumps++;
	function = function_get(to);
	if (!function)
		return;
	now = spot_get(function, to);
	if (!now->alone && now->first != to &&
	    (!before || before->next != to))
		differ(from, to, "it came into the block");
}

static uint64_t ip_of(pid_t pid)
{
	return ptrace(PTRACE_PEEKUSER, pid,
		      offsetof(struct user_regs_struct, rip), 0);
}

static uint64_t entry_of(pid_t pid)
{
	size_t word = module->elf_class == ELFCLASS64 ? 8 : 4;
	uint64_t type = 0, value = 0;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	fd = open(path, O_RDONLY);
	while (type != AT_ENTRY && read(fd, &type, word) == (ssize_t)word &&
	       read(fd, &value, word) == (ssize_t)word)
		;
	close(fd);
	return value;
}

static void load(const char *path)
{
	struct error err;

	if (module_open(&module, path, path, 1, &err)) {
		fprintf(stderr, "block_steps: %s\n", err.text);
		exit(1);
	}
	if (symbol_index_make(&symbols, module) ||
	    targets_find(&targets, module) ||
	    landings_find(&landings, module))
		exit(2);
	source = (struct flow_source) {
		.module = module, .symbols = &symbols,
		.cfi = dwarf_getcfi_elf(module->elf),
		.landing_pads = module_has_section(module,
						   ".gcc_except_table"),
	};
	functions = calloc(module->function_count, sizeof(*functions));
}

static pid_t start(char **argv)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	personality(ADDR_NO_RANDOMIZE);
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	dup2(open("/dev/null", O_WRONLY), 1);
	execv(argv[0], argv);
	_exit(127);
}

static uint64_t main_find(void)
{
	for (size_t i = 0; i < module->symbol_count; i++)
		if (module->symbols[i].name_length == 4 &&
		    !memcmp(module->symbols[i].name, "main", 4))
			return module->symbols[i].address;
	return 0;
}

/* What comes before main() is the same in all programs. */
static void run_to_main(pid_t pid)
{
	uint64_t to = main_find() + bias;
	long code;
	int status;

	if (to == bias)
		return;
	code = ptrace(PTRACE_PEEKTEXT, pid, to, 0);
	ptrace(PTRACE_POKETEXT, pid, to, (code & ~0xffL) | 0xcc);
	ptrace(PTRACE_CONT, pid, 0, 0);
	waitpid(pid, &status, 0);
	ptrace(PTRACE_POKETEXT, pid, to, code);
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rip),
	       to);
}

static bool is_code(uint64_t address)
{
	size_t available;

	return module_code(module, address, &available, NULL);
}

static void run(pid_t pid, unsigned long most)
{
	uint64_t from = ip_of(pid) - bias;
	int status, signal = 0;

	for (unsigned long i = 0; i < most; i++) {
		uint64_t to;

		if (ptrace(PTRACE_SINGLESTEP, pid, 0, signal) ||
		    waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			return;
		signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		to = ip_of(pid) - bias;
		if (!is_code(to))
			to = 0;
		/* an instruction that repeats itself stops each time */
		if (to == from)
			continue;
		if (signal)
			from = 0;
		if (to)
			step(from, to);
		from = signal ? 0 : to;
	}
	kill(pid, SIGKILL);
}

static void print_blocks(struct function *function, const char *name)
{
	uint64_t address = function->range.start;

	while (address < function->range.end) {
		struct block block;
		const struct block_insn *last;

		if (block_find(&function->flow, function->labels,
			       function->range.start, address, &block))
			return;
		printf("%s+%#" PRIx64 " %zu: %s; %s\n", name,
		       address - function->range.start, block.count,
		       block.before, block.after);
		last = &block.insns[block.count - 1];
		address = last->address + last->insn.length;
		block_free(&block);
	}
}

static int print_functions(void)
{
	for (size_t i = 0; i < symbols.count; i++) {
		const struct module_symbol *symbol = symbols.symbols[i];
		struct function *function = function_get(symbol->address);

		if (function && symbol->address == function->range.start)
			print_blocks(function, symbol->name);
	}
	return 0;
}

static int print_counts(void)
{
	printf("steps %lu blocks %lu jumps %lu suspect %lu\n", steps, blocks,
	       jumps, suspect);
	return differences != 0;
}

/* From main() on */
static int read_trace(void)
{
	uint64_t begin = main_find(), from = 0;
	bool begun = false;
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		uint64_t to = strtoull(line, NULL, 16);

		begun |= !begin || to == begin;
		to = begun && is_code(to) ? to : 0;
		if (to)
			step(from, to);
		from = to;
	}
	return print_counts();
}

int main(int argc, char **argv)
{
	GElf_Ehdr eh;
	int status;
	pid_t pid;

	if (argc < 3)
		return 1;
	load(argv[2]);
	if (!strcmp(argv[1], "blocks"))
		return print_functions();
	if (!strcmp(argv[1], "trace"))
		return read_trace();
	pid = start(argv + 2);
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    !gelf_getehdr(module->elf, &eh)) {
		fprintf(stderr, "block_steps: cannot start %s\n", argv[2]);
		return 1;
	}
	bias = entry_of(pid) - eh.e_entry;
	run_to_main(pid);
	run(pid, strtoul(argv[1], NULL, 10));
	waitpid(pid, &status, WNOHANG);
	return print_counts();
}
