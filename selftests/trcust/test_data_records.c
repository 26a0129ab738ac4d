// SPDX-License-Identifier: GPL-2.0
/*
 * Data statements log what they mean: a TSF is compiled against data/records.c,
 * and the statements are computed by the interpreter over the loaded module's
 * own memory, with registers and segments that are given here.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "bpf/interpret.h"
#include "machine.h"
#include "tap.h"
#include "trcust/compile/compile.h"
#include "trcust/tsf/parse_point.h"

#define LOOK		"TP=.look+0, "
#define PAIR		"TP=.look_pair+0, "
#define AREA		0x10000		/* of a segment */
#define SELECTOR_STACK	0x17
#define SELECTOR_FAR	0x4f

/* A value and a string as items: length, bytes. */
#define V(n, data)	"\0" n "\0" data
#define S(n, data)	"\1" n "\0" data
#define X(record)	record, sizeof(record) - 1

enum { BOTH, ONLY64, ONLY32 };

static const struct row {
	int where;
	const char *stmts;
	const char *record;
	size_t size;
} rows[] = {
	/* symbols, displacements, chains */
	{ BOTH, LOOK "MEM32=(.first,DIRECT,2)", X(V("\2", "\10\0")) },
	{ BOTH, LOOK "MEM32=(.first+2,D,5)", X(V("\5", "first")) },
	{ BOTH, LOOK "MEM32=(.first+0x4-2,D,5)", X(V("\5", "first")) },
	{ BOTH, LOOK "MEM32=(.text+08-3,D,4)", X(V("\4", "text")) },
	{ BOTH, LOOK "MEM32=(.hidden,D,4)", X(V("\4", "\4\3\2\1")) },
	{ BOTH, LOOK "MEM32=(.rec_ptr,INDIRECT,2)", X(V("\2", "\10\0")) },
	{ BOTH, LOOK "MEM32=(.rec_ptr,I*+2,3)", X(V("\3", "fir")) },
	{ BOTH, LOOK "MEM32=(.rec_ptr+(2),I,3)", X(V("\3", "fir")) },
	{ BOTH, LOOK "MEM32=(.rec_ptr-(0x2),I*+4,3)", X(V("\3", "fir")) },
	{ BOTH, LOOK "MEM32=(.rec_ptr,I*+8*,2)", X(V("\2", "\6\0")) },
	{ BOTH, LOOK "MEM32=(.rec_ptr_ptr,I**+8*+2,4)", X(V("\4", "last")) },
	{ BOTH, LOOK "MEM64=(.rec_ptr_ptr+(2),I**+8*,4)",
	  X(V("\4", "last")) },
	{ BOTH, LOOK "ASCIIZ32=(.text,D,20)", X(S("\11", "some text")) },
	{ BOTH, LOOK "ASCIIZ32=(.string,I,20)", X(S("\11", "some text")) },
	{ BOTH, LOOK "ASCIIZ32=(.string,I*+5,2)", X("\21\2\0te") },
	{ BOTH, LOOK "ASCIIZ32=(.records.c:hidden,D,1)", X("\21\1\0\4") },

	/* flat registers */
	{ BOTH, LOOK "MEM32=(FEBP,D,4)", X(V("\4", "area")) },
	{ BOTH, LOOK "MEM32=(FEBP+ECX+2,D,4)", X(V("\4", "memo")) },
	{ BOTH, LOOK "MEM32=(FEBP-ECX+EDI-EDI+8,D,4)", X(V("\4", "memo")) },
	{ BOTH, LOOK "MEM32=(FECX+EBP+2,D,4)", X(V("\4", "memo")) },
	{ ONLY64, LOOK "MEM32=(FRBP+RCX+2,D,4)", X(V("\4", "memo")) },
	{ BOTH, LOOK "MEM32=(FEBP+16,I,4)", X(V("\4", "area")) },
	{ BOTH, LOOK "MEM32=(FEBP+16,I*+16*+5,4)", X(V("\4", "memo")) },
	{ BOTH, LOOK "ASCIIZ32=(FEBP+ECX+2,D,6)",
	  X(S("\6", "memory")) },

	/* LEN */
	{ BOTH, LOOK "LEN=(first,DIRECT), MEM32=(.first,DIRECT,LEN)",
	  X(V("\10", "\10\0first\0")) },
	{ BOTH, LOOK "LEN=(.count,D), MEM32=(.text,D,LEN)",
	  X(V("\5", "some ")) },
	{ BOTH, LOOK "LEN=(.small,D), MEM32=(.text,D,LEN)",
	  X(V("\3", "so" "m")) },
	{ BOTH, LOOK "LEN=(.wide,D), MEM32=(.text,D,LEN)",
	  X(V("\4", "some")) },
	{ BOTH, LOOK "LEN=(.bytes,D), MEM32=(.text,D,LEN)",
	  X(V("\4", "some")) },
	{ BOTH, LOOK "LEN=(.bytes,D,1), MEM32=(.text,D,LEN)",
	  X(V("\4", "some")) },
	{ BOTH, LOOK "LEN=(rec_ptr,I*+8*), MEM32=(.text,D,LEN)",
	  X(V("\6", "some t")) },
	{ BOTH, LOOK "LEN=(rec_ptr+(0),I), MEM32=(.rec_ptr,I,LEN)",
	  X(V("\10", "\10\0first\0")) },
	{ BOTH, LOOK "LEN=(FEBP+12,D), MEM32=(FEBP,D,LEN)",
	  X(V("\3", "are")) },

	/* registers */
	{ BOTH, LOOK "REGS=(ECX,CX,CS)", X("\3\0\0\0\3\0\x23\0") },
	{ ONLY64, LOOK "REGS=(RDX,CX)", X("\1\0\0\0\xff\xff\xff\xff\3\0") },

	/* variables that registers hold */
	{ BOTH, LOOK "REGS=(.n)", X("\4\3\2\x81") },
	{ BOTH, LOOK "REGS=(.c,.n,.count,.small)",
	  X("\3\4\3\2\x81\5\0\0\0\3") },
	{ BOTH, LOOK "MEM32=(.n,D,4)", X(V("\4", "\4\3\2\x81")) },
	{ BOTH, LOOK "MEM32=(.n+1,D,2)", X(V("\2", "\3\2")) },
	{ BOTH, LOOK "MEM32=(.rec,I*+2,5)", X(V("\5", "first")) },
	{ BOTH, LOOK "MEM32=(.rec,I*+8*+2,4)", X(V("\4", "last")) },
	{ BOTH, LOOK "LEN=(.c,D), MEM32=(.rec,I*+2,LEN)",
	  X(V("\3", "fir")) },
	{ BOTH, LOOK "LEN=(.rec,I), MEM32=(.rec,I,LEN)",
	  X(V("\10", "\10\0first\0")) },
	{ ONLY64, PAIR "MEM32=(.pair+8,D,8)",
	  X(V("\10", "\4\3\2\x81\5\6\7\x88")) },
	{ ONLY64, PAIR "MEM32=(.pair+6,D,5)", X(V("\5", "\0\0\4\3\2")) },
	{ ONLY64, PAIR "REGS=(.pair), MEM32=(.pair,I*+2,3)",
	  X("REC-PTR.\4\3\2\x81\5\6\7\x88" V("\3", "fir")) },

	/* far addresses */
	{ BOTH, LOOK "MEM=(RSS+SP,DIRECT,4)",
	  X(V("\4", "\x20\0\x4f\0")) },
	{ BOTH, LOOK "MEM=(RSS,D,4)", X(V("\4", "base")) },
	{ BOTH, LOOK "MEM=(RSS+0x40,D,4)", X(V("\4", "skip")) },
	{ BOTH, LOOK "MEM=(RSS+SP-SP,D,4)", X(V("\4", "base")) },
	{ BOTH, LOOK "MEM=(RSS-SP+16,D,4)", X(V("\4", "base")) },
	{ BOTH, LOOK "MEM=(RSS+SP-0x20,D,3)", X(V("\3", "end")) },
	{ BOTH, LOOK "MEM=(RSS+SP,INDIRECT,4)", X(V("\4", "far:")) },
	{ BOTH, LOOK "MEM=(RSS+SP,I*-0x28,3)", X(V("\3", "top")) },
	{ BOTH, LOOK "MEM=(RSS+SP+(4),I,3)", X(V("\3", "str")) },
	{ BOTH, LOOK "MEM=(RSS+SP,I*+0x10*+4,3)", X(V("\3", "str")) },
	{ BOTH, LOOK "ASCIIZ=(RSS+SP,I,9)", X(S("\7", "far:str")) },
	{ BOTH, LOOK "MEM=(RSS+SP+0x20,IF,4)", X(V("\4", "area")) },
	{ BOTH, LOOK "MEM=(RSS+SP,IF*+0x20*+5,4)", X(V("\4", "memo")) },
	{ BOTH, LOOK "LEN=(RSS+SP+0x28,D), MEM=(RSS+SP,I,LEN)",
	  X(V("\5", "far:s")) },
	{ BOTH, LOOK "LEN=(RSS+SP,I*+0x18), MEM=(RSS+SP,I,LEN)",
	  X(V("\6", "far:st")) },
	{ BOTH, LOOK "MEM=(.text,D,4)", X(V("\4", "some")) },
	{ BOTH, LOOK "MEM=(.far_ptr,I,4)", X(V("\4", "far:")) },
	{ BOTH, LOOK "MEM=(.far_ptr,I*+0x10*,4)", X(V("\4", "far:")) },
	{ BOTH, LOOK "MEM32=(.far_ptr,IS,4)", X(V("\4", "far:")) },
	{ BOTH, LOOK "MEM32=(.far_ptr_ptr,IS**,4)", X(V("\4", "far:")) },
	{ BOTH, LOOK "ASCIIZ32=(.far_ptr_ptr+(4),IS**,9)",
	  X(S("\3", "str")) },
	{ BOTH, LOOK "ASCIIZ=(.string,IF,20)", X(S("\11", "some text")) },
	{ BOTH, LOOK "LEN=(far_ptr,I*+0x18), MEM=(.far_ptr,I,LEN)",
	  X(V("\6", "far:st")) },
};

