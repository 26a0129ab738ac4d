// SPDX-License-Identifier: GPL-2.0
/* A substitute for xxx.dll. */
asm(".globl xxalloc, Foo, Goo, Hoo, Zoo, LookUp\n"
    ".type xxalloc, @function\n"
    "xxalloc: .byte 0x8b, 0x45, 0x08\n"	/* mov 8(%ebp), %eax */
    "ret\n.size xxalloc, . - xxalloc\n"
    "Foo: push %ebp; mov %esp, %ebp; pop %ebp; ret\n"
    "Goo: push %ebp; mov %esp, %ebp; pop %ebp; ret\n"
    "Hoo: push %ebp; mov %esp, %ebp; pop %ebp; ret\n"
    "Zoo: push %ebp; mov %esp, %ebp; pop %ebp; ret\n"
    "LookUp: push %ebp; mov %esp, %ebp; pop %ebp; ret\n");

struct variant {
	int kind;
	short bytes;
	char data[60];
} *latest;

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

#line 55 "check.c"
int Allocate(struct variant *v_ptr)
{
	v_ptr->bytes = sizeof(*v_ptr);
	latest = v_ptr;
	return 0;
}
