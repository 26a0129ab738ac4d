// SPDX-License-Identifier: GPL-2.0
/*
 * Programs have their thread-local block at a constant distance from the thread
 * pointer. The others' are known to the loader, which writes where the variable is
 * into slots of those that use it: initial-exec, general dynamic, TLSDESC. A table
 * of blocks of each thread has 16 bytes for each module (glibc's dtv), the first 8
 * of which are the block's address.
 */
#include "otel.h"

#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "bpf/plan/processor.h"
#include "lib/elf_symbols.h"
#include "lib/machine.h"

#define VARIABLE	"otel_thread_ctx_v1"
#define DISTANCE_MAX	(1 << 30)	/* of a block from the thread pointer */
#define TABLE_ENTRY	16
#define MODULES_MAX	(1 << 16)

struct otel_file {
	Elf *elf;
	const struct processor_tls *tls;
	bool defined;
	uint64_t offset;	/* in the module's block, if it is defined */
};

static void variable_define(struct otel_file *file, uint32_t type)
{
	struct elf_symbols at = { .elf = file->elf, .type = type };

	while (!file->defined && elf_symbols_next(&at)) {
		file->defined = GELF_ST_TYPE(at.symbol.st_info) == STT_TLS &&
				at.symbol.st_shndx != SHN_UNDEF &&
				!strcmp(at.name, VARIABLE);
		file->offset = at.symbol.st_value;
	}
}

/* The word that the linker has written; 0: none */
static uint64_t linked_word(const struct otel_file *file, uint64_t address)
{
	Elf_Scn *section = NULL;
	uint64_t word = 0;
	Elf_Data *data;
	GElf_Shdr sh;

	while ((section = elf_nextscn(file->elf, section))) {
		if (!gelf_getshdr(section, &sh) || sh.sh_type != SHT_PROGBITS ||
		    !(sh.sh_flags & SHF_ALLOC) || address < sh.sh_addr ||
		    !(data = elf_getdata(section, NULL)) || data->d_size < 8 ||
		    address - sh.sh_addr > data->d_size - 8)
			continue;
		memcpy(&word, (char *)data->d_buf + (address - sh.sh_addr), 8);
		break;
	}
	return word;
}

/* The symbol of a relocation is the variable; without one (0), the file's own is at
 * that offset, which is in the second word of a pair. */
static bool relocation_is_of(const struct otel_file *file, const GElf_Shdr *sh,
			     const GElf_Rela *rela, enum otel_kind kind)
{
	Elf_Scn *section = elf_getscn(file->elf, sh->sh_link);
	size_t number = GELF_R_SYM(rela->r_info);
	const char *name;
	GElf_Shdr symbols;
	Elf_Data *data;
	GElf_Sym sym;

	if (!number)
		return file->defined && file->offset ==
		       (kind == OTEL_PAIR ? linked_word(file, rela->r_offset + 8) :
					    (uint64_t)rela->r_addend);
	if (!section || !gelf_getshdr(section, &symbols) ||
	    !(data = elf_getdata(section, NULL)) ||
	    !gelf_getsym(data, number, &sym))
		return false;
	name = elf_strptr(file->elf, symbols.sh_link, sym.st_name);
	return name && !strcmp(name, VARIABLE);
}

static void relocation_take(const struct otel_file *file, const GElf_Shdr *sh,
			    const GElf_Rela *rela,
			    struct otel_variable *variable)
{
	const struct processor_tls *tls = file->tls;
	uint32_t type = GELF_R_TYPE(rela->r_info);
	enum otel_kind kind = !type ? OTEL_ABSENT :
			      type == tls->distance ? OTEL_DISTANCE :
			      type == tls->descriptor ? OTEL_DESCRIPTOR :
			      type == tls->module ? OTEL_PAIR : OTEL_ABSENT;

	if (kind == OTEL_ABSENT || !relocation_is_of(file, sh, rela, kind))
		return;
	variable->kind = kind;
	variable->slot = rela->r_offset;
}

static void slot_find(const struct otel_file *file,
		      struct otel_variable *variable)
{
	Elf_Scn *section = NULL;
	GElf_Shdr sh;
	GElf_Rela rela;
	Elf_Data *data;

