// SPDX-License-Identifier: GPL-2.0
/*
 * result_calls MODULE [-p]: calls each function f_N of the library and looks for
 * the bytes that it returns where dwarf_result_find() has them. The library has
 * p_N, the bytes, and m_N, which of them are members. A line for each that is
 * wrong or refused, then the numbers. -p: prints where they are, and calls
 * nothing.
 */
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/debug/arch/arch.h"
#include "lib/debug/dwarf/dwarf.h"

#define BYTES_MAX	4096

static struct dwarf_file *dwarf;
static void *library;
static unsigned int good, wrong, refused, calls;
static bool prints;

#ifdef __x86_64__
struct returned { uint64_t rax, rdx, xmm[2][2]; };

/* The function may write to `memory`. */
static void call(void *function, void *memory, struct returned *r)
{
	register uint64_t rax asm("rax") = (uint64_t)function;
	register uint64_t rdi asm("rdi") = (uint64_t)memory;
	register uint64_t rdx asm("rdx");

	asm volatile("sub $128, %%rsp\n\t"
		     "mov %%rsp, %%rbx\n\t"
		     "and $-16, %%rsp\n\t"
		     "call *%%rax\n\t"
		     "mov %%rbx, %%rsp\n\t"
		     "add $128, %%rsp\n\t"
		     "movups %%xmm0, %[x0]\n\t"
		     "movups %%xmm1, %[x1]\n\t"
		     : "+r"(rax), "+r"(rdi), "=r"(rdx),
		       [x0] "=m"(r->xmm[0]), [x1] "=m"(r->xmm[1])
		     :
		     : "rbx", "rcx", "rsi", "r8", "r9", "r10", "r11", "xmm0",
		       "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
		       "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
		       "xmm14", "xmm15", "cc", "memory");
	r->rax = rax;
	r->rdx = rdx;
}

static void part_copy(const struct returned *r,
		      const struct dwarf_result_part *part, uint8_t *bytes)
{
	const void *from = part->reg == 0 ? (void *)&r->rax :
			   part->reg == 1 ? (void *)&r->rdx :
					    (void *)r->xmm[part->reg - 17];

	memcpy(bytes + part->offset, (const char *)from + part->skip,
	       part->bytes);
}

static bool is_right(const char *number, const struct dwarf_result *result,
		     uint64_t size)
{
	uint8_t bytes[BYTES_MAX] = { 0 }, memory[BYTES_MAX] = { 0 };
	const uint8_t *pattern, *mask;
	struct returned r = { 0 };
	char name[32];

	snprintf(name, sizeof(name), "f_%s", number);
	call(dlsym(library, name), memory, &r);
	name[0] = 'p';
	pattern = dlsym(library, name);
	name[0] = 'm';
	mask = dlsym(library, name);
	if (result->in_memory && r.rax == (uint64_t)memory)
		memcpy(bytes, memory, size);
	for (unsigned int i = 0; i < result->count; i++)
		part_copy(&r, &result->parts[i], bytes);
	for (uint64_t i = 0; i < size; i++)
		if ((bytes[i] ^ pattern[i]) & mask[i])
			return false;
	return true;
}
#else
static bool is_right(const char *number, const struct dwarf_result *result,
		     uint64_t size)
{
	return number && result && size;
}
#endif

static void result_print(const char *name, const struct dwarf_result *result)
{
	char reg[16];

	printf("%s%s", name, result->in_memory ? " memory" : "");
	for (unsigned int i = 0; i < result->count; i++) {
		const struct dwarf_result_part *part = &result->parts[i];

		arch_register_print(dwarf->module->arch, part->reg, reg,
				    sizeof(reg));
		printf(" %s+%d=%d:%d", reg, part->skip, part->offset,
		       part->bytes);
	}
	putchar('\n');
}

static int take(void *context, const char *name,
		const struct dwarf_function *function)
{
	Dwarf_Die die = function->die, type, bare;
	struct dwarf_result result;
	struct error err = { 0 };
	uint64_t size;

	(void)context;
	if (strncmp(name, "f_", 2) || !dwarf_type_of(&die, &type))
		return 0;
	calls++;
	dwarf_type_peel(&type, &bare, NULL);
	if (dwarf_result_find(dwarf, &die, &type, &result, &err)) {
		printf("refused %s: %s\n", name, err.text);
		refused++;
	} else if (prints) {
		result_print(name, &result);
	} else if (dwarf_type_bytes(&bare, &size) && size <= BYTES_MAX &&
		   is_right(name + 2, &result, size)) {
		good++;
	} else {
		printf("wrong ");
		result_print(name, &result);
		wrong++;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct error err = { 0 };
	struct module *module;

	elf_version(EV_CURRENT);
	prints = argc > 2;
	if (argc < 2 || module_open(&module, argv[1], argv[1], TDF_MODULE_USER,
				    &err) ||
	    dwarf_file_open(&dwarf, module, argv[1],
			    &(struct dwarf_search){ 0 }, &err)) {
		fprintf(stderr, "result_calls: %s\n", err.text);
		return 1;
	}
	library = prints ? NULL : dlopen(argv[1], RTLD_NOW);
	if (!prints && !library) {
		fprintf(stderr, "result_calls: %s\n", dlerror());
		return 1;
	}
	dwarf_function_each(dwarf, take, NULL);
	if (!prints)
		printf("%u right, %u wrong, %u refused, %u functions\n", good,
		       wrong, refused, calls);
	dwarf_file_close(dwarf);
	module_close(module);
	return 0;
}
