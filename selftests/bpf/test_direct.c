// SPDX-License-Identifier: GPL-2.0
/*
 * Direct reads yield the bytes that are there, and leave to the helper what they
 * can't see, or may not.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include "direct_bed.h"

#define PAGE		4096
#define PAGES		8
#define LARGE		(2 << 20)
#define DIRECT_MOST	64

/* What the programs and we share, in words */
enum { AT_ADDRESS, AT_RESULT, AT_FIRST, AT_COUNT, AT_DATA = 16, AT_END = 64 };
#define BYTES_AT(word)	(8 * (word))

static struct direct_bed bed;

struct shape {
	uint32_t bytes;		/* read, or of a string at most */
	bool string, twice;	/* twice: first at AT_FIRST, then at AT_ADDRESS */
	bool counted;		/* as many as AT_COUNT has, at most `bytes` */
};

static void read_generate(struct gen *gen, const struct shape *shape, int map,
			  int at, code_label slow)
{
	struct direct_to to = { .base = map, .off = BYTES_AT(AT_DATA) };
	int address = code_temp_new(gen->c), count = code_temp_new(gen->c);

	code_load(gen->c, 8, address, map, BYTES_AT(at));
	code_load(gen->c, 8, count, map, BYTES_AT(AT_COUNT));
	if (shape->counted)
		direct_counted(gen, &to, shape->bytes, count, address, slow);
	else if (shape->string)
		direct_string(gen, &to, shape->bytes, address, slow);
	else
		direct_read(gen, &to, shape->bytes, address, slow);
}

/* AT_RESULT = 1, or a string's bytes; 0: it was left to the helper */
static int program_make(const struct shape *shape)
{
	struct gen_shared shared = { 0 };
	struct code code;
	struct gen gen = {
		.plan = &bed.plan, .c = &code, .shared = &shared,
		.version = VERSION_ONLY,
	};
	code_label slow;

	code_begin(&code);
	slow = code_label_new(&code);
	code_map_value(&code, CONTEXT, bed.map_fd, 0);
	code_store_imm(&code, 8, CONTEXT, BYTES_AT(AT_RESULT), 0);
	direct_bed_begin(&bed, &gen);
	if (shape->twice)
		read_generate(&gen, shape, CONTEXT, AT_FIRST, slow);
	read_generate(&gen, shape, CONTEXT, AT_ADDRESS, slow);
	if (!shape->string)
		code_const(&code, R0, 1);
	code_store(&code, 8, CONTEXT, BYTES_AT(AT_RESULT), R0);
	code_label_place(&code, slow);
	code_const(&code, R0, 0);
	code_exit(&code);
	return direct_bed_load(&code);
}

static uint64_t run_at(int program, const void *address)
{
	bed.map[AT_ADDRESS] = (uintptr_t)address;
	memset((void *)(bed.map + AT_DATA), 0xee,
	       BYTES_AT(AT_END - AT_DATA));
	if (direct_bed_run(program, 1) < 0)
		tap_bail("a test run fails: %s", strerror(errno));
	return bed.map[AT_RESULT];
}