struct image {
	const char *name;
	bool is32;
	uint64_t bias;
	char path[512];
	struct module *module;
	struct dwarf_file *dwarf;
};

static struct image image;
static struct pt_regs regs;
static struct segment segments[2];
static uint8_t *area;		/* what EBP points at; below 4 GiB */

/* Address of a symbol of the module as it is loaded. */
static uint64_t symbol_address(const char *name)
{
	const struct module_symbol *symbol;
	bool others;

	symbol = module_symbol_find(image.module, name, MODULE_DATA, &others);
	if (!symbol)
		tap_bail("%s has no symbol '%s'", image.path, name);
	return symbol->address + image.bias;
}

static void put32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void put_address(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, image.is32 ? 4 : 8);
}

/* Two segments after the area; far pointers are offset, selector. */
static void segments_fill(void)
{
	uint8_t *stack = area + AREA, *far = stack + AREA;

	segments[0] = (struct segment){ SELECTOR_STACK, (uintptr_t)stack,
					AREA - 1 };
	segments[1] = (struct segment){ SELECTOR_FAR, (uintptr_t)far,
					AREA - 1 };
	memcpy(stack, "base", 4);
	put32(stack + 0x10, SELECTOR_FAR << 16 | 0x20);
	memcpy(stack + 0x40, "skip", 4);
	put_address(stack + 0x30, (uintptr_t)area);
	stack[0x38] = 5;
	memcpy(stack + 0xfff0, "end", 3);
	memcpy(far + 0x20, "far:str", 8);
	put32(far + 0x30, SELECTOR_FAR << 16 | 0x20);
	far[0x38] = 6;
	put_address(far + 0x40, (uintptr_t)area);
	memcpy(far + 0xfff8, "top", 3);
}

