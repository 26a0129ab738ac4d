// SPDX-License-Identifier: GPL-2.0
/* Frees objects as C++ has them: their first word leads into a vtable, whose
 * symbol has the class' name (Itanium C++ ABI 2.5.2, 5.1.4). */
#include <stdint.h>
#include <stdlib.h>

static void method(void)
{
}

/* Offset to the top, type information, virtual functions; in front of these the
 * offset of a virtual base. */
void *const plain[] __asm__("_ZTVN2ns5PlainE") = {
	NULL, NULL, method, method,
};
void *const based[] __asm__("_ZTVN2ns5BasedE") = {
	NULL, NULL, NULL, method,
};
static void *const other[] = { NULL, NULL, method };

static void object_free(const void *first)
{
	const void **object = malloc(64);

	if (!object)
		exit(1);
	*(const void *volatile *)object = first;
	free(object);
}

int main(void)
{
	object_free(&plain[2]);
	object_free(&based[3]);
	object_free(&other[2]);
	object_free(&plain[1]);
	object_free((void *)(uintptr_t)0x1234);
	object_free(NULL);
	return 0;
}
