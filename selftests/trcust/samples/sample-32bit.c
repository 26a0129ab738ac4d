// SPDX-License-Identifier: GPL-2.0
/* A substitute for NEWCALLS.DLL. */
asm(".globl NewAllocSeg, Foo, Goo, Hoo, Zoo, _LookUp\n"
    "NewAllocSeg: push %ebp; mov %esp, %ebp; pop %ebp; ret\n"
    "Foo: push %ebp; mov %esp, %ebp; pop %ebp; ret\n"
    "Goo: push %ebp; mov %esp, %ebp; pop %ebp; ret\n"
    "Hoo: push %ebp; mov %esp, %ebp; pop %ebp; ret\n"
    "Zoo: push %ebp; mov %esp, %ebp; pop %ebp; ret\n"
    "_LookUp: push %ebp; mov %esp, %ebp; pop %ebp; ret\n");

char NameIt[64];

int CheckIt(int age)
{
	struct {
		int id;
		short age;
		char *name;
		void *next;
	} __attribute__((packed)) Status_Rec = { 1, age, NameIt, &Status_Rec };

	NameIt[0] = Status_Rec.age;
	return Status_Rec.id + NameIt[0];
}