static void registers_fill(void)
{
	uint8_t *stack = area + AREA;

	memset(area, 0, 3 * AREA);
	memcpy(area, "area memory", 11);
	area[12] = 3;
	put_address(area + 16, (uintptr_t)area);
	segments_fill();
	regs = (struct pt_regs){
		.rbp = (uintptr_t)area, .rcx = 3, .cs = 0x23,
		.rsp = (uintptr_t)stack + 0x10, .ss = SELECTOR_STACK,
		.rdx = 0xffffffff00000001,
	};
	/* the arguments */
	if (!image.is32) {
		regs.rdi = symbol_address("first");
		regs.rsi = 0x8807060581020304;
		return;
	}
	put32(stack + 0x14, symbol_address("first"));
	put32(stack + 0x18, 0x81020304);
	stack[0x20] = 3;
}

/* Where the bytes of a variable replace an address. */
static void record_patch(uint8_t *record, size_t size)
{
	uint64_t first = symbol_address("first");
	uint8_t *at = memmem(record, size, "REC-PTR.", 8);

	if (at)
		memcpy(at, &first, 8);
}

static bool record_check(const struct compilation *c,
			 const struct compiled *compiled, const struct row *row)
{
	struct interpreter in = {
		.regs = &regs, .is32 = image.is32, .bias = image.bias,
		.segments = segments, .segment_count = 2,
	};
	const struct compile_site *site = compiled->points[0].sites;
	struct tdf_site out = { .stmts = site->stmts };
	uint8_t expected[RAS_RECORD_MAX];
	struct tdf_point point = {0};
	struct expected x;

	registers_fill();
	memcpy(expected, row->record, row->size);
	record_patch(expected, row->size);
	interpret_record(&x, &in, &point, &out, compiled->stmts + site->first_stmt,
			 compiled->rpn.data, c->tsf->maxdata);
	if (x.length == row->size && !memcmp(x.data, expected, row->size))
		return true;
	for (size_t i = 0; i < x.length || i < row->size; i++)
		tap_diag("%2zu: got %02x, expected %02x", i,
			 i < x.length ? x.data[i] : 0,
			 i < row->size ? expected[i] : 0);
	return false;
}

