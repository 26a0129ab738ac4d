/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace definition file: where to trace and what to log there. Written by
 * trcust, read by trace. Little-endian. The header is followed by its tables
 * (8-byte aligned, in any order, inside the file, not overlapping the header);
 * `rpn` and `strings` are bytes, the others arrays of the structures below.
 * Indices count from 0 into the whole table. A string is an offset into
 * `strings`, zero-terminated; offset 0 is the empty string.
 *
 * A tracepoint owns the sites [first_site, first_site + sites): the copies of
 * inlined code, every exit of a function. Each site has the statements
 * [first_stmt, first_stmt + stmts), because a variable may be elsewhere there;
 * what they log is the same in length and order at all sites of a tracepoint.
 * Tracepoints are in ascending order of minor; ranges ascend and don't
 * overlap, but a site may have the statements of the site before it.
 */
#ifndef RASTRACE_TDF_H
#define RASTRACE_TDF_H

#include <linux/types.h>

#define TDF_MAGIC		"RASTDF\r\n"	/* 8 bytes, no zero */
#define TDF_VERSION		4

#define TDF_NAME_MAX		8	/* type and group names, manual 1.3.3 */
#define TDF_TYPES_MAX		16
#define TDF_GROUPS_MAX		48
#define TDF_POINTS_MAX		65535
#define TDF_STMTS_MAX		256	/* of one site, registers counted */
#define TDF_SITES_MAX		8192	/* of one tracepoint */
#define TDF_STACK_MAX		32	/* frames of a STACK */
#define TDF_RPN_MAX		4095	/* bytes of one expression */
#define TDF_RPN_STACK		16	/* entries, manual 1.6 TRCERR_RPN_OVER */
#define TDF_KEPT_MAX		12	/* values that are kept, of a site */
#define TDF_ENTRY_VALUES_MAX	16	/* of a WHOLE */
#define TDF_ENTRY_DATA_MAX	1024	/* bytes that are logged at its entry */
#define TDF_DATA_MIN		20	/* MAXDATALENGTH, manual 1.3.2 */
#define TDF_DATA_MAX		4096
#define TDF_DATA_DEFAULT	1024	/* three strings and a structure */
#define TDF_INSN_MAX		15

struct tdf_table {
	__u32 offset;		/* from the start of the file */
	__u32 count;		/* entries; bytes for rpn and strings */
};

struct tdf_header {
	char magic[8];
	__u16 version;		/* TDF_VERSION */
	__u16 header_size;	/* sizeof(struct tdf_header) */
	__u32 file_size;
	__u32 crc;		/* CRC-32 of the file with crc = 0 */
	__u32 flags;		/* 0; unknown flags are refused */
	__u16 major;		/* 1-255 */
	__u16 maxdata;		/* MAXDATALENGTH */
	__u32 tsf;		/* string: path of the TSF, for messages */
	struct tdf_table modules;
	struct tdf_table types;
	struct tdf_table groups;
	struct tdf_table points;
	struct tdf_table sites;
	struct tdf_table stmts;
	struct tdf_table rpn;
	struct tdf_table strings;
	struct tdf_table sections;
};

#define TDF_MODULE_USER		0	/* program or shared library */
#define TDF_MODULE_KERNEL	1	/* vmlinux */
#define TDF_MODULE_KMOD		2	/* x.ko */

#define TDF_ID_NONE		0	/* a kernel symbol, no file was seen */
#define TDF_ID_BUILD		1	/* NT_GNU_BUILD_ID */
#define TDF_ID_CONTENT		2	/* FNV-1a of the executable segments, or
					 * of a kernel's BTF */

struct tdf_module {
	__u32 path;		/* string: as resolved by trcust */
	__u32 name;		/* string: MODNAME as written */
	__u16 machine;		/* ELF e_machine */
	__u8 elf_class;		/* ELFCLASS32, ELFCLASS64 */
	__u8 kind;		/* TDF_MODULE_* */
	__u8 id_kind;		/* TDF_ID_* */
	__u8 id_length;
	__u8 id[30];
	__u32 reserved;
};

/*
 * Where the kernel relocates parts of a module each on its own: what a
 * DW_OP_addr of its expressions may lie in. What lies in none moves with the
 * sites. All are of one module, ascend and don't overlap.
 */
struct tdf_section {
	__u64 address;		/* as in the expressions */
	__u64 size;
	__u32 name;		/* string: ".data"; as in /sys/module/X/sections.
				 * PERCPU: the symbol at `address`, because the
				 * kernel reports nothing else of these */
	__u16 module;
	__u16 flags;		/* TDF_SECTION_*; unknown flags are refused */
};

#define TDF_SECTIONS_MAX	256
#define TDF_SECTION_PERCPU	0x01	/* a copy for each CPU; that of the CPU
					 * that runs is meant */

struct tdf_name {		/* of a type or a group */
	__u32 name;		/* string */
	__u32 id;
};

