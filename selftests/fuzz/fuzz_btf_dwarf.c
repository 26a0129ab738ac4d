// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as the BTF of a kernel: refused, or a file with DWARF in which each
 * function, its parameters and their types can be looked up.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <elf.h>
#include <stdlib.h>
#include "lib/debug/arch/arch.h"
#include "lib/debug/btf/btf_dwarf.h"
#include "lib/debug/dwarf/dwarf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take_function(void *context, const char *name,
			 const struct dwarf_function *function)
{
	const struct dwarf_from from = { .pc = function->entry };
	struct dwarf_file *dwarf = context;
	Dwarf_Die die = function->die;

	(void)name;
	if (dwarf_child(&die, &die))
		return 0;
	do {
		const char *parameter = dwarf_diename(&die);
		struct dwarf_variable variable[2];
		struct place place = {0};
		struct error err = {0};
		uint64_t bytes;

		if (!parameter ||
		    dwarf_variable_find(dwarf, &from, parameter, variable))
			continue;
		if (!dwarf_variable_place(dwarf, variable, from.pc, &place,
					  &err))
			place_free(&place);
		if (variable->type.addr) {
			free(dwarf_type_spell(&variable->type, 0, 0));
			dwarf_type_bytes(&variable->type, &bytes);
		}
	} while (dwarf_die_next(&die));
	return 0;
}

static void look_up(struct bytes *image)
{
	const struct dwarf_from nowhere = { 0 };
	struct module *module = NULL;
	struct dwarf_file *dwarf = NULL;
	struct error err = {0};
	Dwarf_Die type[2];

	if (!module_open_kernel(&module, arch_find(EM_X86_64, ELFCLASS64),
				&err) &&
	    !dwarf_file_open_image(&dwarf, module, image, &err)) {
		dwarf_function_each(dwarf, take_function, dwarf);
		dwarf_type_find(dwarf, &nowhere, "struct", "item", type);
		dwarf_type_find(dwarf, &nowhere, NULL, "u64", type);
	}
	dwarf_file_close(dwarf);
	module_close(module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct btf_dwarf_source source = { .machine = EM_X86_64 };
	struct bytes image = {0};
	struct error err = {0};
	struct btf *btf;

	if (size && *data & 1)
		source.machine = EM_AARCH64;
	libbpf_set_print(NULL);
	btf = btf__new(data, size);
	if (!btf)
		return 0;
	source.btf = btf;
	if (!btf_dwarf(&source, &image, &err))
		look_up(&image);
	bytes_free(&image);
	btf__free(btf);
	return 0;
}
