# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# A kernel module, mod.ko, and a program that the linker has made of the same
# code, mod.elf; and comparing what t.tsf finds in the two. The test builds them.

# module_write: mod.c, which goes on with what is on standard input
module_write() {
	cat - >mod.rest
	cat >mod.c <<'END'
struct item { int key; const char *name; struct item *next; };
extern int printk(const char *fmt, ...);
extern struct item *first_item(void);
static int counter;
int exported_total = 3;
static __attribute__((noinline)) int helper(struct item *i, int n)
{
	int sum = 0;

	while (i && n--) {
		sum += i->key;
		printk("%s\n", i->name);
		i = i->next;
	}
	counter += sum;
	return sum;
}
int kmod_work(struct item *list, int n)
{
	int total = helper(list, n);

	if (total > 100)
		return printk("big %d\n", total);
	exported_total += total;
	return total * 2;
}
__attribute__((section(".init.text"), used)) static int kmod_start(void)
{
	struct item *i = first_item();

	return kmod_work(i, 3);
}
__attribute__((section(".exit.text"), used)) static void kmod_stop(int last)
{
	counter = last;
}
END
	cat mod.rest >>mod.c
}

# normal TDF: without the addresses; instructions and their costs aren't looked at
# in the kernel, and only its modules have sections
normal() {
	trcust --dump "$1" | sed -E '/^(TDF|module)/d; s/hash .*//
		/^(per-cpu )?section/d
		s/^(  site .*) offset .*(tail-call|return)$/\1 \2/
		s/^(  site .*) offset.*/\1/
		s/addr 0x[0-9a-f]+/addr/g'
}

# compare NAME
compare() {
	status 0 "$1: module" trcust --module mod.ko t.tsf
	normal t.tdf >mod.text
	sed s/mod.ko/mod.elf/ t.tsf >elf.tsf
	status 0 "$1: program" trcust --site=exact elf.tsf
	normal elf.tdf >elf.text
	if [ -s mod.text ] && diff elf.text mod.text >different; then
		pass "$1: the same sites and values"
	else
		not_ok "$1: the same sites and values"
		diag_file different
	fi
}