	while (variable->kind == OTEL_ABSENT &&
	       (section = elf_nextscn(file->elf, section))) {
		if (!gelf_getshdr(section, &sh) || sh.sh_type != SHT_RELA ||
		    !(data = elf_getdata(section, NULL)))
			continue;
		for (int i = 0; variable->kind == OTEL_ABSENT &&
		     gelf_getrela(data, i, &rela); i++)
			relocation_take(file, &sh, &rela, variable);
	}
}

static void otel_headers_read(struct otel_file *file,
			      struct otel_variable *variable)
{
	GElf_Phdr ph;
	size_t count;
	uint64_t block;
	bool code = false;

	if (elf_getphdrnum(file->elf, &count))
		return;
	for (size_t i = 0; i < count && !code; i++) {
		code = gelf_getphdr(file->elf, i, &ph) &&
		       ph.p_type == PT_LOAD && ph.p_flags & PF_X;
		variable->code = ph.p_vaddr - ph.p_offset;
	}
	if (!code)
		return;
	variable->table = file->tls->table;
	variable->header = file->tls->header;
	variable_define(file, SHT_DYNSYM);
	if (elf_program_block(file->elf, file->tls->header, &block)) {
		variable_define(file, SHT_SYMTAB);	/* of a static one */
		if (file->defined) {
			variable->kind = OTEL_PROGRAM;
			variable->distance = block + file->offset;
			return;
		}
	}
	slot_find(file, variable);
}

void otel_variable_read(struct otel_variable *variable, int fd)
{
	const struct processor *cpu = processor_find(MACHINE_OWN);
	struct otel_file file = { 0 };
	GElf_Ehdr eh;

	*variable = (struct otel_variable){ 0 };
	if (!cpu || elf_version(EV_CURRENT) == EV_NONE)
		return;
	file.tls = &cpu->tls;
	file.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (file.elf && elf_kind(file.elf) == ELF_K_ELF &&
	    gelf_getehdr(file.elf, &eh) && eh.e_machine == MACHINE_OWN &&
	    eh.e_ident[EI_CLASS] == ELFCLASS64)
		otel_headers_read(&file, variable);
	elf_end(file.elf);
}

/* Two words of the process; the second may be zero: it is not there. */
static bool otel_words_read(uint32_t pid, uint64_t address, uint64_t words[2])
{
	char path[32];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	words[1] = 0;
	done = pread(fd, words, 16, address) >= 8;
	close(fd);
	return done;
}

/* What no loader has filled in, of a weak variable that no module has, is 0. */
static bool is_distance(const struct otel_variable *variable, uint64_t word)
{
	return variable->header ?
		word >= variable->header && word < DISTANCE_MAX :
		word >= -(uint64_t)DISTANCE_MAX;
}

void otel_place_find(const struct otel_variable *variable, uint32_t pid,
		     uint64_t start, uint64_t offset, struct unwind_otel *place)
{
	uint64_t words[2] = { variable->distance };
	enum otel_kind kind = variable->kind;

	*place = (struct unwind_otel){
		.kind = kind == OTEL_ABSENT ? UNWIND_OTEL_NONE :
					      UNWIND_OTEL_UNKNOWN,
	};
	if (kind == OTEL_ABSENT ||
	    (kind != OTEL_PROGRAM &&
	     !otel_words_read(pid, variable->slot + start - offset - variable->code,
			      words)))
		return;
	if (kind == OTEL_DESCRIPTOR) {
		if (!words[0])
			return;
		words[0] = words[1];
		kind = is_distance(variable, words[0]) ? OTEL_DISTANCE :
							 OTEL_PAIR;
		if (kind == OTEL_PAIR && !otel_words_read(pid, words[0], words))
			return;
	}
	if (kind == OTEL_PAIR && words[0] && words[0] <= MODULES_MAX)
		*place = (struct unwind_otel){
			.kind = UNWIND_OTEL_TABLE, .table = variable->table,
			.entry = words[0] * TABLE_ENTRY, .offset = words[1],
		};
	if (kind != OTEL_PAIR && is_distance(variable, words[0]))
		*place = (struct unwind_otel){
			.kind = UNWIND_OTEL_DISTANCE, .offset = words[0],
		};
}
