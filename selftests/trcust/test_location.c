// SPDX-License-Identifier: GPL-2.0
/*
 * Every operation of DWARF expressions, written by hand: what a variable whose
 * location it is reads as in a frame of known registers and memory, or why it
 * can't be read. (DWARF 5 sections 2.5 and 2.6.)
 */
#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <rastrace/tdf.h>
#include "place_read.h"
#include "tap.h"
#include "lib/debug/dwarf/dwarf.h"

/* The numbers are in the memory that rsp points to, from byte 0 on. */
#define M0	0x8877665544332211ULL
#define M1	0xfffffffffffffff0ULL
#define RDI	0x1122334455667788ULL
#define RSI	0xfffffffffffffffbULL	/* -5 */
#define X0	0x4009aabbccddeeffULL	/* low halves of XMM0 and XMM15 */
#define X15	0x3ff8111213141516ULL

/* in assembly: references to base types, of the DWARF 5 operations' operand */
#define S4	".uleb128 .Ls4-.Lunit; "
#define U4	".uleb128 .Lu4-.Lunit; "
#define U1	".uleb128 .Lu1-.Lunit; "
#define S1	".uleb128 .Ls1-.Lunit; "
#define U8	".uleb128 .Lu8-.Lunit; "
#define F8	".uleb128 .Lf8-.Lunit; "
#define S16	".uleb128 .Ls16-.Lunit; "
#define B(...)	".byte " #__VA_ARGS__ "; "
#define STACK_VALUE	B(0x9f)

enum kind { MEM, VAL, NOT, BAD, WHERE_ONLY };

