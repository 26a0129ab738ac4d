/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The machine that tests are built for: ELF's number of it, DWARF's numbers of
 * registers by what the calling convention has in them, the status of
 * thread-local data in a record, and a function's first instruction, which is
 * as long as it says.
 */
#ifndef SELFTESTS_MACHINE_H
#define SELFTESTS_MACHINE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <rastrace/buffer.h>

#ifdef __x86_64__
enum {
	MACHINE_ELF = EM_X86_64,
	MACHINE_ARG1 = 5, MACHINE_ARG2 = 4, MACHINE_ARG3 = 1,
	MACHINE_RESULT = 0, MACHINE_THREAD = 58,
	MACHINE_THREAD_STATUS = RAS_ITEM_VALUE,
	MACHINE_PUSH_BYTES = 1,
};
#define MACHINE_PUSH	"push %rbx\n"
#define MACHINE_POP	"pop %rbx\n"
#define MACHINE_SYSCALL	"__x64_sys_"	/* in front of its name */
#else
enum {
	MACHINE_ELF = EM_AARCH64,
	MACHINE_ARG1 = 0, MACHINE_ARG2 = 1, MACHINE_ARG3 = 2,
	MACHINE_RESULT = 0, MACHINE_THREAD = 36,
	MACHINE_THREAD_STATUS = RAS_ITEM_VALUE | RAS_ITEM_STALE,
	MACHINE_PUSH_BYTES = 4,
};
#define MACHINE_PUSH	"stp x19, x30, [sp, #-16]!\n"
#define MACHINE_POP	"ldp x19, x30, [sp], #16\n"
#define MACHINE_SYSCALL	"__arm64_sys_"
#endif

/* What MACHINE_THREAD has */
static inline uint64_t machine_thread(void)
{
	uint64_t base;

#ifdef __x86_64__
	__asm__("mov %%fs:0, %0" : "=r"(base));
#else
	__asm__("mrs %0, tpidr_el0" : "=r"(base));
#endif
	return base;
}

/* Memory that pointers of 32 bits lead to; MAP_FAILED: there is none. */
static inline void *machine_map_low(size_t bytes)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;

#ifdef MAP_32BIT
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_32BIT,
		    -1, 0);
#else
	for (uintptr_t at = 0x10000000; at < 0x80000000; at += 0x1000000) {
		void *p = mmap((void *)at, bytes, PROT_READ | PROT_WRITE,
			       flags | MAP_FIXED_NOREPLACE, -1, 0);

		if (p != MAP_FAILED)
			return p;
	}
	return MAP_FAILED;
#endif
}

#endif
