/* SPDX-License-Identifier: GPL-2.0 */
/* For unseen.cc and unseen_library.cc, which are a module each. */
#ifdef __clang__
#define SHAPE extern "C" __attribute__((noinline))
#else
#define SHAPE extern "C" __attribute__((noipa))
#endif

/* of the library */
extern "C" long unseen_leaf(const long *numbers, int count);
extern "C" int unseen_divide(int a, int b, int *out);
extern "C" int library_guard(int (*call)(int), int n);
extern "C" void library_toss(int n);
extern "C" void library_begin(void (*body)(void));
extern "C" void library_resume(void);
extern "C" void library_yield(void);