/* Location, what 8 bytes (or `bytes`) read as; NOT: part of the reason. */
static const struct row {
	const char *name, *location;
	enum kind kind;
	uint64_t value;
	const char *text;	/* reason, or where */
	int bytes;		/* 0: 8 */
} rows[] = {
	{ "breg", B(0x77, 0), MEM, M0, "memory at rsp" },
	{ "breg and displacement", B(0x77, 8), MEM, M1, "memory at rsp+8" },
	{ "bregx", B(0x92, 7, 8), MEM, M1, "memory at rsp+8" },
	{ "fbreg", B(0x91, 0x78), MEM, M0, "frame slot CFA-8" },
	{ "call_frame_cfa", B(0x9c) B(0x38, 0x1c), MEM, M0, "computed" },
	{ "reg", B(0x55), VAL, RDI, "register rdi" },
	{ "regx", B(0x90, 4), VAL, RSI, "register rsi" },
	{ "reg of xmm", B(0x61), VAL, X0, "register xmm0" },
	{ "reg of the last xmm", B(0x90, 32), VAL, X15, "register xmm15" },
	{ "reg of st", B(0x90, 33), NOT, 0, "held in st0" },
	{ "reg of k", B(0x90, 119), NOT, 0, "held in k1" },
	{ "reg of nothing", B(0x90, 0xff, 0x7f), NOT, 0, "register 16383" },
	{ "breg of xmm", B(0x81, 0), NOT, 0, "held in xmm0" },
	{ "addr", B(3) ".quad data; ", MEM, 0x0807060504030201, "global at 0x" },
	{ "addr and plus_uconst", B(3) ".quad data; " B(0x23, 8), MEM,
	  0x1817161514131211, "computed" },
	{ "stack_value of a literal", B(0x35) STACK_VALUE, VAL, 5, "computed" },
	{ "const1u", B(8, 200) STACK_VALUE, VAL, 200 },
	{ "const1s", B(9, 200) STACK_VALUE, VAL, -56 },
	{ "const2u", B(0xa, 0xfe, 0xff) STACK_VALUE, VAL, 0xfffe },
	{ "const2s", B(0xb, 0xfe, 0xff) STACK_VALUE, VAL, -2 },
	{ "const4u", B(0xc, 1, 2, 3, 0x84) STACK_VALUE, VAL, 0x84030201 },
	{ "const4s", B(0xd, 1, 2, 3, 0x84) STACK_VALUE, VAL,
	  0xffffffff84030201 },
	{ "const8u", B(0xe) ".quad 0x123456789abcdef0; " STACK_VALUE, VAL,
	  0x123456789abcdef0 },
	{ "const8s", B(0xf) ".quad -3; " STACK_VALUE, VAL, -3 },
	{ "constu", B(0x10, 0x80, 1) STACK_VALUE, VAL, 128 },
	{ "consts", B(0x11, 0x80, 0x7f) STACK_VALUE, VAL, -128 },
	{ "dup, plus", B(0x75, 0, 0x12, 0x22) STACK_VALUE, VAL, 2 * RDI },
	{ "drop", B(0x31, 0x32, 0x13) STACK_VALUE, VAL, 1 },
	{ "over, minus", B(0x31, 0x33, 0x14, 0x1c, 0x1c) STACK_VALUE, VAL,
	  (uint64_t)(1 - (3 - 1)) },
	{ "pick", B(0x31, 0x32, 0x33, 0x15, 2, 0x22, 0x22, 0x22) STACK_VALUE,
	  VAL, 7 },
	{ "swap", B(0x31, 0x33, 0x16, 0x1c) STACK_VALUE, VAL, 2 },
	{ "rot", B(0x31, 0x32, 0x37, 0x17, 0x1c, 0x1e) STACK_VALUE, VAL,
	  (uint64_t)(7 * (1 - 2)) },
	{ "deref", B(0x77, 0, 6) STACK_VALUE, VAL, M0 },
	{ "deref_size 1", B(0x77, 0, 0x94, 1) STACK_VALUE, VAL, 0x11 },
	{ "deref_size 2", B(0x77, 0, 0x94, 2) STACK_VALUE, VAL, 0x2211 },
	{ "deref_size 4", B(0x77, 0, 0x94, 4) STACK_VALUE, VAL, 0x44332211 },
	{ "deref_size 3", B(0x77, 0, 0x94, 3) STACK_VALUE, NOT, 0,
	  "3 bytes of memory" },
	{ "abs", B(0x74, 0, 0x19) STACK_VALUE, VAL, 5 },
	{ "neg", B(0x74, 0, 0x1f) STACK_VALUE, VAL, 5 },
	{ "not", B(0x74, 0, 0x20) STACK_VALUE, VAL, 4 },
	{ "and", B(0x75, 0, 0x8, 0xf, 0x1a) STACK_VALUE, VAL, 8 },
	{ "or", B(0x30, 0x3f, 0x21) STACK_VALUE, VAL, 15 },
	{ "xor", B(0x3f, 0x33, 0x27) STACK_VALUE, VAL, 12 },
	{ "div is signed", B(0x74, 0, 0x32, 0x1b) STACK_VALUE, VAL, -2 },
	{ "mod is unsigned", B(0x74, 0, 0x37, 0x1d) STACK_VALUE, VAL,
	  RSI % 7 },
	{ "mul", B(0x74, 0, 0x33, 0x1e) STACK_VALUE, VAL, -15 },
	{ "shl", B(0x33, 0x34, 0x24) STACK_VALUE, VAL, 48 },
	{ "shr", B(0x74, 0, 0x8, 60, 0x25) STACK_VALUE, VAL, 15 },
	{ "shra", B(0x74, 0, 0x31, 0x26) STACK_VALUE, VAL, -3 },
	{ "lt is signed", B(0x74, 0, 0x31, 0x2d) STACK_VALUE, VAL, 1 },
	{ "ge", B(0x33, 0x33, 0x2a) STACK_VALUE, VAL, 1 },
	{ "eq", B(0x33, 0x34, 0x29) STACK_VALUE, VAL, 0 },
	{ "bra taken", B(0x31, 0x28, 4, 0, 0x37, 0x2f, 1, 0, 0x38)
	  STACK_VALUE, VAL, 8 },
	{ "bra not taken", B(0x30, 0x28, 4, 0, 0x37, 0x2f, 1, 0, 0x38)
	  STACK_VALUE, VAL, 7 },
	{ "skip to the end", B(0x35, 0x2f, 2, 0, 0x31, 0x22) STACK_VALUE, VAL,
	  5 },
	{ "bra backwards", B(0x31, 0x31, 0x28, 0xfc, 0xff) STACK_VALUE, NOT, 0,
	  "by a loop" },
	{ "ways that differ in depth", B(0x31, 0x31, 0x28, 1, 0, 0x31)
	  STACK_VALUE, BAD },
	{ "jump into an operand", B(0x2f, 1, 0, 0x8, 0x31) STACK_VALUE, BAD },
	{ "jump into an operand with a value",
	  B(0x33, 0x2f, 1, 0, 0xa, 0x31, 0x31, 0x22) STACK_VALUE, BAD },
	{ "nop", B(0x96, 0x33, 0x96) STACK_VALUE, VAL, 3 },
	{ "underflow", B(0x31, 0x22) STACK_VALUE, BAD },
	{ "two values left", B(0x31, 0x31) STACK_VALUE, BAD },
	{ "seventeen values",
	  B(0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31,
	    0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x22, 0x22, 0x22, 0x22, 0x22,
	    0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22)
	  STACK_VALUE, NOT, 0, "beyond what a TDF allows" },
	{ "thirty values",
	  B(0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31,
	    0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31,
	    0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31) STACK_VALUE, NOT,
	  0, "more than 16 stack entries" },

	{ "implicit_value", B(0x9e, 4, 1, 2, 3, 4), VAL, 0x04030201,
	  "constant", 4 },
	{ "implicit_value cut off", B(0x9e, 40, 1), NOT, 0, "damaged" },
	{ "implicit_pointer", B(0xa0) ".long .Lu4-.Linfo; " B(0), NOT, 0,
	  "it points to what isn't in memory" },
	{ "no operations", "", NOT, 0, "it is optimized out" },
	{ "piece: two halves", B(0x55, 0x93, 4, 0x77, 8, 0x93, 4), VAL,
	  M1 << 32 | (RDI & 0xffffffff), "register rdi" },
	{ "piece: the first is absent", B(0x93, 4, 0x55, 0x93, 4), NOT, 0,
	  "it is optimized out" },
	{ "piece: all are absent", B(0x93, 4, 0x93, 4), NOT, 0,
	  "it is optimized out" },
	{ "piece: one in xmm0", B(0x61, 0x93, 4, 0x55, 0x93, 4), VAL,
	  (X0 & 0xffffffff) | RDI << 32 },
	{ "piece: 16 bytes of xmm0", B(0x61, 0x93, 16), VAL, X0 },
	{ "piece: 17 bytes of xmm0", B(0x61, 0x93, 17), VAL, X0 },
	{ "bit_piece: the middle of xmm0", B(0x61, 0x9d, 32, 32), NOT, 0,
	  "in the middle of a vector register" },
	{ "bit_piece: bits of xmm0", B(0x61, 0x9d, 3, 0, 0x54, 0x9d, 5, 0),
	  VAL, (RSI & 31) << 3 | (X0 & 7), NULL, 1 },
	{ "piece: one in st0", B(0x90, 33, 0x93, 4, 0x55, 0x93, 4), NOT, 0,
	  "held in st0" },
	{ "piece: a value", B(0x37) STACK_VALUE B(0x93, 8), VAL, 7 },
	{ "piece: a constant", B(0x9e, 4, 1, 2, 3, 4, 0x93, 4, 0x35)
	  STACK_VALUE B(0x93, 4), VAL, 0x504030201 },
	{ "piece: something after it", B(0x55, 0x93, 4, 0x55), NOT, 0, "damaged" },
	{ "bit_piece: whole bytes", B(0x55, 0x9d, 32, 8, 0x77, 0, 0x9d, 32, 16),
	  VAL, 0x6655443344556677 },
	{ "bit_piece: bits that fill a byte",
	  B(0x55, 0x9d, 3, 0, 0x54, 0x9d, 5, 0), VAL,
	  (RSI & 31) << 3 | (RDI & 7), NULL, 1 },
	{ "bit_piece: of memory", B(0x77, 0, 0x9d, 4, 4, 0x77, 0, 0x9d, 12, 12),
	  VAL, ((M0 >> 12) & 0xfff) << 4 | ((M0 >> 4) & 15), NULL, 2 },
	{ "bit_piece: a bit is absent", B(0x55, 0x9d, 3, 0, 0x9d, 5, 0), NOT, 0,
	  "it is optimized out", 1 },
	{ "bit_piece: too many bits", B(0x77, 0, 0x9d, 0x85, 1, 0), NOT, 0,
	  "spread over more than 8 bytes" },

	{ "const_type", B(0xa4) S4 B(4, 0xfe, 0xff, 0xff, 0xff) STACK_VALUE,
	  VAL, -2 },
	{ "const_type of another size", B(0xa4) S4 B(2, 1, 2) STACK_VALUE, BAD },
	{ "regval_type, unsigned", B(0xa5, 5) U4 STACK_VALUE, VAL, 0x55667788 },
	{ "regval_type, signed", B(0xa5, 4) S1 STACK_VALUE, VAL, -5 },
	{ "deref_type, unsigned", B(0x77, 8, 0xa6, 1) U1 STACK_VALUE, VAL,
	  0xf0 },
	{ "deref_type, signed", B(0x77, 8, 0xa6, 1) S1 STACK_VALUE, VAL, -16 },
	{ "convert to 4 signed bytes", B(0x75, 0, 0xa8) S4 STACK_VALUE, VAL,
	  0x55667788 },
	{ "convert and back", B(0x74, 0, 0xa8) U1 B(0xa8, 0) STACK_VALUE, VAL,
	  0xfb },
	{ "reinterpret", B(0x74, 0, 0xa8) S1 B(0xa9) U1 STACK_VALUE, VAL,
	  0xfb },
	{ "sum of 4 bytes wraps", B(0xa5, 4) U4 B(0xa4) U4 B(4, 6, 0, 0, 0,
	  0x22) STACK_VALUE, VAL, 1 },
	{ "signed mod", B(0xa5, 4) S4 B(0xa4) S4 B(4, 3, 0, 0, 0, 0x1d)
	  STACK_VALUE, VAL, -2 },
	{ "shr of a signed type shifts zeros in", B(0xa5, 4) S4
	  B(0xa4) S4 B(4, 28, 0, 0, 0, 0x25) STACK_VALUE, VAL, 15 },
	{ "unsigned division", B(0xa5, 4) U8 B(0xa4) U8
	  B(8, 10, 0, 0, 0, 0, 0, 0, 0, 0x1b) STACK_VALUE, VAL, RSI / 10 },
	{ "unsigned division by much", B(0xa5, 4) U8 B(0xa4) U8
	  B(8, 0, 0, 0, 0, 0, 0, 0, 0x90, 0x1b) STACK_VALUE, VAL, 1 },
	{ "unsigned division of less by much", B(0xa5, 5) U8 B(0xa4) U8
	  B(8, 0, 0, 0, 0, 0, 0, 0, 0x90, 0x1b) STACK_VALUE, VAL, 0 },
	{ "unsigned comparison", B(0xa5, 4) U8 B(0xa5, 5) U8 B(0x2b)
	  STACK_VALUE, VAL, 1 },
	{ "floating point", B(0xa5, 5) F8 STACK_VALUE, NOT, 0,
	  "in floating point" },
	{ "16 bytes", B(0xa5, 5) S16 STACK_VALUE, NOT, 0,
	  "integers of 16 bytes" },
	{ "no type there", B(0xa8, 1) STACK_VALUE, BAD },

	{ "entry_value, not kept", B(0xa3, 1, 0x55) STACK_VALUE, NOT, 0,
	  "only known as the value at entry of the function" },
	{ "call2", B(0x98, 0, 0), NOT, 0, "DW_OP_call2" },
	{ "push_object_address", B(0x97), NOT, 0, "DW_OP_push_object_address" },
	{ "xderef", B(0x31, 0x32, 0x18), NOT, 0, "DW_OP_xderef" },
	{ "form_tls_address without an offset", B(0x9b), BAD },
	{ "form_tls_address in a program without such variables",
	  B(0x30, 0x9b), NOT, 0, "thread-local" },
	{ "unknown operation", B(0x01), NOT, 0, "damaged" },
	{ "operand cut off", B(0x0e, 1, 2), NOT, 0, "damaged" },
};