/* What the item says of the record is so. */
static bool items_check(const struct compiled *c, const struct row *row)
{
	size_t bytes = 0;
	bool variable = false;

	for (size_t i = 0; i < c->points[0].item_count; i++) {
		const struct compile_item *item = &c->points[0].items[i];

		bytes += item->bytes + (item->raw ? 0 : RAS_ITEM_PREFIX);
		variable |= item->variable;
	}
	return variable ? bytes >= row->size : bytes == row->size;
}

static void row_check(const struct row *row)
{
	struct compilation c = { .module = image.module,
				 .dwarf = image.dwarf };
	struct compiled compiled = { 0 };
	char text[512];
	struct tsf *tsf = NULL;
	bool good;

	snprintf(text, sizeof(text), "MODNAME=x\nMAXDATALENGTH=64\n"
				     "TRACE MINOR=1, %s\n", row->stmts);
	if (diag_open_text(&c.diag, "tsf", text, strlen(text), 1, stdout))
		tap_bail("no memory");
	good = !tsf_parse(&tsf, c.diag, NULL, NULL);
	c.tsf = tsf;
	good = good && !compile_points(&c, &compiled) &&
	       compiled.point_count == 1;
	tap_ok(good && record_check(&c, &compiled, row) &&
		       items_check(&compiled, row),
	       "%s: %s", image.name, row->stmts);
	compile_free(&c, &compiled);
	tsf_free(tsf);
	diag_close(c.diag);
}