static uint8_t *pages_make(size_t bytes, int protection)
{
	uint8_t *pages = mmap(NULL, bytes, protection,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	madvise(pages, bytes, MADV_NOHUGEPAGE);
	return pages;
}

static void random_fill(uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = random() | 1;
}

/* Is it what is read at the address, and nothing more is written? */
static bool reads_right(int program, uint32_t bytes, const uint8_t *address)
{
	const uint8_t *data = (const void *)(bed.map + AT_DATA);

	return run_at(program, address) == 1 && !memcmp(data, address, bytes) &&
	       data[bytes] == 0xee;
}

static void sizes(const uint8_t *page)
{
	unsigned int wrong = 0, crossed = 0;

	for (uint32_t bytes = 1; bytes <= DIRECT_MOST; bytes++) {
		int program = program_make(&(struct shape){ .bytes = bytes });

		for (int i = 0; i < 20; i++)
			wrong += !reads_right(program, bytes, page + random() %
					      (PAGE - bytes + 1));
		wrong += !reads_right(program, bytes, page + PAGE - bytes);
		if (bytes > 1)
			crossed += run_at(program, page + PAGE - bytes + 1);
		close(program);
	}
	tap_is(wrong, 0, "sizes up to %d bytes at any place of a page",
	       DIRECT_MOST);
	tap_is(crossed, 0, "what goes on in the next page is left");
}

/* In words: the last one is of the same page, and no more is written. */
static void counts(const uint8_t *page)
{
	const uint8_t *data = (const void *)(bed.map + AT_DATA);
	unsigned int wrong = 0, crossed = 0;

	for (uint32_t most = 8; most <= DIRECT_MOST; most += 8) {
		int program = program_make(&(struct shape){
			.bytes = most, .counted = true });

		for (uint32_t bytes = 1; bytes <= most; bytes++) {
			uint32_t words = (bytes + 7) & ~7u;
			const uint8_t *at = page + random() % (PAGE - words);

			bed.map[AT_COUNT] = bytes;
			wrong += run_at(program, at) != 1 ||
				 memcmp(data, at, words) || data[words] != 0xee;
			at = page + PAGE - words;
			wrong += run_at(program, at) != 1 ||
				 memcmp(data, at, words) || data[words] != 0xee;
			crossed += run_at(program, at + 1);
		}
		close(program);
	}
	tap_is(wrong, 0, "any number of bytes up to %d", DIRECT_MOST);
	tap_is(crossed, 0, "whose last word is in the next page are left");
}

/* The word that ends the string has zeros after it. */
static bool rest_is_clear(const uint8_t *data, uint32_t whole, uint32_t most)
{
	uint32_t end = (whole + 7) / 8 * 8;

	for (uint32_t i = whole; i < (end < most ? end : most); i++)
		if (data[i])
			return false;
	return true;
}

static void strings(uint8_t *page)
{
	unsigned int wrong = 0;
	const uint8_t *data = (const void *)(bed.map + AT_DATA);

	for (uint32_t most = 8; most <= DIRECT_MOST; most++) {
		int program = program_make(&(struct shape){
			.bytes = most, .string = true });

		for (uint32_t length = 0; length < most + 3; length++) {
			uint8_t *text = page + 1 + random() % (PAGE - 200);
			uint32_t whole = length + 1 < most ? length + 1 : most;
			uint8_t was = text[length];

			text[length] = '\0';
			wrong += run_at(program, text) != whole ||
				 memcmp(data, text, whole) ||
				 (whole < most &&
				  !rest_is_clear(data, whole, most)) ||
				 data[most] != 0xee;
			text[length] = was;
		}
		close(program);
	}
	tap_is(wrong, 0, "strings, their zero, and those that are cut");
}

static void left(int program, const char *what, const void *address)
{
	tap_is(run_at(program, address), 0, "%s: left", what);
}

static void *secret_page(void)
{
	int fd = syscall(SYS_memfd_secret, 0);
	uint8_t *page;

	if (fd < 0 || ftruncate(fd, PAGE))
		return NULL;
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (page == MAP_FAILED)
		return NULL;
	memset(page, 'x', PAGE);
	return page;
}

static void *huge_page(void)
{
	uint8_t *area = mmap(NULL, 2 * LARGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *page = area + LARGE - (uintptr_t)area % LARGE;

	/* what is no table looks as if it were one */
	madvise(page, LARGE, MADV_HUGEPAGE);
	for (size_t i = 0; i < LARGE / 8; i++)
		((uint64_t *)page)[i] = LARGE | DIRECT_PRESENT | DIRECT_USER;
	return page;
}

/* The kernel's clock, which isn't in an ordinary page */
static void *clock_page(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	unsigned long start, found = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "[vvar]") && sscanf(line, "%lx", &start) == 1)
			found = start;
	if (file)
		fclose(file);
	return (void *)found;
}

static void *key_page(void)
{
	uint8_t *page = pages_make(PAGE, PROT_READ | PROT_WRITE);
	int key = pkey_alloc(0, 0);

	memset(page, 'x', PAGE);
	return key < 0 || pkey_mprotect(page, PAGE, PROT_READ, key) ? NULL :
								      page;
}

