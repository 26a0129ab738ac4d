// SPDX-License-Identifier: GPL-2.0
/*
 * make_symbols FOLDER PROGRAM PATH [OTHER]: writes symbols.ras and its TFF, of
 * records whose addresses lie in PROGRAM, which the trace knows as PATH. Standard
 * input has the addresses, as nm prints them; each record has one, and a stack of
 * it and the one before. OTHER: with another build-id. Of an AArch64 program the
 * trace is of that machine, and the addresses are signed and tagged.
 */
#include <elf.h>
#include <inttypes.h>
#include "lib/hash.c"
#include "builder.h"

#define SECOND	1000000000ULL
#define START	1770163190LL
#define BIAS	0x555555554000ULL
#define MAJOR	0xcd

static uint16_t machine;	/* the program's */

static const struct ras_session_point points[] = {
	{ .hash = 1, .minor = 1 },
};

static void fail(const char *what)
{
	fprintf(stderr, "make_symbols: %s\n", what);
	exit(1);
}

static void read_at(FILE *file, void *data, size_t n, long at)
{
	if (fseek(file, at, SEEK_SET) || fread(data, n, 1, file) != 1)
		fail("cannot read the program");
}

/* The build-id, by its note's place. */
static void id_read(FILE *file, const Elf64_Phdr *ph, struct ras_mapping *map)
{
	uint8_t notes[1024];
	size_t n = ph->p_filesz < sizeof(notes) ? ph->p_filesz : sizeof(notes);

	read_at(file, notes, n, ph->p_offset);
	for (size_t at = 0; at + 36 <= n; at += 4) {
		if (memcmp(notes + at, "\4\0\0\0\x14\0\0\0\3\0\0\0GNU", 16))
			continue;
		map->id_kind = TDF_ID_BUILD;
		map->id_length = 20;
		memcpy(map->id, notes + at + 16, 20);
	}
}

static void mapping_read(const char *program, struct ras_mapping *map)
{
	FILE *file = fopen(program, "r");
	Elf64_Ehdr head;
	Elf64_Phdr ph;

	if (!file)
		fail("cannot open the program");
	read_at(file, &head, sizeof(head), 0);
	machine = head.e_machine;
	for (unsigned int i = 0; i < head.e_phnum; i++) {
		read_at(file, &ph, sizeof(ph), head.e_phoff + i * sizeof(ph));
		if (ph.p_type == PT_NOTE)
			id_read(file, &ph, map);
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		map->start = BIAS + (ph.p_vaddr & ~0xfffULL);
		map->end = (BIAS + ph.p_vaddr + ph.p_memsz + 0xfff) & ~0xfffULL;
		map->offset = ph.p_offset & ~0xfffULL;
	}
	fclose(file);
	if (!map->id_length || !map->start)
		fail("a program without build-id or code");
}

/* Pointer authentication's bits; others' every second time, with a tag. */
static uint64_t address_sign(uint64_t address, unsigned int n)
{
	if (machine != EM_AARCH64)
		return address;
	return address | (n % 2 ? 0x0055ULL << 48 : 0xa52aULL << 48);
}

static void record_add(struct slice_builder *slice, unsigned int n,
		       uint64_t address, uint64_t before)
{
	struct ras_record record = {
		.session = 1, .major = MAJOR, .minor = 1, .seq = n,
		.time = n * SECOND, .pid = 38, .tid = 39,
	};
	uint64_t frames[] = { before, address };
	struct bytes data = { 0 };

	bytes_add(&data, &address, sizeof(address));
	data_stack(&data, RAS_STACK_OUTERMOST, 0, frames, 2);
	slice_add(slice, record, &data);
	bytes_free(&data);
}

int main(int argc, char **argv)
{
	struct tff_builder tff = { .major = MAJOR };
	struct slice_builder slice = slice_begin(0, 0, 0);
	struct bytes ras = { 0 }, log = { 0 }, out;
	struct ras_mapping map = { 0 };
	uint64_t address, before = 0x1234;
	unsigned int n = 0;

	if (argc < 4)
		fail("usage: make_symbols FOLDER PROGRAM PATH [OTHER]");
	mapping_read(argv[2], &map);
	snprintf(map.path, sizeof(map.path), "%s", argv[3]);
	map.id[0] ^= argc > 4;
	tff_section_begin(&tff, "/usr/bin/app", 1);
	tff_entry_add(&tff, 1, 1, 0, "an address",
		      "at=%{sym}\nstack=%P%{stack}\n");
	out = tff_finish(&tff);
	bytes_write(&out, argv[1], "TRC00CD.TFF");
	ras_begin(&ras, 100 * SECOND, START * (int64_t)SECOND);
	((struct ras_file *)ras.data)->machine = machine;
	ras_header_seal(&ras);
	session_add(&log, 1, MAJOR, "/nowhere/app.tdf", points, 1);
	ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &log);
	ras_maps_add(&ras, 38, "named", &map, 1);
	while (scanf("%" SCNx64 "%*[^\n]", &address) == 1) {
		address = address_sign(BIAS + address, n);
		record_add(&slice, n++, address, before);
		before = address;
	}
	ras_slice_add(&ras, &slice);
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	return bytes_write(&ras, argv[1], "symbols.ras");
}