/* DW_AT_const_value: form, and its bytes. */
static const struct constant {
	const char *name;
	unsigned int form;
	const char *bytes;
	uint64_t value;
	int size;
} constants[] = {
	{ "data1", DW_FORM_data1, B(200), 200, 8 },
	{ "data2", DW_FORM_data2, ".value 0xfffe; ", 0xfffe, 8 },
	{ "data4", DW_FORM_data4, ".long 0x80000000; ", 0x80000000, 8 },
	{ "data8", DW_FORM_data8, ".quad -2; ", -2, 8 },
	{ "sdata", DW_FORM_sdata, ".sleb128 -300; ", -300, 8 },
	{ "udata", DW_FORM_udata, ".uleb128 300; ", 300, 8 },
	{ "string", DW_FORM_string, ".string \"abcdefg\"; ",
	  0x0067666564636261, 8 },
	{ "block1", DW_FORM_block1, B(6, 1, 2, 3, 4, 5, 6), 0x060504030201,
	  6 },
	{ "data16", DW_FORM_data16, ".quad 0x1112, 0x1314; ", 0x1112, 8 },
};

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* A function of which pc is the second instruction, after a push. */
static const char text_part[] =
	".text\n"
	".globl _start\n_start:\n.type _start,@function\n"
	".cfi_startproc\n push %rbp\n.cfi_def_cfa_offset 8\n"
	"pc: nop\n ret\n.cfi_endproc\n.size _start,.-_start\n"
	".Lstart_end:\n.file 1 \"where.c\"\n"
	".type lines,@function\nlines:\n"
	".loc 1 10\nline10: nop\n.loc 1 11\nline11: nop\n"
	".loc 1 12\nline12: nop\n.loc 1 20\nline20: nop\n"
	".loc 1 21\nline21: nop\n.loc 1 30\nline30: ret\n"
	".size lines,.-lines\n"
	".Lend: .section .debug_line,\"\",@progbits\n.Lline:\n.data\n.globl data\ndata: .byte 1,2,3,4,5,6,7,8\n"
	" .byte 0x11,0x12,0x13,0x14,0x15,0x16,0x17,0x18\n";