static void special(int program)
{
	uint8_t *page = pages_make(3 * PAGE, PROT_READ | PROT_WRITE);
	void *other;

	left(program, "an absent page", page);
	tap_ok(!*(volatile uint8_t *)page, "zeros are mapped");
	left(program, "the page of zeros", page);
	memset(page + PAGE, 'x', PAGE);
	mprotect(page + PAGE, PAGE, PROT_NONE);
	left(program, "a page that may not be read", page + PAGE);
	memset(page + 2 * PAGE, 'x', PAGE);
	tap_is(run_at(program, page + 2 * PAGE), 1, "a page: read");
	madvise(page + 2 * PAGE, PAGE, MADV_DONTNEED);
	left(program, "the page when it is gone", page + 2 * PAGE);
	munmap(page, 3 * PAGE);
	left(program, "an unmapped page", page);
	left(program, "an address of the kernel", (void *)bed.direct.base);
	left(program, "an address of no space", (void *)(1UL << 62));
	left(program, "the zero address", NULL);
	left(program, "the last address", (void *)-1UL);
	other = secret_page();
	if (other)
		left(program, "memory of memfd_secret", other);
	else
		tap_skip("memory of memfd_secret", "the kernel has none");
	left(program, "a huge page", huge_page());
	other = clock_page();
	if (other && *(volatile uint64_t *)other)
		left(program, "the page of the clock", other);
	else
		tap_skip("the page of the clock", "it is nowhere, or zeros");
	other = key_page();
	if (other)
		left(program, "a page with a protection key", other);
	else
		tap_skip("a page with a protection key",
			 "the processor has none");
}

static void zeros(uint8_t *page)
{
	int once = program_make(&(struct shape){ .bytes = 8 });
	int more = program_make(&(struct shape){ .bytes = 24 });
	int twice = program_make(&(struct shape){ .bytes = 8, .twice = true });
	int counted = program_make(&(struct shape){
		.bytes = 64, .counted = true });

	memset(page + 512, 0, 64);
	left(once, "zeros in a page of which nothing is known", page + 512);
	tap_is(run_at(more, page + 512 - 16) + run_at(more, page + 512 + 56), 2,
	       "some zeros");
	bed.map[AT_COUNT] = 24;
	left(counted, "a number of zeros", page + 512);
	tap_is(run_at(counted, page + 512 - 16) +
	       run_at(counted, page + 512 + 56), 2, "some of them zeros");
	bed.map[AT_FIRST] = (uintptr_t)page;
	tap_is(run_at(twice, page + 512), 1,
	       "zeros in a page of which other bytes were read");
	tap_is(bed.map[AT_DATA], 0, "they are zeros");
	bed.map[AT_FIRST] = (uintptr_t)page + PAGE;
	left(twice, "zeros in another page than the one that was read",
	     page + 512);
	bed.map[AT_FIRST] = (uintptr_t)page + PAGE;
	tap_ok(run_at(twice, page) == 1 &&
	       bed.map[AT_DATA] == *(uint64_t *)page,
	       "one page after the other");
	close(counted);
	close(once);
	close(more);
	close(twice);
}

/* Entries that lead beyond the memory there is, as if they had other bits set */
static void bounds(const uint8_t *page)
{
	struct body_direct whole = bed.direct;
	int program;

	bed.direct.end = DIRECT_LOW + PAGE;
	program = program_make(&(struct shape){ .bytes = 8 });
	left(program, "what lies beyond the end of memory", page);
	bed.direct = whole;
	close(program);
}

static void limits(void)
{
	struct gen_shared shared = { 0 };
	struct code code;
	struct gen gen = { .plan = &bed.plan, .c = &code, .shared = &shared };
	struct direct_to to = { .base = CONTEXT };
	int reads = 0, address;

	code_begin(&code);
	address = code_temp_new(&code);
	tap_ok(!direct_fits(&gen, 8), "none before it has begun");
	direct_bed_begin(&bed, &gen);
	tap_ok(!direct_fits(&gen, DIRECT_MOST + 1), "none of more than %d bytes",
	       DIRECT_MOST);
	for (; reads < 100 && direct_fits(&gen, DIRECT_MOST); reads++)
		direct_read(&gen, &to, 8, address, code_label_new(&code));
	tap_is(reads, 8, "so many in a record");
	code_free(&code);
}

int main(void)
{
	struct shape word = { .bytes = 8 };
	uint8_t *pages;
	int program;

	direct_bed_open(&bed, BYTES_AT(AT_END));
	pages = pages_make(PAGES * PAGE, PROT_READ | PROT_WRITE);
	random_fill(pages, PAGES * PAGE);
	sizes(pages + PAGE);
	counts(pages + PAGE);
	strings(pages + PAGE);
	program = program_make(&word);
	special(program);
	zeros(pages);
	bounds(pages + PAGE);
	limits();
	close(program);
	return tap_done();
}
