// SPDX-License-Identifier: GPL-2.0
#include "dwarf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "../lib/hash.h"

/* elfutils' dwarf.h has no name for it: DWARF 6 draft */
#define LANG_ASSEMBLY	0x31

struct dwarf_range {
	uint64_t start, end;
	Dwarf_Off unit;		/* offset of its unit's entry */
};

struct dwarf_file {
	int fd;			/* of a separate file, else -1 */
	Elf *elf;		/* of a separate file, else NULL */
	Dwarf *dwarf;
	struct dwarf_range *ranges;	/* of units, sorted by start */
	size_t range_count, range_room;
};

static Elf_Data *dwarf_section(Elf *elf, const char *wanted)
{
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name = gelf_getshdr(scn, &sh) ?
			elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && !strcmp(name, wanted) && sh.sh_type != SHT_NOBITS)
			return elf_rawdata(scn, NULL);
	}
	return NULL;
}

static bool dwarf_range_add(struct dwarf_file *dwarf, uint64_t start,
			    uint64_t end, Dwarf_Off unit)
{
	if (end <= start)
		return true;
	if (dwarf->range_count == dwarf->range_room) {
		size_t room = dwarf->range_room ? dwarf->range_room * 2 : 64;
		struct dwarf_range *grown =
			realloc(dwarf->ranges, room * sizeof(*grown));

		if (!grown)
			return false;
		dwarf->ranges = grown;
		dwarf->range_room = room;
	}
	dwarf->ranges[dwarf->range_count++] =
		(struct dwarf_range) { start, end, unit };
	return true;
}

static int dwarf_range_compare(const void *a, const void *b)
{
	const struct dwarf_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* .debug_aranges is optional (clang leaves it out): ask every unit. */
static bool dwarf_index_units(struct dwarf_file *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (!dwarf_get_units(dwarf->dwarf, unit, &unit, NULL, NULL, &die,
				NULL)) {
		Dwarf_Addr base, start, end;
		ptrdiff_t at = 0;

		while ((at = dwarf_ranges(&die, at, &base, &start, &end)) > 0)
			if (!dwarf_range_add(dwarf, start, end,
					     dwarf_dieoffset(&die)))
				return false;
	}
	if (dwarf->range_count)
		qsort(dwarf->ranges, dwarf->range_count,
		      sizeof(*dwarf->ranges), dwarf_range_compare);
	return true;
}

/* CRC-32 of a whole file, as .gnu_debuglink has it. */
static bool dwarf_crc_matches(int fd, uint32_t wanted)
{
	uint8_t buffer[65536];
	uint32_t crc = 0;
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, buffer, sizeof(buffer), at)) > 0) {
		crc = hash_crc32(crc, buffer, n);
		at += n;
	}
	return !n && crc == wanted;
}

static bool dwarf_belongs(const struct module *module, int fd,
			  const char *path, const uint32_t *crc)
{
	struct identity id;

	if (module->identity.kind != TDF_ID_BUILD)
		return crc && dwarf_crc_matches(fd, *crc);
	return !identity_read(fd, path, &id, NULL) &&
	       id.kind == TDF_ID_BUILD &&
	       id.length == module->identity.length &&
	       !memcmp(id.id, module->identity.id, id.length);
}

/* Open a separate file when it is there and belongs to the module. */
static bool dwarf_try(struct dwarf_file *dwarf, const struct module *module,
		      const char *path, const uint32_t *crc)
{
	struct stat st;

	dwarf->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (dwarf->fd < 0)
		return false;
	if (!fstat(dwarf->fd, &st) && S_ISREG(st.st_mode) &&
	    dwarf_belongs(module, dwarf->fd, path, crc)) {
		dwarf->elf = elf_begin(dwarf->fd, ELF_C_READ, NULL);
		dwarf->dwarf = dwarf_begin_elf(dwarf->elf, DWARF_C_READ, NULL);
		if (dwarf->dwarf)
			return true;
		elf_end(dwarf->elf);
		dwarf->elf = NULL;
	}
	close(dwarf->fd);
	dwarf->fd = -1;
	return false;
}

static bool dwarf_try_build_id(struct dwarf_file *dwarf,
			       const struct module *module,
			       const char *sysroot)
{
	char path[PATH_MAX], text[64];

	if (module->identity.kind != TDF_ID_BUILD ||
	    module->identity.length < 2)
		return false;
	identity_print(TDF_ID_BUILD, module->identity.id,
		       module->identity.length, text);
	return snprintf(path, sizeof(path),
			"%s/usr/lib/debug/.build-id/%.2s/%s.debug", sysroot,
			text, text + 2) < (int)sizeof(path) &&
	       dwarf_try(dwarf, module, path, NULL);
}

/* The name, zero-terminated and padded to 4 bytes, then the CRC. */
static bool dwarf_read_link(Elf *elf, const char **name, uint32_t *crc)
{
	Elf_Data *data = dwarf_section(elf, ".gnu_debuglink");
	size_t length;

	if (!data || !data->d_buf || data->d_size < 8)
		return false;
	*name = data->d_buf;
	length = strnlen(*name, data->d_size - 4);
	if (!length || length > data->d_size - 5 || strchr(*name, '/'))
		return false;
	memcpy(crc, (uint8_t *)data->d_buf + data->d_size - 4, 4);
	return true;
}

