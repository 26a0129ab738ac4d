// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of an allocator are found by their names, with a prefix, each
 * place once, and probed where it is cheap; what is found becomes a TDF. They are
 * in this program, and begin as they are written here.
 */
#include <fcntl.h>
#include <unistd.h>
#include "tap.h"
#include "heapmon/record/allocator.h"
#include "heapmon/record/points.h"
#include "lib/formats/tdf.h"
#include "lib/formats/tff.h"

#if defined(__aarch64__)
#define TYPE	",%function"
#else
#define TYPE	",@function"
#endif
#define FUNCTION(name, code) \
	asm(".pushsection .text\n.globl px_" name "\n.type px_" name \
	    TYPE "\npx_" name ":\n" code "\nret\n.popsection")
#define ALIAS(name, of) \
	asm(".globl px_" name "\n.type px_" name TYPE "\n.set px_" name \
	    ", px_" of)

struct expected {
	const char *symbol;
	enum heap_function function;
	uint32_t skip;
	bool fast;
	unsigned int sites;
};

#if defined(__x86_64__)

FUNCTION("malloc", "push %rbx\npop %rbx");
FUNCTION("calloc", "endbr64\npush %rbp\npop %rbp");
FUNCTION("realloc", "mov %rdi,%rax");
FUNCTION("free", "test %rdi,%rdi\nje 1f\npush %r12\npop %r12\n1:");
ALIAS("cfree", "free");
FUNCTION("free_sized", "endbr64\ntest %rdi,%rdi\n.byte 0x0f,0x84,1,0,0,0\n"
	 "push %rbp\npop %rbp");
ALIAS("_ZdlPvm", "free_sized");
FUNCTION("_ZdaPv", "test %rdi,%rdi\nje 1f\nmov %rdi,%rax\n1:");
FUNCTION("strdup", "jmp px_malloc");
FUNCTION("_Znwm", "jmp px_malloc");
FUNCTION("valloc", "vzeroupper");
FUNCTION("memalign", "lock incl (%rdi)");
FUNCTION("posix_memalign", "nop");
FUNCTION("mmap", "nop");

#define EXPECTED	9
static const struct expected expected[EXPECTED] = {
	{ "malloc", HEAP_FUNCTION_MALLOC, 0, true, 2 },
	{ "calloc", HEAP_FUNCTION_CALLOC, 4, true, 2 },
	{ "realloc", HEAP_FUNCTION_REALLOC, 0, false, 2 },
	{ "free or cfree", HEAP_FUNCTION_FREE, 5, true, 1 },
	{ "posix_memalign", HEAP_FUNCTION_POSIX_MEMALIGN, 0, true, 2 },
	{ "free_sized or delete", HEAP_FUNCTION_RELEASE_ANY, 13, true, 1 },
	{ "new", HEAP_FUNCTION_NEW, 0, true, 1 },
	{ "delete[]", HEAP_FUNCTION_DELETE_ARRAY, 0, false, 1 },
	{ "strdup", HEAP_FUNCTION_STRDUP, 0, true, 1 },
};

#else

/* What the kernel simulates is fast; a landing pad in front of it is left out. */
FUNCTION("malloc", "cbz x0, 1f\n1:");
FUNCTION("calloc", ".inst 0xd503245f\nadrp x2, px_malloc"); /* bti c */
FUNCTION("realloc", "mov x2, x0");
FUNCTION("free", "cbz x0, 1f\nmov x2, x0\n1:");
ALIAS("cfree", "free");
FUNCTION("free_sized", ".inst 0xd503233f\ncbz x0, 1f\n1:"); /* paciasp */
ALIAS("_ZdlPvm", "free_sized");
FUNCTION("_ZdaPv", ".inst 0xd503245f\nstp x29, x30, [sp, #-16]!");
FUNCTION("strdup", "b px_malloc");
FUNCTION("_Znwm", "b px_malloc");
FUNCTION("valloc", "ldxr x2, [x0]");
FUNCTION("memalign", "svc #0");
FUNCTION("posix_memalign", "nop");
FUNCTION("aligned_alloc", "prfm pldl1keep, px_malloc");
FUNCTION("pvalloc", "ldr q0, px_malloc");
FUNCTION("mmap", "nop");

