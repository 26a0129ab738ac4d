/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instructions for live_a64_insns: single ones, and loops of which one is to be
 * probed. They find addresses of data in x1 and x29, a small number in x2,
 * addresses that they may jump to in x9 and x30, a system call that isn't there
 * in x8, and anything in the others.
 */
#ifndef SELFTESTS_TRACE_A64_FORMS_H
#define SELFTESTS_TRACE_A64_FORMS_H

#include <stdint.h>

extern const uint32_t a64_singles[], a64_single_count;

__asm__(".pushsection .rodata\n"
	".balign 4\n"
	".globl a64_singles, a64_single_count\n"
	".arch armv8.5-a+crypto\n"
	"a64_singles:\n"
	/* branches */
	"b .+8\n b .-8\n bl .+12\n bl .-4\n"
	".irp c, eq, ne, cs, cc, mi, pl, vs, vc, hi, ls, ge, lt, gt, le, al\n"
	"b.\\c .+8\n"
	".endr\n"
	"cbz x3, .+8\n cbz w4, .-8\n cbnz x5, .+8\n cbnz w6, .-8\n"
	"cbz xzr, .+8\n cbnz wzr, .+8\n"
	"tbz x3, #0, .+8\n tbz x4, #63, .-8\n tbz w5, #31, .+8\n"
	"tbnz x3, #1, .+8\n tbnz x4, #32, .-8\n tbnz xzr, #5, .+8\n"
	"br x9\n blr x9\n blr x30\n ret\n ret x9\n"
	"retaa\n retab\n braaz x9\n blraaz x9\n"
	".inst 0xd65f0be3\n .inst 0x54000051\n"
	/* addresses */
	"adr x0, .+8\n adr x3, .-5\n adr xzr, .+4\n"
	".inst 0x90000000\n .inst 0xb0000003\n .inst 0xf0ffffe4\n"
	"ldr x0, .+8\n ldr w0, .-8\n ldrsw x0, .+8\n prfm pldl1keep, .+8\n"
	"ldr s0, .+8\n ldr d0, .+8\n ldr q0, .+16\n"
	/* arithmetic */
	"add x0, x3, x4\n add x0, x3, #16\n add w0, w3, w4, lsl #3\n"
	"sub x0, x3, w4, sxtw #2\n adds x0, x3, x4\n subs w0, w3, #1\n"
	"cmp x3, x4\n cmn w3, #7\n ccmp x3, #5, #4, eq\n adc x0, x3, x4\n"
	"add sp, sp, #16\n sub sp, sp, #32\n mov x0, sp\n mov sp, x29\n"
	"and x0, x3, #0xff\n orr x0, x3, x4, ror #9\n tst w3, #1\n"
	"mov x0, x3\n mov w0, #5\n movk x3, #7, lsl #48\n movn x0, #1\n"
	"ubfx x0, x3, #3, #9\n sbfiz w0, w3, #4, #8\n bfi x0, x4, #8, #8\n"
	"extr x0, x3, x4, #11\n clz x0, x3\n rev w0, w3\n rbit x0, x3\n"
	"mul x0, x3, x4\n smulh x0, x3, x4\n madd w0, w3, w4, w5\n"
	"udiv x0, x3, x2\n sdiv w0, w3, wzr\n lsl x0, x3, x2\n"
	"csel x0, x3, x4, lt\n cset w0, hi\n crc32x w0, w3, x4\n"
	/* memory */
	"ldr x0, [x1]\n ldr w0, [x1, #8]\n ldrb w0, [x1, x2]\n"
	"ldrsh x0, [x1, #-6]\n ldr x0, [x1], #8\n ldr x0, [x1, #-16]!\n"
	"ldrsw x0, [x1, x2, lsl #2]\n ldp x3, x4, [x1, #16]\n"
	"ldp x29, x30, [sp], #32\n ldp w3, w4, [x1, #-8]!\n"
	"ldpsw x3, x4, [x1]\n"
	"str x3, [x1]\n strb w3, [x1, x2]\n strh w3, [x1], #2\n"
	"stp x3, x4, [x1, #16]\n stp x29, x30, [sp, #-32]!\n"
	"stur x3, [x1, #-3]\n"
	"ldr q0, [x1]\n str d1, [x1, #8]\n ldp q0, q1, [x1]\n"
	"stp d8, d9, [x1]\n"
	"ld1 {v0.16b, v1.16b}, [x1], #32\n st3 {v0.8b, v1.8b, v2.8b}, [x1]\n"
	"prfm pldl1keep, [x1]\n ldtr x0, [x1]\n sttr x3, [x1]\n"
	"ldr x0, [x2]\n str x3, [x2]\n ldr x0, [x1, x3]\n"
	"ldar x0, [x1]\n stlr x3, [x1]\n ldarb w0, [x1]\n"
	"ldadd x3, x0, [x1]\n swpal w3, w0, [x1]\n cas x3, x4, [x1]\n"
	"stset w3, [x1]\n ldumaxb w3, w0, [x1]\n ldapr x0, [x1]\n"
	"casp x2, x3, x4, x5, [x1]\n"
	"dc zva, x1\n dc cvau, x1\n ic ivau, x1\n"
	".inst 0x1d010440\n"		/* cpyfm */
	/* vectors */
	"fadd d0, d1, d2\n fmov d0, #1.5\n fmov x0, d1\n fcmp d0, d1\n"
	"fcvtzs x0, d1\n scvtf d0, x3\n add v0.4s, v1.4s, v2.4s\n"
	"movi v0.2d, #0xff00ff\n tbl v0.16b, {v1.16b}, v2.16b\n"
	"aese v0.16b, v1.16b\n dup v0.4s, w3\n umov w0, v1.h[3]\n"
	".inst 0x0420e3e0\n"		/* cntb x0 */
	/* hints and pointer authentication */
	"nop\n bti c\n bti j\n bti jc\n paciasp\n pacibsp\n paciaz\n"
	"pacia1716\n"
	"xpaclri\n pacia x0, x3\n autia x0, x3\n xpaci x3\n pacga x0, x3, x4\n"
	"autiasp\n autibsp\n autiaz\n autia1716\n yield\n wfe\n sev\n esb\n"
	"csdb\n"
	"hint #0x28\n hint #0x70\n"
	/* the system */
	"mrs x0, tpidr_el0\n mrs x0, nzcv\n mrs x0, fpcr\n mrs x0, ctr_el0\n"
	"mrs x0, dczid_el0\n mrs x0, midr_el1\n mrs x0, id_aa64isar0_el1\n"
	"mrs x0, daif\n msr nzcv, x3\n msr fpsr, x3\n msr daifset, #2\n"
	".inst 0xd500401f\n"		/* cfinv */
	"dmb ish\n dsb sy\n isb\n clrex\n sb\n"
	"svc #0\n hvc #0\n smc #0\n brk #7\n hlt #0\n dcps1\n eret\n drps\n"
	"udf #0\n udf #9\n .inst 0xd52b7720\n .inst 0xd5233060\n"
	".inst 0xdac1a3fe\n .inst 0xf380001f\n"
	/* exclusive ones, each alone */
	"ldxr x0, [x1]\n ldaxrb w0, [x1]\n ldxp x3, x4, [x1]\n"
	"stxr w0, x3, [x1]\n stlxp w0, x3, x4, [x1]\n"
	"a64_single_count:\n"
	".word (. - a64_singles) / 4\n"
	".popsection\n");

