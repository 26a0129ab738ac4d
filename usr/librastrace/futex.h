/* SPDX-License-Identifier: GPL-2.0 */
/* A lock of one process' threads, by futex(2) and without the C library. */
#ifndef LIBRASTRACE_FUTEX_H
#define LIBRASTRACE_FUTEX_H

#define FUTEX_WAIT_PRIVATE	128
#define FUTEX_WAKE_PRIVATE	129

/* What it is: */
#define FUTEX_FREE	0
#define FUTEX_HELD	1
#define FUTEX_AWAITED	2

#if defined(__x86_64__)
static inline void futex_call(int *lock, int operation, int value)
{
	register void *timeout __asm__("r10") = 0;
	long result = 202;

	__asm__ volatile("syscall" : "+a" (result)
			 : "D" (lock), "S" (operation), "d" (value),
			   "r" (timeout)
			 : "rcx", "r11", "memory");
}
#elif defined(__i386__)
static inline void futex_call(int *lock, int operation, int value)
{
	int result = 240;

	__asm__ volatile("int $0x80" : "+a" (result)
			 : "b" (lock), "c" (operation), "d" (value), "S" (0)
			 : "memory");
}
#elif defined(__aarch64__)
static inline void futex_call(int *lock, int operation, int value)
{
	register long x8 __asm__("x8") = 98;
	register int *x0 __asm__("x0") = lock;
	register long x1 __asm__("x1") = operation;
	register long x2 __asm__("x2") = value;
	register long x3 __asm__("x3") = 0;

	__asm__ volatile("svc #0" : "+r" (x0)
			 : "r" (x1), "r" (x2), "r" (x3), "r" (x8)
			 : "memory");
}
#else
# error "futex() is not known for this machine"
#endif

static inline void futex_init(int *lock)
{
	__atomic_store_n(lock, FUTEX_FREE, __ATOMIC_RELEASE);
}

static inline void futex_lock(int *lock)
{
	int free = FUTEX_FREE;

	if (__atomic_compare_exchange_n(lock, &free, FUTEX_HELD, 0,
					__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(lock, FUTEX_AWAITED, __ATOMIC_ACQUIRE) !=
	       FUTEX_FREE)
		futex_call(lock, FUTEX_WAIT_PRIVATE, FUTEX_AWAITED);
}

static inline void futex_unlock(int *lock)
{
	if (__atomic_exchange_n(lock, FUTEX_FREE, __ATOMIC_RELEASE) ==
	    FUTEX_AWAITED)
		futex_call(lock, FUTEX_WAKE_PRIVATE, 1);
}

#endif