#define EXPECTED	9
static const struct expected expected[EXPECTED] = {
	{ "malloc", HEAP_FUNCTION_MALLOC, 0, true, 2 },
	{ "calloc", HEAP_FUNCTION_CALLOC, 4, true, 2 },
	{ "realloc", HEAP_FUNCTION_REALLOC, 0, false, 2 },
	{ "free or cfree", HEAP_FUNCTION_FREE, 0, true, 1 },
	{ "posix_memalign", HEAP_FUNCTION_POSIX_MEMALIGN, 0, false, 2 },
	{ "free_sized or delete", HEAP_FUNCTION_RELEASE_ANY, 0, false, 1 },
	{ "new", HEAP_FUNCTION_NEW, 0, true, 1 },
	{ "delete[]", HEAP_FUNCTION_DELETE_ARRAY, 0, false, 1 },
	{ "strdup", HEAP_FUNCTION_STRDUP, 0, true, 1 },
};

#endif

static struct allocator_file file = { .path = "/proc/self/exe" };

static void check_places(void)
{
	tap_ok(file.count == EXPECTED, "%zu functions of %d", file.count,
	       EXPECTED);
	for (size_t i = 0; i < EXPECTED; i++) {
		const struct allocator_place *place = NULL;

		for (size_t k = 0; k < file.count; k++)
			if (file.places[k].function == expected[i].function)
				place = &file.places[k];
		tap_ok(place && place->skip == expected[i].skip &&
		       place->fast == expected[i].fast,
		       "%s: after %u bytes, %s", expected[i].symbol,
		       place ? place->skip : 99,
		       place && place->fast ? "fast" : "slow");
	}
}

static void check_point(const struct tdf *tdf, size_t i)
{
	const struct tdf_point *point = &tdf->points[i];
	const struct tdf_site *site = &tdf->sites[point->first_site];
	bool release = point->flags & TDF_POINT_RELEASE, matches = false;

	for (size_t k = 0; k < EXPECTED; k++)
		if (expected[k].function == point->minor)
			matches = point->sites == expected[k].sites;
	tap_ok(matches, "minor %u: %u sites", point->minor, point->sites);
	tap_ok(release ? !site->flags : site->flags == TDF_SITE_CALL,
	       "minor %u: it is probed where it begins", point->minor);
	tap_ok(site->offset == file.places[i].offset + file.places[i].skip &&
	       site->symbol_offset == file.places[i].skip,
	       "minor %u: its place", point->minor);
}

static bool tff_has(const struct tff *tff, uint16_t minor, uint64_t hash)
{
	for (uint32_t i = 0; i < tff->header->entries.count; i++)
		if (tff->entries[i].minor == minor &&
		    tff->entries[i].hash == hash)
			return true;
	return false;
}

static void check_files(unsigned int depth, bool types)
{
	const struct points_want want = { .depth = depth, .types = types };
	void *data, *format;
	struct tdf *tdf = NULL;
	struct tff *tff = NULL;
	struct error err = { 0 };
	size_t size;
	bool all = true;

	if (!points_make_tdf(&file, &want, &data, &size, &err)) {
		tdf_parse(&tdf, data, size, "test", &err);
		free(data);
	}
	if (!points_make_tff(&want, &format, &size, &err)) {
		tff_parse(&tff, format, size, "test", &err);
		free(format);
	}
	tap_ok(tdf && tff, "TDF and TFF of depth %u%s are valid: %s", depth,
	       types ? ", with types" : "", err.text);
	if (!tdf || !tff)
		return;
	for (uint32_t i = 0; i < tdf->header->points.count; i++) {
		all &= tff_has(tff, tdf->points[i].minor, tdf->points[i].hash);
		if (depth)
			check_point(tdf, i);
	}
	tap_ok(all, "the TFF has what the TDF records");
	tdf_close(tdf);
	tff_close(tff);
}

int main(void)
{
	struct allocator_want want = { .prefix = "px_" };

	file.fd = open(file.path, O_RDONLY);
	tap_ok(!allocator_file_read(&file, &want), "this program is read");
	check_places();
	check_files(16, true);
	check_files(0, false);
	free(file.places);
	return tap_done();
}