static const char abbrev_part[] =
	".section .debug_abbrev,\"\",@progbits\n.Labbrev:\n"
	" .byte 1,0x11,1, 0x13,0x0b, 0x11,0x01, 0x12,0x07, 0x10,0x17, 0,0\n"
	" .byte 2,0x2e,1, 3,8, 0x11,0x01, 0x12,0x07, 0x40,0x18, 0,0\n"
	" .byte 3,0x34,0, 3,8, 2,0x18, 0,0\n"
	" .byte 4,0x24,0, 3,8, 0x0b,0x0b, 0x3e,0x0b, 0,0\n"
	" .byte 5,0x34,0, 3,8, 2,0x17, 0,0\n";

static const char info_part[] =
	" .section .debug_info,\"\",@progbits\n"
	".Linfo:.Lunit: .long .Lunit_end-.Lunit_start\n"
	".Lunit_start: .value 5\n .byte 1,8\n .long .Labbrev\n"
	" .uleb128 1\n .byte 0x1d\n .quad _start\n .quad .Lend-_start\n"
	" .long .Lline\n"
	".Ls4: .uleb128 4\n .string \"s4\"\n .byte 4,5\n"
	".Lu4: .uleb128 4\n .string \"u4\"\n .byte 4,7\n"
	".Ls1: .uleb128 4\n .string \"s1\"\n .byte 1,6\n"
	".Lu1: .uleb128 4\n .string \"u1\"\n .byte 1,8\n"
	".Lu8: .uleb128 4\n .string \"u8\"\n .byte 8,7\n"
	".Lf8: .uleb128 4\n .string \"f8\"\n .byte 8,4\n"
	".Ls16: .uleb128 4\n .string \"s16\"\n .byte 16,5\n"
	" .uleb128 2\n .string \"_start\"\n .quad _start\n"
	" .quad .Lstart_end-_start\n .uleb128 1\n .byte 0x9c\n";