struct tdf_point {
	__u64 hash;		/* data hash: of what is logged, not of DESC, FMT */
	__u16 minor;
	__u16 type;		/* type mask */
	__u16 group;		/* 0 none */
	__u16 module;
	__u32 line;		/* in the TSF */
	__u32 name;		/* string: the TP clause as written */
	__u32 first_site;
	__u32 sites;
	__u32 maxhits;		/* records, then it is off; 0: no limit */
	__u32 passcount;	/* hits that are passed over first */
	__u32 flags;		/* TDF_POINT_*; unknown flags are refused */
	__u16 level;		/* CALL, RELEASE: 1 to TDF_LEVEL_MAX, see there;
				 * else 0 */
	__u16 entry_values;	/* WHOLE: values of the entry that the exits
				 * use; else 0 */
};

#define TDF_POINT_CONTINUE	0x01	/* go on after an item that faults */

/*
 * Points that know of each other what a thread is doing: all CALL and RELEASE
 * points of a TDF, user space only. Of calls inside each other the outermost is
 * recorded, the others count as filtered.
 *
 * CALL: its sites with TDF_SITE_CALL are where the function begins; what its
 * arguments were there is kept until one with TDF_SITE_RETURN is hit, which
 * makes the record: DW_OP_entry_value is an argument register, or the stack
 * pointer, at the beginning; on machines that have arguments on the stack, one of
 * the first six words after the address to return to. A call is inside another
 * one when its stack pointer is not higher and the other one still waits for its
 * return probe.
 *
 * A CALL without a site TDF_SITE_RETURN makes no record; it gives its minor to
 * the call of a lower level that it makes next, by a jump or from a frame right
 * below: a function that may be left by an exception must not have a return
 * probe, because there is no way to unwind through it. Its sites may have one
 * statement, TDF_STMT_SIZE: it is logged instead of that call's own.
 *
 * RELEASE: recorded where it begins. When the next thing a thread does is to
 * release the same block by a function of a lower level, by a jump or from a
 * frame right below, that is part of it.
 *
 * LEAF, with CALL: no other CALL is inside it. Which of its calls are recorded
 * can be decided where they begin; the others then need no return probe.
 */
#define TDF_LEVEL_MAX		255
#define TDF_LEVEL_SITES		(1u << 24)	/* sites of a TDF with levels */
#define TDF_POINT_CALL		0x02
#define TDF_POINT_RELEASE	0x04
#define TDF_POINT_LEAF		0x10

/*
 * A whole call is one record. What the sites with
 * TDF_SITE_ENTRY log is kept until one of the others is hit, an exit of the
 * function: that one evaluates its IF, and writes a record of how long the call
 * took (8 bytes, ns, no prefix), what was kept, and its own items. Entry and exit
 * belong together if their KEY is the same, in one process, of kernel code in one
 * thread. Entries have no IF.
 *
 * The first `entry_values` statements of an entry are VALUE of 8 bytes without a
 * prefix, for DW_OP_at_entry of the exits. They are in no record.
 */
#define TDF_POINT_WHOLE		0x08
#define TDF_KEY_GOROUTINE	(1ULL << 63)	/* in a KEY that is a goroutine's,
						 * which is no address */

/* cost classes of the instruction under the probe */
#define TDF_COST_NOP5		0	/* may be turned into a call */
#define TDF_COST_EMULATED	1
#define TDF_COST_STEPPED	2	/* single-stepped out of line */
#define TDF_COST_UNKNOWN	3	/* kernel symbol, not seen */

struct tdf_site {
	__u64 offset;		/* user: file offset; kernel: offset from symbol */
	__u64 address;		/* as linked; 0 unknown (kernel) */
	__u64 nominal;		/* address the logged values are those of; the
				 * same as `address`, or one that runs whenever
				 * that does */
	__u32 symbol;		/* string: kernel symbol; user: for display */
	__u32 symbol_offset;	/* address - symbol, for display */
	__u8 cost;		/* TDF_COST_* */
	__u8 insn_length;	/* 0 unknown (kernel) */
	__u8 insn[TDF_INSN_MAX];
	__u8 flags;		/* TDF_SITE_*; unknown flags are refused */
	__u8 reserved[2];
	__u32 text;		/* string: the instruction, as the assembler has
				 * it; may be empty */
	__u64 semaphore;	/* USDT: file offset of its counter; 0 none */
	__u32 first_stmt;
	__u32 stmts;
};

#define TDF_SITE_RETURN		0x01	/* the return probe of the function that
					 * begins here (RETEP=CALLER) */
#define TDF_SITE_TAIL_CALL	0x02	/* an exit without a return value yet */
#define TDF_SITE_CALL		0x04	/* of a CALL: it begins here */
#define TDF_SITE_ENTRY		0x08	/* of a WHOLE: the call has begun */

