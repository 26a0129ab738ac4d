// SPDX-License-Identifier: GPL-2.0
/*
 * Has segments of its own in the LDT, far pointers to them in memory and, as a
 * program of 32 bits, selectors of them in ES and FS, at look(). With an
 * argument it doesn't wait there for the kernel to see what is in ES and FS.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <asm/ldt.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define LDT(index)	((index) << 3 | 7)
#define AT		0x20	/* what is looked at: in BX */

struct far {
	uint16_t offset, selector;
};

enum { SMALL, LARGE, ABSENT, DOWN };

struct far far_value = { AT, LDT(SMALL) }, far_text = { 0x10, LDT(SMALL) },
	far_far = { 0x30, LDT(SMALL) }, far_flat = { 0x38, LDT(SMALL) },
	far_absent = { 0, LDT(ABSENT) }, far_end = { 0x7c, LDT(SMALL) },
	far_behind = { 0x7d, LDT(SMALL) }, far_down = { 0x1010, LDT(DOWN) },
	far_below = { 0x10, LDT(DOWN) }, far_null, far_long = { 0x70, LDT(SMALL) },
	far_length = { 0x40, LDT(SMALL) };
struct far *to_far = &far_value;
static uint32_t flat_value = 0xf1a70001;

__attribute__((noinline, noclone)) void look(void)
{
	asm volatile("nop");
}

static void put(uint8_t *area, int at, const void *bytes, size_t size)
{
	memcpy(area + at, bytes, size);
}

static void entry(int number, uint8_t *area, int limit, struct user_desc desc)
{
	desc.entry_number = number;
	desc.base_addr = (uintptr_t)area;
	desc.limit = limit;
	if (syscall(SYS_modify_ldt, 0x11, &desc, sizeof(desc)))
		perror("modify_ldt");
}

static void fill(uint8_t *area)
{
	const struct far chain = { 8, LDT(LARGE) };
	const uint32_t values[] = { 0x11223344, 0x55667788, 0x99aabbcc };
	uint32_t *flat = &flat_value;
	const uint16_t length = 4;

	entry(SMALL, area, 0x7f, (struct user_desc){ 0 });
	entry(LARGE, area + 0x1000, 0xf, (struct user_desc){
		.seg_32bit = 1, .limit_in_pages = 1 });
	entry(ABSENT, area, 0x7f, (struct user_desc){ .seg_not_present = 1 });
	entry(DOWN, area, 0xfff, (struct user_desc){ .contents = 1 });
	put(area, 0x10, "in a segment", 13);
	put(area, AT, &values[0], 4);
	put(area, 0x30, &chain, sizeof(chain));
	put(area, 0x38, &flat, sizeof(flat));
	put(area, 0x40, &length, sizeof(length));
	put(area, 0x70, "up to the end, and on", 22);
	put(area, 0x1008, &values[1], 4);
	put(area, 0x1010, &values[2], 4);
}

#ifdef __i386__
/*
 * The kernel sees selectors when it switches to another thread. A sleep need not
 * be one: its time may be over before the thread gives up the processor. So this
 * sleeps until the count of voluntary switches has changed. Between the moves to
 * ES and the last one nothing may use ES, no C code either.
 */
static void look_far(int wait)
{
	static const struct timespec short_time = { 0, 2000000 };
	static struct rusage before, now;

	asm volatile("mov %w[es], %%es\n\t"
		     "mov %w[fs], %%fs\n\t"
		     "test %[wait], %[wait]\n\t"
		     "jz 2f\n\t"
		     "mov %[getrusage], %%eax\n\t"
		     "xor %%ebx, %%ebx\n\t"
		     "mov %[before], %%ecx\n\t"
		     "int $0x80\n"
		     "1:\tmov %[nanosleep], %%eax\n\t"
		     "mov %[time], %%ebx\n\t"
		     "xor %%ecx, %%ecx\n\t"
		     "int $0x80\n\t"
		     "mov %[getrusage], %%eax\n\t"
		     "xor %%ebx, %%ebx\n\t"
		     "mov %[now], %%ecx\n\t"
		     "int $0x80\n\t"
		     "mov %c[switches](%%ecx), %%eax\n\t"
		     "cmp %c[before] + %c[switches], %%eax\n\t"
		     "je 1b\n"
		     "2:\tmov %[at], %%ebx\n\t"
		     "call look\n\t"
		     "mov %%ds, %%ecx\n\t"
		     "mov %%ecx, %%es\n\t"
		     "xor %%ecx, %%ecx\n\t"
		     "mov %%ecx, %%fs"
		     : : [es] "S"(LDT(SMALL)), [fs] "D"(LDT(LARGE)),
		       [wait] "d"(wait), [time] "i"(&short_time), [at] "i"(AT),
		       [before] "i"(&before), [now] "i"(&now),
		       [switches] "i"(offsetof(struct rusage, ru_nvcsw)),
		       [nanosleep] "i"(SYS_nanosleep),
		       [getrusage] "i"(SYS_getrusage)
		     : "eax", "ebx", "ecx", "memory", "cc");
}
#else
static void look_far(int wait)
{
	look();
}
#endif

int main(int argc, char **argv)
{
	uint8_t *area = mmap(NULL, 0x20000, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (area == MAP_FAILED)
		return 1;
	fill(area);
	look_far(argc == 1);
	return 0;
}
