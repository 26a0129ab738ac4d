/* SPDX-License-Identifier: GPL-2.0 */
/* libdw, of whose headers (elfutils/libdwfl.h) nothing else is needed, and what
 * it has of libelf. */
#ifndef TRACEFMT_SYMBOL_LIBRARY_H
#define TRACEFMT_SYMBOL_LIBRARY_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwfl;
struct dwfl_module;
struct dwarf;
struct dwarf_entry;		/* Dwarf_Die: of libdw's memory only */
struct elf;
struct elf_section;

struct dwfl_callbacks {
	int (*find_elf)(struct dwfl_module *module, void **user,
			const char *name, Elf64_Addr base, char **file,
			void **elf);
	int (*find_debuginfo)(struct dwfl_module *module, void **user,
			      const char *name, Elf64_Addr base,
			      const char *file, const char *debuglink,
			      Elf64_Word crc, char **debug_file);
	int (*section_address)(struct dwfl_module *module, void **user,
			       const char *name, Elf64_Addr base,
			       const char *section, Elf32_Word index,
			       const Elf64_Shdr *header, Elf64_Addr *address);
	char **debuginfo_path;
};

struct dwarf_attribute {
	unsigned int code, form;
	unsigned char *value;
	void *unit;
};

struct dwarf_unit_entry {	/* Dwarf_Die, of the caller's memory */
	void *address, *unit, *abbreviation;
	long padding;
};

struct elf_data {
	void *bytes;
	int type;
	unsigned int version;
	size_t size;
	int64_t offset;
	size_t align;
};

struct symbol_library {
	struct dwfl *(*begin)(const struct dwfl_callbacks *callbacks);
	void (*end)(struct dwfl *dwfl);
	struct dwfl_module *(*report)(struct dwfl *dwfl, const char *name,
				      const char *file, int fd);
	int (*report_end)(struct dwfl *dwfl, void *removed, void *context);
	const char *(*info)(struct dwfl_module *module, void ***user,
			    Elf64_Addr *start, Elf64_Addr *end,
			    Elf64_Addr *dwarf_bias, Elf64_Addr *symbol_bias,
			    const char **file, const char **debug_file);
	struct elf *(*elf)(struct dwfl_module *module, Elf64_Addr *bias);
	int (*symbols)(struct dwfl_module *module);
	int (*symbols_global)(struct dwfl_module *module);
	const char *(*symbol)(struct dwfl_module *module, int index,
			      Elf64_Sym *symbol, Elf64_Addr *address,
			      Elf64_Word *section, struct elf **elf,
			      Elf64_Addr *bias);
	struct dwarf *(*dwarf)(struct dwfl_module *module, Elf64_Addr *bias);
	struct dwarf_entry *(*unit)(struct dwfl_module *module,
				    Elf64_Addr address, Elf64_Addr *bias);
	struct dwarf_entry *(*unit_next)(struct dwfl_module *module,
					 struct dwarf_entry *unit,
					 Elf64_Addr *bias);
	ptrdiff_t (*ranges)(struct dwarf_entry *entry, ptrdiff_t offset,
			    Elf64_Addr *base, Elf64_Addr *start,
			    Elf64_Addr *end);
	struct dwarf_unit_entry *(*unit_sizes)(struct dwarf_entry *entry,
					       struct dwarf_unit_entry *unit,
					       uint8_t *address_bytes,
					       uint8_t *offset_bytes);
	struct dwarf_attribute *(*attribute)(struct dwarf_entry *entry,
					     unsigned int name,
					     struct dwarf_attribute *result);
	int (*attribute_number)(struct dwarf_attribute *attribute,
				Elf64_Xword *number);
	const char *(*attribute_string)(struct dwarf_attribute *attribute);
	struct elf *(*dwarf_elf)(struct dwarf *dwarf);
	int (*section_names)(struct elf *elf, size_t *section);
	struct elf_section *(*section)(struct elf *elf, size_t index);
	struct elf_section *(*section_next)(struct elf *elf,
					    struct elf_section *section);
	Elf64_Shdr *(*section_header)(struct elf_section *section,
				      Elf64_Shdr *header);
	struct elf_data *(*section_data)(struct elf_section *section,
					 struct elf_data *data);
	const char *(*string)(struct elf *elf, size_t section, size_t offset);
	/* of libstdc++; NULL: names stay mangled */
	char *(*demangle)(const char *mangled, char *buffer, size_t *size,
			  int *status);
};

/* False: there is no libdw. */
bool symbol_library_load(struct symbol_library *library);

#endif