static bool compile_image(const char *directory, const char *compiler)
{
	const char *top = getenv("TOP");
	char command[2048];

	snprintf(image.path, sizeof(image.path), "%s/%s", directory,
		 image.name);
	for (char *p = image.path; *p; p++)
		*p = *p == ' ' ? '-' : *p;
	snprintf(command, sizeof(command),
		 "%s -g -O2 -nostdlib -o %s %s/selftests/trcust/data/records.c "
		 "2>%s/log", compiler, image.path, top ? top : "../..",
		 directory);
	return !system(command);
}

/* The loader relocates it and finds a place for it. */
static void load_shared(void)
{
	void *handle = dlopen(image.path, RTLD_NOW);
	struct link_map *map;

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map))
		tap_bail("%s: %s", image.path, dlerror());
	image.bias = map->l_addr;
}

/* A program that is linked to where it lies; nothing in it is relocated. */
static void load_fixed(void)
{
	int fd = open(image.path, O_RDONLY);
	Elf32_Ehdr eh;
	Elf32_Phdr ph;

	if (fd < 0 || pread(fd, &eh, sizeof(eh), 0) != sizeof(eh))
		tap_bail("%s can't be read", image.path);
	for (int i = 0; i < eh.e_phnum; i++) {
		uint32_t start, length;

		if (pread(fd, &ph, sizeof(ph), eh.e_phoff + i * sizeof(ph)) !=
		    sizeof(ph))
			tap_bail("%s can't be read", image.path);
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_W))
			continue;
		start = ph.p_vaddr & -4096;
		length = ph.p_vaddr + ph.p_memsz - start;
		if (mmap((void *)(uintptr_t)start, length,
			 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
			 MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED ||
		    pread(fd, (void *)(uintptr_t)ph.p_vaddr, ph.p_filesz,
			  ph.p_offset) != (ssize_t)ph.p_filesz)
			tap_bail("%s can't be loaded", image.path);
	}
	close(fd);
}

static void image_check(const char *directory, const char *name,
			const char *compiler, bool is32)
{
	struct dwarf_search search = {0};
	struct error err;

	image = (struct image){ .name = name, .is32 = is32 };
	if (!compile_image(directory, compiler)) {
		tap_skip(name, "the compiler doesn't make it");
		return;
	}
	if (module_open(&image.module, image.path, image.path, TDF_MODULE_USER,
			&err) ||
	    dwarf_file_open(&image.dwarf, image.module, image.path, &search,
			    &err))
		tap_bail("%s: %s", image.path, err.text);
	if (is32)
		load_fixed();
	else
		load_shared();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].where == BOTH ||
		    rows[i].where == (is32 ? ONLY32 : ONLY64))
			row_check(&rows[i]);
	dwarf_file_close(image.dwarf);
	module_close(image.module);
}

/* Far pointers and E-registers reach it: it lies below 4 GiB. */
static void area_map(void)
{
	uintptr_t at = (uintptr_t)machine_map_low(4 * AREA);

	if (at == (uintptr_t)MAP_FAILED)
		tap_bail("no memory below 4 GiB");
	area = (uint8_t *)((at + AREA - 1) & -AREA);
}

int main(void)
{
	char directory[] = "/tmp/rastrace.XXXXXX", command[128];

	if (!mkdtemp(directory))
		tap_bail("no directory");
	area_map();
	image_check(directory, "gcc", "gcc -shared -fPIC", false);
	image_check(directory, "gcc DWARF 4", "gcc -shared -fPIC -gdwarf-4",
		    false);
	image_check(directory, "clang", "clang -shared -fPIC", false);
	image_check(directory, "gcc 32", "gcc -m32 -static -no-pie -fno-pic "
		    "-Wl,-e,look -Wl,-Ttext-segment=0x51000000", true);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command) ? 1 : tap_done();
}
