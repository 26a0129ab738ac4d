// SPDX-License-Identifier: GPL-2.0
#include "runtime.h"

#include <string.h>

struct runtime_sign {
	const char *name;	/* of a symbol; one that ends with '*' begins
				 * so */
	unsigned int what;
};

static const struct runtime_sign symbol_signs[] = {
	{ "__morestack", RUNTIME_SPLITS },
	{ "getcontext", RUNTIME_SWITCHES },
	{ "jump_fcontext", RUNTIME_SWITCHES | RUNTIME_MIGRATES },
	{ "makecontext", RUNTIME_SWITCHES | RUNTIME_MIGRATES },
	{ "ontop_fcontext", RUNTIME_SWITCHES | RUNTIME_MIGRATES },
	{ "setcontext", RUNTIME_SWITCHES },
	{ "swapcontext", RUNTIME_SWITCHES | RUNTIME_MIGRATES },
	{ "sigaltstack", RUNTIME_SIGNAL_STACK },
	{ "_Unwind_*", RUNTIME_UNWINDS },
	{ "__cxa_begin_catch", RUNTIME_UNWINDS },
	{ "__cxa_throw", RUNTIME_UNWINDS },
	{ "__gcc_personality_*", RUNTIME_UNWINDS },
	{ "__gnat_personality_*", RUNTIME_UNWINDS },
	{ "__gxx_personality_*", RUNTIME_UNWINDS },
	{ "__libunwind_*", RUNTIME_UNWINDS },
	{ "_ULaarch64*", RUNTIME_UNWINDS },
	{ "_ULx86*", RUNTIME_UNWINDS },
	{ "objc_exception_throw", RUNTIME_UNWINDS },
	{ "pthread_cancel", RUNTIME_UNWINDS },
	{ "pthread_exit", RUNTIME_UNWINDS },
	{ "rust_eh_personality", RUNTIME_UNWINDS },
	{ "thrd_exit", RUNTIME_UNWINDS },
};

static const struct runtime_sign library_signs[] = {
	{ "libboost_co*", RUNTIME_SWITCHES | RUNTIME_MIGRATES },
	{ "libc++*", RUNTIME_UNWINDS },
	{ "libgcc_s.*", RUNTIME_UNWINDS },
	{ "libgnat*", RUNTIME_UNWINDS },
	{ "libgo.*", RUNTIME_GO | RUNTIME_MIGRATES },
	{ "libobjc.*", RUNTIME_UNWINDS },
	{ "libpth.*", RUNTIME_SWITCHES | RUNTIME_MIGRATES },
	{ "libstdc++.*", RUNTIME_UNWINDS },
	{ "libunwind*", RUNTIME_UNWINDS },
};

static const struct runtime_sign section_signs[] = {
	{ ".go.buildinfo", RUNTIME_GO | RUNTIME_MIGRATES },
	{ ".gopclntab", RUNTIME_GO | RUNTIME_MIGRATES },
	{ ".note.GNU-split-stack", RUNTIME_SPLITS },
	{ ".note.go.buildid", RUNTIME_GO | RUNTIME_MIGRATES },
};

#define SIGNS(list)	(list), sizeof(list) / sizeof((list)[0])

static unsigned int signs_find(const struct runtime_sign *signs, size_t count,
			       const char *name, size_t length)
{
	for (size_t i = 0; i < count; i++) {
		size_t bytes = strlen(signs[i].name);
		bool begins = signs[i].name[bytes - 1] == '*';

		bytes -= begins;
		if ((begins ? length >= bytes : length == bytes) &&
		    !memcmp(name, signs[i].name, bytes))
			return signs[i].what;
	}
	return 0;
}

static unsigned int sections_find(const struct module *module)
{
	unsigned int what = 0;
	Elf_Scn *scn = NULL;
	const char *name;
	size_t names;
	GElf_Shdr sh;
	GElf_Dyn dyn;

	if (elf_getshdrstrndx(module->elf, &names))
		return 0;
	while ((scn = elf_nextscn(module->elf, scn))) {
		Elf_Data *data;

		name = gelf_getshdr(scn, &sh) ?
			       elf_strptr(module->elf, names, sh.sh_name) :
			       NULL;
		if (!name)
			continue;
		what |= signs_find(SIGNS(section_signs), name, strlen(name));
		data = sh.sh_type == SHT_DYNAMIC ? elf_getdata(scn, NULL) :
						   NULL;
		for (int i = 0; data && gelf_getdyn(data, i, &dyn) &&
				dyn.d_tag != DT_NULL; i++) {
			name = dyn.d_tag != DT_NEEDED ? NULL :
				elf_strptr(module->elf, sh.sh_link,
					   dyn.d_un.d_val);
			if (name)
				what |= signs_find(SIGNS(library_signs), name,
						   strlen(name));
			if (dyn.d_tag == DT_FLAGS_1 &&
			    dyn.d_un.d_val & DF_1_PIE)
				what |= RUNTIME_PROGRAM;
		}
	}
	return what;
}

unsigned int runtime_find(const struct module *module)
{
	unsigned int what = sections_find(module);
	GElf_Ehdr header;

	if (gelf_getehdr(module->elf, &header) && header.e_type == ET_EXEC)
		what |= RUNTIME_PROGRAM;
	for (size_t i = 0; i < module->symbol_count; i++) {
		unsigned int sign = signs_find(SIGNS(symbol_signs),
					       module->symbols[i].name,
					       module->symbols[i].name_length);

		/* a library that has the functions isn't what uses them */
		if (module->symbols[i].defined && !(what & RUNTIME_PROGRAM))
			sign &= ~RUNTIME_MIGRATES;
		what |= sign;
	}
	return what;
}
