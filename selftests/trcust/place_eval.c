// SPDX-License-Identifier: GPL-2.0
/*
 * place_eval MODULE [DEBUG_FILE]: what places of variables come to in a
 * stopped process. Commands on stdin, an answer on a line for each:
 *
 *	stop PC PID BIAS FSBASE REGISTER...	numbers in hex; the registers in
 *						the order of their DWARF numbers,
 *						then the flags; answers "ok". Of
 *						AArch64 FSBASE is TPIDR_EL0
 *	class		"32", "64" or "a64"
 *	rows		addresses where statements begin
 *	entries		addresses of functions
 *	names		those in scope at PC
 *	where NAME	"is WHERE", or as below
 *	get NAME OFFSET SIZE	"value HEX" (bytes in memory order), "fault HEX",
 *			"absent REASON; HINT", "none" (no such variable), or
 *			"damaged TEXT"
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "place_read.h"
#include "lib/debug/dwarf/dwarf.h"

#define BYTES_MAX	4096

static struct dwarf_file *dwarf;
static struct interpreter in;
static struct pt_regs regs;
static uint64_t regs_a64[34];
static uint64_t vectors[32];	/* halves of XMM0 to XMM15 */
static uint64_t pc;

static void read_stop(char *text)
{
	unsigned long *const regs64[] = {
		&regs.rax, &regs.rdx, &regs.rcx, &regs.rbx, &regs.rsi,
		&regs.rdi, &regs.rbp, &regs.rsp, &regs.r8, &regs.r9, &regs.r10,
		&regs.r11, &regs.r12, &regs.r13, &regs.r14, &regs.r15,
		&regs.rip, &regs.eflags,
	};
	unsigned long *const regs32[] = {
		&regs.rax, &regs.rcx, &regs.rdx, &regs.rbx, &regs.rsp,
		&regs.rbp, &regs.rsi, &regs.rdi, &regs.rip, &regs.eflags,
	};
	size_t count = in.x ? 34 : in.is32 ? 10 : 18;

	pc = strtoull(text, &text, 16);
	in.pid = strtoull(text, &text, 16);
	in.bias = strtoull(text, &text, 16);
	in.thread_base[0] = strtoull(text, &text, 16);
	for (size_t i = 0; i < count; i++) {
		uint64_t value = strtoull(text, &text, 16);

		if (in.x)
			regs_a64[i] = value;
		else
			*(in.is32 ? regs32 : regs64)[i] = value;
	}
	for (size_t i = 0; i < 32 && !in.x && !in.is32; i++)
		vectors[i] = strtoull(text, &text, 16);
	in.vectors = vectors;
	in.regs = &regs;
	puts("ok");
}

static int print_name(void *context, const char *name,
		      const struct dwarf_variable *variable)
{
	printf(" %s", name);
	return 0;
}

static void print_part(const struct place *place, uint64_t offset,
		       uint64_t size)
{
	uint8_t bytes[BYTES_MAX];
	char text[256];

	if (!place_read(&in, place, offset, size, bytes, text, sizeof(text))) {
		puts(text);
		return;
	}
	printf("value ");
	for (size_t i = 0; i < size; i++)
		printf("%02x", bytes[i]);
	putchar('\n');
}

/* NAME [OFFSET SIZE] */
static void read_variable(char *text, bool where)
{
	struct dwarf_variable variable[2];
	uint64_t offset = 0, size = 0;
	struct error err = {0};
	struct place place;
	char name[512];
	int code;

	if (sscanf(text, "%511s %" SCNu64 " %" SCNu64, name, &offset,
		   &size) < 1 || size > BYTES_MAX) {
		puts("damaged command");
		return;
	}
	code = dwarf_variable_find(dwarf, &(struct dwarf_from){ pc }, name,
				   variable);
	if (code || variable->of_this) {
		puts("none");
		return;
	}
	code = dwarf_variable_place(dwarf, variable, pc, &place, &err);
	if (code == -ENODATA)
		printf("absent %s\n", err.text);
	else if (code)
		printf("damaged: %d %s\n", code, err.text);
	else if (where)
		printf("is %s\n", place.where);
	else
		print_part(&place, offset, size);
	place_free(&place);
}

static void print_rows(Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t count;

	if (dwarf_getsrclines(unit, &lines, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		bool begins, ends;
		Dwarf_Addr at;

		if (!dwarf_linebeginstatement(line, &begins) && begins &&
		    !dwarf_lineendsequence(line, &ends) && !ends &&
		    !dwarf_lineaddr(line, &at))
			printf(" %" PRIx64, at);
	}
}

static void print_all_rows(void)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (!dwarf_get_units(dwarf->dwarf, unit, &unit, NULL, NULL, &die,
				NULL))
		print_rows(&die);
	putchar('\n');
}

static void print_entries(const struct module *module)
{
	uint64_t last = 0;
	Dwarf_Die unit;

	for (size_t i = 0; i < module->function_count; i++) {
		uint64_t at = module->functions[i].start;

		if (at != last && dwarf_unit_find(dwarf, at, &unit))
			printf(" %" PRIx64, at);
		last = at;
	}
	putchar('\n');
}

static void serve(char *line)
{
	if (!strncmp(line, "stop ", 5)) {
		read_stop(line + 5);
	} else if (!strcmp(line, "class")) {
		puts(in.x ? "a64" : in.is32 ? "32" : "64");
	} else if (!strcmp(line, "rows")) {
		print_all_rows();
	} else if (!strcmp(line, "entries")) {
		print_entries(dwarf->module);
	} else if (!strcmp(line, "names")) {
		printf("names");
		dwarf_variable_each(dwarf, &(struct dwarf_from){ pc },
				    print_name, NULL);
		putchar('\n');
	} else if (!strncmp(line, "where ", 6)) {
		read_variable(line + 6, true);
	} else if (!strncmp(line, "get ", 4)) {
		read_variable(line + 4, false);
	} else {
		puts("damaged command");
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct dwarf_search search = { .file = argc > 2 ? argv[2] : NULL };
	struct error err = {0};
	struct module *module;
	char line[4096];

	elf_version(EV_CURRENT);
	if (argc < 2 || module_open(&module, argv[1], argv[1],
				    TDF_MODULE_USER, &err) ||
	    dwarf_file_open(&dwarf, module, argv[1], &search, &err)) {
		fprintf(stderr, "place_eval: %s\n", err.text);
		return 1;
	}
	in.is32 = module->elf_class == ELFCLASS32;
	in.x = module->machine == EM_AARCH64 ? regs_a64 : NULL;
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		serve(line);
	}
	dwarf_file_close(dwarf);
	module_close(module);
	return 0;
}
