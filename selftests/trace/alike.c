// SPDX-License-Identifier: GPL-2.0
/*
 * A program to trace: alike COUNT calls alike_0 to alike_39 so often. Each gets a
 * structure that points to 0, 1001, 1002 ... and, after these words, to texts of 16
 * bytes each: "text 0", "text 1" ... With "absent" as the second argument that
 * memory is a file's, and no page of it is there at a call. Further arguments are
 * two other structures, and 103, 104 and 105.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define POINTS		40
#define BYTES		4096

struct data {
	uint64_t words[POINTS + 1];
	char texts[POINTS][16];
};

struct given {
	long tag;
	const struct data *data;
};

/* One that is cheap to probe, and then one that isn't */
#ifdef __x86_64__
#define BODY	"push %rbp\n pop %rbp\n"
#else
#define BODY	"adr x9, .\n mov x10, x9\n"
#endif
__asm__(".altmacro\n"
	".macro alike n\n"
	".globl alike_\\n\n.type alike_\\n,%function\n"
	"alike_\\n: " BODY " ret\n.size alike_\\n,.-alike_\\n\n"
	".endm\n"
	".macro address n\n"
	" .8byte alike_\\n\n"
	".endm\n"
	".text\n.set i,0\n"
	".rept 40\n alike %i\n .set i,i+1\n.endr\n"
	".data\n.balign 8\nalike_all:\n.set i,0\n"
	".rept 40\n address %i\n .set i,i+1\n.endr\n"
	".text\n");
extern void (*const alike_all[POINTS])(const struct given *a,
				       const struct given *b,
				       const struct given *c,
				       long d, long e, long f);

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	FILE *file = tmpfile();
	static struct data data;
	struct given given = { 7, &data }, b = { 8, 0 }, c = { 9, 0 };

	for (int i = 0; i < POINTS; i++) {
		data.words[i + 1] = 1001 + i;
		snprintf(data.texts[i], sizeof(data.texts[i]), "text %d", i);
	}
	if (argc > 2) {
		if (!file || fwrite(&data, sizeof(data), 1, file) != 1 ||
		    fflush(file))
			return 1;
		given.data = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE,
				  fileno(file), 0);
		if (given.data == MAP_FAILED)
			return 1;
	}
	for (int k = 0; k < count; k++) {
		for (int i = 0; i < POINTS; i++) {
			if (argc > 2)
				madvise((void *)given.data, BYTES,
					MADV_DONTNEED);
			alike_all[i](&given, &b, &c, 103, 104, 105);
		}
	}
	return 0;
}