/* The second word is to be probed. */
#define A64_LOOP	5
extern const uint32_t a64_loops[][A64_LOOP], a64_loop_count;

__asm__(".pushsection .rodata\n"
	".balign 4\n"
	".globl a64_loops, a64_loop_count\n"
	"a64_loops:\n"
	"ldxr x0, [x1]\n add x0, x0, #1\n stxr w3, x0, [x1]\n cbnz w3, .-12\n"
	"nop\n"
	"ldaxr w0, [x1]\n orr w0, w0, w2\n stlxr w3, w0, [x1]\n cbnz w3, .-12\n"
	"nop\n"
	"ldxr x0, [x1]\n adr x4, .\n stxr w3, x4, [x1]\n cbnz w3, .-12\n nop\n"
	"ldxr x0, [x1]\n cbz xzr, .+4\n stxr w3, x2, [x1]\n cbnz w3, .-12\n"
	"nop\n"
	/* no exclusive load in front */
	"clrex\n add x0, x0, #1\n nop\n nop\n nop\n"
	"ldar x0, [x1]\n add x0, x0, #1\n nop\n nop\n nop\n"
	"ldadd x3, x0, [x1]\n adr x4, .\n nop\n nop\n nop\n"
	"a64_loop_count:\n"
	".word (. - a64_loops) / 20\n"
	".popsection\n");

#endif