/* Of the function `lines`, which follows: DW_LLE_start_end, _offset_pair (from
 * the unit's start), _start_length, _default_location. */
static const char lists_part[] =
	" .byte 0\n .uleb128 2\n .string \"lines\"\n .quad lines\n"
	" .quad .Lend-lines\n .uleb128 1\n .byte 0x9c\n"
	" .uleb128 5\n .string \"here\"\n .long .Lhere\n"
	" .uleb128 5\n .string \"nowhere\"\n .long .Lnowhere\n"
	" .uleb128 5\n .string \"often\"\n .long .Loften\n"
	" .byte 0,0\n.Lunit_end:\n"
	" .section .debug_loclists,\"\",@progbits\n"
	" .long .Llists_end-.Llists\n.Llists: .value 5\n .byte 8,0\n .long 0\n"
	".Lhere: .byte 7\n .quad line11, line20\n .byte 1,0x55\n"
	" .byte 4\n .uleb128 line30-_start\n .uleb128 .Lend-_start\n"
	" .byte 2,0x77,0, 0\n"
	".Lnowhere: .byte 7\n .quad line11, line20\n .byte 0, 0\n"
	".Loften: .byte 8\n .quad line10\n .uleb128 line11-line10\n"
	" .byte 2,0x35,0x9f\n .byte 8\n .quad line12\n"
	" .uleb128 line20-line12\n .byte 2,0x36,0x9f\n"
	" .byte 8\n .quad line20\n .uleb128 line21-line20\n .byte 2,0x90,33\n"
	" .byte 5\n .byte 2,0x37,0x9f, 0\n.Llists_end:\n";