#define TDF_STMT_REG		0	/* one register of a REGS */
#define TDF_STMT_MEM		1	/* bytes at an address */
#define TDF_STMT_ASCIIZ		2	/* a string at an address */
#define TDF_STMT_VALUE		3	/* the low bytes (1 to 8) of a value */
#define TDF_STMT_ABSENT		4	/* known elsewhere, not at this site: an
					 * item without bytes */
#define TDF_STMT_IF		5	/* logs nothing; 0: no record at all. The
					 * first statement or none, but for KEY */
#define TDF_STMT_STACK		6	/* return addresses, `length` at most */
#define TDF_STMT_KEY		7	/* logs nothing; the first statement of each
					 * site of a WHOLE: which call it is, among
					 * those of the process, or of the
					 * thread, that have not returned */

/* After all others: what is counted in the kernel. They log nothing; a
 * tracepoint that logs nothing else makes no records. Not of CALL or RELEASE. */
#define TDF_STMT_BY		8	/* a part of the key, before what has it */
#define TDF_STMT_AGGREGATE	9	/* what is added up under that key */

/* Of an AGGREGATE, in `reg` */
#define TDF_AGGREGATE_COUNT	0	/* hits; it has no expression */
#define TDF_AGGREGATE_SUM	1
#define TDF_AGGREGATE_MIN	2
#define TDF_AGGREGATE_MAX	3
#define TDF_AGGREGATE_HIST	4	/* how often each value, to 1 % */
#define TDF_AGGREGATE_KINDS	5

/* Of a BY, in `reg` */
#define TDF_BY_UNSIGNED		0	/* a number of 8 bytes */
#define TDF_BY_SIGNED		1
#define TDF_BY_TEXT		2	/* a string of `length` characters at most */
#define TDF_BY_STACK		3	/* `length` return addresses at most; one of
					 * a site */
#define TDF_BY_KINDS		4

#define TDF_BY_MAX		4	/* of a site */
#define TDF_BY_TEXT_MAX		62	/* characters */
#define TDF_BY_TEXT_DEFAULT	32
#define TDF_AGGREGATES_MAX	16	/* of a site */

#define TDF_STMT_LEN		0x01	/* MEM: the length comes from len_rpn */
#define TDF_STMT_LEN_VALUE	0x02	/* len_rpn is the length, not where it
					 * is */
#define TDF_STMT_RAW		0x04	/* MEM, VALUE: without a prefix */
#define TDF_STMT_MORE		0x08	/* MEM, VALUE: more bytes of the item of
					 * the statement before, whose prefix
					 * counts them; that one has no LEN */
#define TDF_STMT_SEGMENT	0x10	/* MEM, ASCIIZ: the address is a far one:
					 * rpn leaves selector and, on top, offset */
#define TDF_STMT_LEN_SEGMENT	0x20	/* the same of len_rpn */
#define TDF_STMT_BLOCK		0x40	/* VALUE: address of the block that a CALL
					 * gives, or a RELEASE takes */
#define TDF_STMT_SIZE		0x80	/* VALUE: its bytes; for --min-size and
					 * --sample */
#define TDF_STMT_OLD		0xc0	/* both: the block that a CALL takes in
					 * exchange, by what its arguments were;
					 * 0: none */

/*
 * rpn yields an address (MEM, ASCIIZ, BY of text) or a value (VALUE, IF, KEY, BY of
 * a number, AGGREGATE); it is a DWARF expression limited to the operations of
 * rpn.def. Registers have the DWARF numbers of the module's machine. REG, ABSENT
 * and an AGGREGATE that counts hits have none; that of a STACK is
 * the canonical frame address at the site (DWARF 5, 6.4), so that the caller is
 * known before the frame is built; it may have none, as a BY of a stack.
 */
struct tdf_stmt {
	__u8 kind;		/* TDF_STMT_* */
	__u8 flags;
	__u8 reg_bytes;		/* REG: 2, 4, 8 */
	__u8 len_bytes;		/* LEN: width of the length, 1, 2, 4, 8 */
	__u16 reg;		/* REG: DWARF number; VALUE: 1 to TDF_KEPT_MAX:
				 * it is kept for the expressions of later
				 * statements, as 0 if there is a fault, and one
				 * byte of it says whether it isn't 0; BY,
				 * AGGREGATE: TDF_BY_*, TDF_AGGREGATE_*; else
				 * 0 */
	__u16 length;		/* MEM: bytes; with LEN: the most there can be;
				 * ASCIIZ, BY of text: maxlength, without the
				 * zero; VALUE: bytes; STACK, BY of a
				 * stack: frames; BY of a number: 8 */
	__u32 rpn;		/* offset into the rpn table */
	__u32 rpn_length;
	__u32 len_rpn;		/* LEN; BY, AGGREGATE: string: the expression as
				 * written */
	__u32 len_rpn_length;
};

#endif
