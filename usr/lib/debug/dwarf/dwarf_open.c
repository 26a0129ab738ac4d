// SPDX-License-Identifier: GPL-2.0
/* Opening the debug information of a module, and closing what was read of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "dwarf_frame.h"
#include "dwarf_find.h"
#include "dwarf_lines.h"
#include "dwarf_names.h"
#include "dwarf_type.h"
#include "dwarf_unit.h"
#include "lib/debug/module/module.h"

/* Where units have code: what the linker left out has addresses that are none of
 * code. */
static int index_units(struct dwarf_file *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (!dwarf_get_units(dwarf->dwarf, unit, &unit, NULL, NULL, &die,
				NULL)) {
		Dwarf_Addr base, start, end;
		ptrdiff_t at = 0;
		size_t available;

		while (die.cu &&
		       (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0)
			if (start < end &&
			    module_code(dwarf->module, start, &available,
					NULL) &&
			    !unit_ranges_add(&dwarf->ranges, start, end,
					     dwarf_dieoffset(&die)))
				return -ENOMEM;
	}
	unit_ranges_sort(&dwarf->ranges);
	return 0;
}

int dwarf_file_open(struct dwarf_file **result, struct module *module,
		    const char *path, const struct dwarf_search *search,
		    struct error *err)
{
	struct dwarf_file *dwarf = calloc(1, sizeof(*dwarf));
	struct error own;
	struct stat st;
	int code;

	*result = NULL;
	err = err ? err : &own;
	if (!dwarf)
		return error_no_memory(err);
	dwarf->module = module;
	dwarf->fd = dwarf->shared_fd = -1;
	code = dwarf_find(dwarf, path, search, err);
	if (!code && !dwarf_strings_end(dwarf->dwarf))
		code = error_set(err, -ENOENT, "its debug information is "
				 "damaged: a string has no end");
	if (!code) {
		dwarf_find_shared(dwarf, search);
		/* a stripped module gets the symbols of its debug file */
		if (!module->has_symtab && dwarf->elf &&
		    !fstat(dwarf->fd, &st) &&
		    (module_load_symbols(module, dwarf->elf, st.st_size) ||
		     module_load_functions(module)))
			code = error_no_memory(err);
		else if (index_units(dwarf))
			code = error_no_memory(err);
	}
	if (code)
		dwarf_file_close(dwarf);
	else
		*result = dwarf;
	free(module->debug_refused);
	module->debug_refused = code && err->text[0] ? strdup(err->text) :
						       NULL;
	return code;
}

const char *dwarf_refusal(const struct module *module,
			  const struct dwarf_file *dwarf)
{
	return dwarf ? dwarf->note : module->debug_refused;
}

void dwarf_file_close(struct dwarf_file *dwarf)
{
	if (!dwarf)
		return;
	key_map_free(&dwarf->splits);
	dwarf_names_free(dwarf);
	dwarf_lines_free(dwarf);
	dwarf_types_free(dwarf);
	dwarf_units_free(dwarf);
	dwarf_frames_free(dwarf);
	free(dwarf->ranges.list);
	dwarf_end(dwarf->dwarf);
	dwarf_end(dwarf->shared);
	elf_end(dwarf->elf);
	free(dwarf->image);
	if (dwarf->fd >= 0)
		close(dwarf->fd);
	if (dwarf->shared_fd >= 0)
		close(dwarf->shared_fd);
	free(dwarf->path);
	free(dwarf->note);
	free(dwarf);
}

int dwarf_check_unchanged(const struct dwarf_file *dwarf, struct error *err)
{
	struct stat st;

	if (dwarf->fd < 0 ||
	    (!fstat(dwarf->fd, &st) &&
	     st.st_mtim.tv_sec == dwarf->modified.tv_sec &&
	     st.st_mtim.tv_nsec == dwarf->modified.tv_nsec))
		return 0;
	return error_set(err, -EAGAIN, "'%s' changed while it was being read",
			 dwarf->path);
}