/* At a line: the value, or the reason and the hint. */
static const struct list_row {
	const char *variable, *line;
	uint64_t value;
	const char *reason, *hint;
} list_rows[] = {
	{ "here", "line10", 0, "it is optimized out here",
	  "available at lines 11-12 and 30 of where.c" },
	{ "here", "line11", RDI },
	{ "here", "line12", RDI },
	{ "here", "line20", 0, "it is optimized out here",
	  "available at lines 11-12 and 30 of where.c" },
	{ "here", "line30", M0 },
	{ "nowhere", "line11", 0, "it is optimized out everywhere", "" },
	{ "often", "line10", 5 },
	{ "often", "line11", 7 },
	{ "often", "line12", 6 },
	{ "often", "line20", 0, "held in st0, which a probe can't read",
	  "available at lines 10 and 12 of where.c" },
};

static void write_variables(FILE *out)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		fprintf(out, " .uleb128 3\n .string \"v%zu\"\n"
			" .uleb128 2f-1f\n1: %s\n2:\n", i, rows[i].location);
	for (size_t i = 0; i < COUNT(constants); i++)
		fprintf(out, " .uleb128 %zu\n .string \"c%zu\"\n %s\n", 6 + i,
			i, constants[i].bytes);
	fprintf(out, "%s", lists_part);
}

static bool build(const char *directory)
{
	char path[256], command[1024];
	FILE *out;

	snprintf(path, sizeof(path), "%s/code.s", directory);
	out = fopen(path, "w");
	if (!out)
		return false;
	fprintf(out, "%s%s", text_part, abbrev_part);
	for (size_t i = 0; i < COUNT(constants); i++)
		fprintf(out, " .uleb128 %zu\n .byte 0x34,0, 3,8, 0x1c,%u, "
			"0,0\n", 6 + i, constants[i].form);
	fprintf(out, " .byte 0\n%s", info_part);
	write_variables(out);
	fclose(out);
	snprintf(command, sizeof(command), "cd %s && as -o code.o code.s && "
		 "ld -o code code.o", directory);
	return !system(command);
}

static struct dwarf_file *dwarf;
static struct interpreter in;
static uint64_t pc;

static int find_place(const char *name, struct place *place,
		      struct error *err)
{
	struct dwarf_variable variable[2];
	int code;

	memset(place, 0, sizeof(*place));
	memset(err, 0, sizeof(*err));
	if (dwarf_variable_find(dwarf, &(struct dwarf_from){ pc }, name,
				variable))
		return error_set(err, -ENOENT, "no such variable");
	code = dwarf_variable_place(dwarf, variable, pc, place, err);
	if (code == -ENODATA &&
	    dwarf_variable_hint(dwarf, variable, pc, err))
		return -ENOMEM;
	return code;
}

static bool check_value(const struct row *row, const struct place *place)
{
	int bytes = row->bytes ? row->bytes : 8;
	uint64_t value = 0, expected = row->value;
	char text[256];

	if (!place_read(&in, place, 0, bytes, (uint8_t *)&value, text,
			sizeof(text))) {
		tap_diag("%s", text);
		return row->kind == NOT && strstr(text, row->text);
	}
	if (bytes < 8)
		expected &= (1ULL << 8 * bytes) - 1;
	if (value == expected && row->kind != NOT)
		return !row->text || strstr(place->where, row->text);
	tap_diag("read %#llx, expected %#llx; %s", (unsigned long long)value,
		 (unsigned long long)expected, place->where);
	return false;
}

