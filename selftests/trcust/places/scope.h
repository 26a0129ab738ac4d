/* SPDX-License-Identifier: GPL-2.0 */
/* Each variable has a size of its own, by which the test knows it. */
#define MARK(label)	__asm__ volatile(".globl " #label "\n" #label ": nop")
#define USE(variable)	__asm__ volatile("" : "+m"(variable))
#define NEVER_INLINE	__attribute__((noinline, noclone))
#define ALWAYS_INLINE	__attribute__((always_inline)) inline

#ifdef __clang__
#undef NEVER_INLINE
#define NEVER_INLINE	__attribute__((noinline))
#endif