static bool dwarf_try_link(struct dwarf_file *dwarf,
			   const struct module *module, const char *file,
			   const char *sysroot)
{
	char real[PATH_MAX], path[3 * PATH_MAX], *directory;
	const char *name;
	uint32_t crc;

	if (!dwarf_read_link(module->elf, &name, &crc) || !realpath(file, real))
		return false;
	directory = dirname(real);
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (dwarf_try(dwarf, module, path, &crc))
		return true;
	snprintf(path, sizeof(path), "%s/.debug/%s", directory, name);
	if (dwarf_try(dwarf, module, path, &crc))
		return true;
	if (!strncmp(directory, sysroot, strlen(sysroot)))
		directory += strlen(sysroot);
	snprintf(path, sizeof(path), "%s/usr/lib/debug%s/%s", sysroot,
		 directory, name);
	return dwarf_try(dwarf, module, path, &crc);
}

static bool dwarf_find(struct dwarf_file *dwarf, struct module *module,
		       const char *file, const char *sysroot)
{
	if (dwarf_section(module->elf, ".debug_info")) {
		dwarf->dwarf = dwarf_begin_elf(module->elf, DWARF_C_READ,
					       NULL);
		return dwarf->dwarf;
	}
	if (!dwarf_try_build_id(dwarf, module, sysroot) &&
	    !dwarf_try_link(dwarf, module, file, sysroot))
		return false;
	if (module->has_symtab)
		return true;
	return !module_load_symbols(module, dwarf->elf) &&
	       !module_load_functions(module);
}

struct dwarf_file *dwarf_file_open(struct module *module, const char *file,
				   const char *sysroot)
{
	struct dwarf_file *dwarf = calloc(1, sizeof(*dwarf));

	if (!dwarf)
		return NULL;
	dwarf->fd = -1;
	if (!dwarf_find(dwarf, module, file, sysroot ? sysroot : "") ||
	    !dwarf_index_units(dwarf)) {
		dwarf_file_close(dwarf);
		return NULL;
	}
	return dwarf;
}

void dwarf_file_close(struct dwarf_file *dwarf)
{
	if (!dwarf)
		return;
	free(dwarf->ranges);
	dwarf_end(dwarf->dwarf);
	elf_end(dwarf->elf);
	if (dwarf->fd >= 0)
		close(dwarf->fd);
	free(dwarf);
}

/* The unit around address. Units don't overlap in linked code. */
static bool dwarf_find_unit(struct dwarf_file *dwarf, uint64_t address,
			    Dwarf_Die *unit)
{
	size_t low = 0, high = dwarf->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dwarf->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || dwarf->ranges[low - 1].end <= address)
		return false;
	return dwarf_offdie(dwarf->dwarf, dwarf->ranges[low - 1].unit, unit);
}

/* First row at exactly this address; `count` when there is none. */
static size_t dwarf_find_row(Dwarf_Lines *lines, size_t count,
			     uint64_t address)
{
	size_t low = 0, high = count;
	Dwarf_Addr at = 0;
	bool end = false;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dwarf_lineaddr(dwarf_onesrcline(lines, middle), &at))
			return count;
		if (at < address)
			low = middle + 1;
		else
			high = middle;
	}
	/* the end of the code before may stand at the same address */
	for (; low < count; low++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, low);

		if (dwarf_lineaddr(line, &at) || at != address)
			return count;
		if (!dwarf_lineendsequence(line, &end) && !end)
			return low;
	}
	return count;
}

/* The address of the first row from `row` on that is marked as the prologue's
 * end, or else of the second one that begins a statement. */
static bool dwarf_prologue_row(Dwarf_Lines *lines, size_t count, size_t row,
			       uint64_t end, uint64_t *address)
{
	unsigned int statements = 0;
	bool found = false;

	for (; row < count; row++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, row);
		bool stop = true, marked = false, statement = false;
		Dwarf_Addr at;
		int number = 0;

		if (dwarf_lineaddr(line, &at) || at >= end ||
		    dwarf_lineendsequence(line, &stop) || stop)
			break;
		if (!dwarf_lineprologueend(line, &marked) && marked) {
			*address = at;
			return true;
		}
		if (dwarf_linebeginstatement(line, &statement) || !statement ||
		    dwarf_lineno(line, &number) || !number)
			continue;
		if (++statements == 2) {
			*address = at;
			found = true;
		}
	}
	return found;
}

bool dwarf_prologue_find(struct dwarf_file *dwarf, uint64_t start,
			 uint64_t end, uint64_t *address)
{
	Dwarf_Lines *lines;
	Dwarf_Die unit;
	size_t count, row;
	int language;

	if (!dwarf_find_unit(dwarf, start, &unit))
		return false;
	language = dwarf_srclang(&unit);
	if (language == DW_LANG_Mips_Assembler || language == LANG_ASSEMBLY ||
	    dwarf_getsrclines(&unit, &lines, &count))
		return false;
	row = dwarf_find_row(lines, count, start);
	return row < count &&
	       dwarf_prologue_row(lines, count, row, end, address);
}

/* Of split debug information the unit that has it, DWARF 5 section 3.1.2. */
static void dwarf_enter_split(Dwarf_Die *unit)
{
	Dwarf_Die split;
	uint8_t type;

	if (!dwarf_cu_info(unit->cu, NULL, &type, NULL, &split, NULL, NULL,
			   NULL) &&
	    type == DW_UT_skeleton && split.cu)
		*unit = split;
}

bool dwarf_variable_known(struct dwarf_file *dwarf, uint64_t address,
			  const char *name)
{
	Dwarf_Die unit, variable, *scopes = NULL;
	bool known;
	int count;

	if (!dwarf_find_unit(dwarf, address, &unit))
		return false;
	dwarf_enter_split(&unit);
	count = dwarf_getscopes(&unit, address, &scopes);
	known = count > 0 && dwarf_getscopevar(scopes, count, name, 0, NULL, 0,
					       0, &variable) >= 0;
	free(scopes);
	return known;
}