static bool check_row(const struct row *row, const char *name)
{
	struct place place;
	struct error err;
	bool good;
	int code = find_place(name, &place, &err);

	if (row->kind == BAD || (row->kind == NOT && code)) {
		good = row->kind == BAD ? code == -EINVAL :
			code == -ENODATA || code == -EINVAL;
		good &= !row->text || strstr(err.text, row->text);
		if (!good)
			tap_diag("%d %s", code, err.text);
	} else {
		good = !code && check_value(row, &place);
		if (code)
			tap_diag("%d %s", code, err.text);
		if (!code && row->kind != NOT)
			good &= (place.pieces[0].kind == PLACE_MEMORY) ==
				(row->kind == MEM);
	}
	place_free(&place);
	return good;
}

static void check_constant(size_t i)
{
	uint8_t bytes[8] = {0};
	char name[16], text[256];
	struct place place;
	struct error err;
	uint64_t value;

	snprintf(name, sizeof(name), "c%zu", i);
	if (find_place(name, &place, &err) ||
	    !place_read(&in, &place, 0, constants[i].size, bytes, text,
			sizeof(text)))
		tap_ok(false, "constant, %s: %s", constants[i].name, err.text);
	memcpy(&value, bytes, 8);
	tap_is(value, constants[i].value, "constant, %s", constants[i].name);
	place_free(&place);
}

static void check_list(const struct list_row *row)
{
	const struct module_symbol *symbol;
	uint64_t value = 0;
	struct place place;
	char text[256] = "";
	struct error err;
	bool others;
	int code;

	symbol = module_symbol_find(dwarf->module, row->line, MODULE_CODE,
				    &others);
	pc = symbol ? symbol->address : 0;
	code = find_place(row->variable, &place, &err);
	if (row->reason) {
		tap_str(err.text, row->reason, "'%s' at %s", row->variable,
			row->line);
		tap_str(err.hint, row->hint, "'%s' at %s: hint",
			row->variable, row->line);
	} else {
		tap_ok(!code && place_read(&in, &place, 0, 8,
					   (uint8_t *)&value, text,
					   sizeof(text)) &&
		       value == row->value, "'%s' at %s: %s%s", row->variable,
		       row->line, err.text, text);
	}
	place_free(&place);
}

static bool open_code(const char *directory)
{
	struct dwarf_search search = {0};
	const struct module_symbol *symbol;
	struct error err = {0};
	struct module *module;
	char path[256];
	bool others;

	snprintf(path, sizeof(path), "%s/code", directory);
	elf_version(EV_CURRENT);
	if (module_open(&module, path, path, TDF_MODULE_USER, &err) ||
	    dwarf_file_open(&dwarf, module, path, &search, &err)) {
		tap_diag("%s", err.text);
		return false;
	}
	symbol = module_symbol_find(module, "pc", MODULE_CODE, &others);
	if (!symbol)
		return false;
	pc = symbol->address;
	return true;
}

int main(void)
{
	static uint64_t memory[] = { M0, M1, 0, 0 };
	static struct pt_regs regs = {
		.rdi = RDI, .rsi = RSI, .rsp = (uint64_t)memory,
	};
	static const uint64_t vectors[32] = { [0] = X0, [30] = X15 };
	char directory[] = "/tmp/rastrace.XXXXXX", command[256], name[16];
	const struct module_symbol *data;
	uint8_t *page;
	bool others;

	if (!mkdtemp(directory))
		tap_bail("mkdtemp");
	if (!build(directory) || !open_code(directory))
		tap_bail("no program to look at");
	in.regs = &regs;
	in.vectors = vectors;
	data = module_symbol_find(dwarf->module, "data", MODULE_DATA, &others);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 16; i++)
		page[i] = i + 1 + (i > 7 ? 8 : 0);
	in.bias = (uint64_t)page - data->address;
	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(name, sizeof(name), "v%zu", i);
		tap_ok(check_row(&rows[i], name), "%s", rows[i].name);
	}
	for (size_t i = 0; i < COUNT(constants); i++)
		check_constant(i);
	for (size_t i = 0; i < COUNT(list_rows); i++)
		check_list(&list_rows[i]);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return tap_done() | (system(command) != 0);
}
