// SPDX-License-Identifier: GPL-2.0
/* ELF files made to cost time and memory are read, or refused, at once. */
#include <elf.h>
#include <fcntl.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "tap.h"
#include "lib/debug/module/module_open.h"

#define SECTIONS	20000
#define SEGMENTS	4000
#define BODY		(1 << 20)	/* what all of them share */

struct image {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[SEGMENTS];
	uint8_t body[BODY];
	Elf64_Shdr sh[SECTIONS];
};

static struct image *image;

static void image_set_section(size_t i, uint32_t type, uint32_t link)
{
	image->sh[i] = (Elf64_Shdr) {
		.sh_type = type,
		.sh_offset = offsetof(struct image, body),
		.sh_size = BODY,
		.sh_link = link,
		.sh_entsize = sizeof(Elf64_Sym),
		.sh_addralign = 1,
	};
}

/* One executable segment, nothing else. */
static void image_reset(void)
{
	memset(image, 0, sizeof(*image));
	memcpy(image->eh.e_ident, ELFMAG, SELFMAG);
	image->eh.e_ident[EI_CLASS] = ELFCLASS64;
	image->eh.e_ident[EI_DATA] = ELFDATA2LSB;
	image->eh.e_ident[EI_VERSION] = EV_CURRENT;
	image->eh.e_type = ET_DYN;
	image->eh.e_machine = EM_X86_64;
	image->eh.e_version = EV_CURRENT;
	image->eh.e_ehsize = sizeof(Elf64_Ehdr);
	image->eh.e_phentsize = sizeof(Elf64_Phdr);
	image->eh.e_shentsize = sizeof(Elf64_Shdr);
	image->eh.e_phoff = offsetof(struct image, ph);
	image->eh.e_phnum = 1;
	for (size_t i = 0; i < SEGMENTS; i++)
		image->ph[i] = (Elf64_Phdr) {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = offsetof(struct image, body),
			.p_vaddr = 0x1000,
			.p_filesz = BODY,
			.p_memsz = BODY,
			.p_align = 1,
		};
}

static void image_add_sections(uint32_t type, uint32_t link)
{
	image->eh.e_shoff = offsetof(struct image, sh);
	image->eh.e_shnum = SECTIONS;
	for (size_t i = 1; i < SECTIONS; i++)
		image_set_section(i, type, link);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* Open it as trcust does; `good`: nothing is wrong with it. */
static void check(const char *what, bool good)
{
	char path[] = "/tmp/rastrace.XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);
	struct error err = {0};
	struct module *module;
	double took;
	int code;

	if (fd < 0 || write(fd, image, sizeof(*image)) != sizeof(*image))
		tap_bail("cannot write '%s'", path);
	took = now();
	code = module_open(&module, path, path, TDF_MODULE_USER, &err);
	took = now() - took;
	if (!tap_ok(good == !code, "%s: %s", what, good ? "read" : "refused"))
		tap_diag("%d: %s", code, err.text);
	if (!tap_ok(took < 1, "%s: at once", what))
		tap_diag("%.1f s", took);
	module_close(module);
	close(fd);
	unlink(path);
}

int main(void)
{
	image = malloc(sizeof(*image));
	if (!image)
		tap_bail("out of memory");
	tap_limit_memory(1 << 30);

	image_reset();
	check("a segment only", true);
	image_add_sections(SHT_SYMTAB, 2);
	check("many symbol tables", true);
	image_add_sections(SHT_DYNSYM, 2);
	check("many dynamic symbol tables", true);
	image_add_sections(SHT_RELA, 1);
	image_set_section(1, SHT_DYNSYM, 2);
	check("many relocation tables", true);
	image_add_sections(SHT_GNU_versym, 1);
	image_set_section(1, SHT_DYNSYM, 2);
	check("many version tables", true);
	image_add_sections(SHT_NOTE, 0);
	check("many notes", true);

	/* Each name is as long as the file. */
	image_add_sections(SHT_NULL, 0);
	memset(image->body, 1, BODY - 1);
	image_set_section(1, SHT_SYMTAB, 2);
	image_set_section(2, SHT_STRTAB, 0);
	check("long names", true);

	image_reset();
	image->eh.e_phnum = SEGMENTS;
	check("overlapping segments", false);
	for (size_t i = 1; i < SEGMENTS; i++)
		image->ph[i].p_type = PT_NOTE;
	check("overlapping notes", true);
	image_add_sections(SHT_PROGBITS, 0);
	for (size_t i = 0; i < SECTIONS; i++)
		image->sh[i].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	check("many sections of code", false);
	free(image);
	return tap_done();
}
