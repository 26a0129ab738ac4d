// SPDX-License-Identifier: GPL-2.0
/* Which symbol names an address, of those that a file may have. */
#include "selftests/tap.h"
#include "lib/debug/symbols/symbol_names.h"

#define BIAS	0x100000
#define TEXT	1		/* its section: 0x1000 to 0x3000 */
#define FUNC(bind)	ELF64_ST_INFO(STB_##bind, STT_FUNC)

struct row {
	const char *name;
	unsigned char info;
	uint64_t value, size;
	uint16_t section;
};

static const struct row rows[] = {
	{ "" },
	{ "file.c", ELF64_ST_INFO(STB_LOCAL, STT_FILE), 0x1000, 0x100, TEXT },
	{ "local", FUNC(LOCAL), 0x1000, 0x100, TEXT },
	{ "local_only", FUNC(LOCAL), 0x1100, 0x40, TEXT },
	{ "$x", ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), 0x1150, 0, TEXT },
	{ "local_label", ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), 0x2c00, 0, TEXT },
	/* the first global one */
	{ "weak", FUNC(WEAK), 0x1000, 0x80, TEXT },
	{ "global", FUNC(GLOBAL), 0x1000, 0x100, TEXT },
	{ "again", FUNC(GLOBAL), 0x1000, 0x100, TEXT },
	{ "short", FUNC(GLOBAL), 0x1200, 0x10, TEXT },
	{ "long", FUNC(GLOBAL), 0x1200, 0x100, TEXT },
	{ "inside", FUNC(WEAK), 0x1280, 0x20, TEXT },
	{ "global_label", ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0x2000, 0, TEXT },
	{ "ends", ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0x2100, 0, TEXT },
	{ "begins", ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0x2100, 0, TEXT },
	{ "covered", ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0x2210, 0, TEXT },
	{ "covers", FUNC(GLOBAL), 0x2200, 0x40, TEXT },
	{ "thread", ELF64_ST_INFO(STB_GLOBAL, STT_TLS), 0x2300, 8, TEXT },
	{ "imported", FUNC(GLOBAL), 0x2310, 8, SHN_UNDEF },
	{ "", FUNC(GLOBAL), 0x2320, 8, TEXT },
	{ "local_in_label", FUNC(LOCAL), 0x2400, 8, TEXT },
	{ "nowhere", ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0x5000, 0, 7 },
	{ "wraps", FUNC(GLOBAL), 0x6000, UINT64_MAX, TEXT },
};

#define ROWS	((int)(sizeof(rows) / sizeof(*rows)))
#define GLOBAL	6

static int symbols(Dwfl_Module *module)
{
	return ROWS;
}

static int symbols_global(Dwfl_Module *module)
{
	return GLOBAL;
}

static const char *symbol(Dwfl_Module *module, int index,
			  Elf64_Sym *symbol, Elf64_Addr *address,
			  Elf64_Word *section, Elf **elf,
			  Elf64_Addr *bias)
{
	const struct row *row = &rows[index];

	*symbol = (Elf64_Sym){
		.st_info = row->info, .st_shndx = row->section,
		.st_value = row->value, .st_size = row->size,
	};
	*address = row->value + BIAS;
	*section = row->section;
	*elf = (Elf *)rows;
	*bias = BIAS;
	return row->name;
}

static Elf_Scn *section(Elf *elf, size_t index)
{
	return index == TEXT ? (Elf_Scn *)rows : NULL;
}

static Elf64_Shdr *section_header(Elf_Scn *section,
				  Elf64_Shdr *header)
{
	*header = (Elf64_Shdr){ .sh_addr = 0x1000, .sh_size = 0x2000 };
	return header;
}

static const struct {
	uint64_t address;
	const char *name;
	uint64_t offset;
	const char *what;
} expected[] = {
	{ 0xfff, "-", 0, "in front of all" },
	{ 0x1000, "global", 0, "global before weak and local, the first of two" },
	{ 0x10ff, "global", 0xff, "its last byte" },
	{ 0x1100, "local_only", 0, "where no global one is a local one" },
	{ 0x1140, "-", 0, "after it" },
	{ 0x1160, "-", 0, "what marks code is none" },
	{ 0x1205, "short", 5, "of those with one start the shorter" },
	{ 0x1210, "long", 0x10, "after it the longer" },
	{ 0x1290, "inside", 0x10, "the one that begins last" },
	{ 0x12a0, "long", 0xa0, "after it the one around it" },
	{ 0x2050, "global_label", 0x50, "a label up to the next" },
	{ 0x2100, "begins", 0, "of two labels the last one" },
	{ 0x2220, "covers", 0x20, "what has a size before labels" },
	{ 0x2250, "-", 0, "no label in front of what ended in between" },
	{ 0x2300, "-", 0, "no thread-local one" },
	{ 0x2310, "-", 0, "nor an imported one" },
	{ 0x2320, "-", 0, "nor one without a name" },
	{ 0x2404, "local_in_label", 4, "a local one with a size" },
	{ 0x2bff, "-", 0, "after it" },
	{ 0x2c10, "local_label", 0x10, "a local label" },
	{ 0x2fff, "local_label", 0x3ff, "to the end of its section" },
	{ 0x3000, "-", 0, "and not after it" },
	{ 0x5000, "-", 0, "a label of no section" },
	{ 0x6001, "-", 0, "a size beyond all addresses" },
};

int main(void)
{
	const struct symbol_library library = {
		.dwfl_module_getsymtab = symbols,
		.dwfl_module_getsymtab_first_global = symbols_global,
		.dwfl_module_getsym_info = symbol, .elf_getscn = section,
		.gelf_getshdr = section_header,
	};
	struct symbol_names names = { 0 };

	tap_ok(symbol_names_read(&names, &library, NULL), "read");
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		uint64_t offset = 0;
		const char *name = symbol_names_find(&names,
					expected[i].address + BIAS, &offset);

		tap_str(name ? name : "-", expected[i].name, "%s",
			expected[i].what);
		tap_is(offset, expected[i].offset, "... its offset");
	}
	symbol_names_free(&names);
	tap_ok(!symbol_names_find(&names, BIAS + 0x1000, NULL), "freed");
	return tap_done();
}
