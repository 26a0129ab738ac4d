/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace definition file: where to trace and what to log there. Written by
 * trcust, read by trace. Little-endian. The header is followed by its tables
 * (8-byte aligned, in any order, inside the file, not overlapping the header);
 * `rpn` and `strings` are bytes, the others arrays of the structures below.
 * Indices count from 0 into the whole table. A string is an offset into
 * `strings`, zero-terminated; offset 0 is the empty string.
 *
 * A tracepoint owns the sites [first_site, first_site + sites) and the
 * statements [first_stmt, first_stmt + stmts); tracepoints are in ascending
 * order of minor, their ranges don't overlap.
 */
#ifndef RASTRACE_TDF_H
#define RASTRACE_TDF_H

#include <linux/types.h>

#define TDF_MAGIC		"RASTDF\r\n"	/* 8 bytes, no zero */
#define TDF_VERSION		1

#define TDF_NAME_MAX		8	/* type and group names, manual 1.3.3 */
#define TDF_TYPES_MAX		16
#define TDF_GROUPS_MAX		48
#define TDF_POINTS_MAX		65535
#define TDF_STMTS_MAX		256	/* of one tracepoint, registers counted */
#define TDF_RPN_MAX		4095	/* bytes of one expression */
#define TDF_RPN_STACK		16	/* entries, manual 1.6 TRCERR_RPN_OVER */
#define TDF_DATA_MIN		20	/* MAXDATALENGTH, manual 1.3.2 */
#define TDF_DATA_MAX		512
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
};

#define TDF_MODULE_USER		0	/* program or shared library */
#define TDF_MODULE_KERNEL	1	/* vmlinux */
#define TDF_MODULE_KMOD		2	/* x.ko */

#define TDF_ID_NONE		0	/* a kernel symbol, no file was seen */
#define TDF_ID_BUILD		1	/* NT_GNU_BUILD_ID */
#define TDF_ID_CONTENT		2	/* FNV-1a of the executable segments */

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
	__u32 first_stmt;
	__u32 stmts;
	__u32 flags;		/* 0; unknown flags are refused */
	__u32 reserved;
};

/* cost classes of the instruction under the probe */
#define TDF_COST_NOP5		0	/* may be turned into a call */
#define TDF_COST_EMULATED	1
#define TDF_COST_STEPPED	2	/* single-stepped out of line */
#define TDF_COST_UNKNOWN	3	/* kernel symbol, not seen */

struct tdf_site {
	__u64 offset;		/* user: file offset; kernel: offset from symbol */
	__u64 address;		/* as linked; 0 unknown (kernel) */
	__u64 nominal;		/* address the logged values are those of */
	__u32 symbol;		/* string: kernel symbol; user: for display */
	__u32 symbol_offset;	/* address - symbol, for display */
	__u8 cost;		/* TDF_COST_* */
	__u8 insn_length;	/* 0 unknown (kernel) */
	__u8 insn[TDF_INSN_MAX];
	__u8 reserved[7];
};

#define TDF_STMT_REG		0	/* one register of a REGS */
#define TDF_STMT_MEM		1
#define TDF_STMT_ASCIIZ		2

#define TDF_STMT_LEN		0x01	/* length comes from memory: len_rpn */

/*
 * An expression (rpn) yields an address; it is a DWARF expression limited to
 * the operations of rpn.def. Registers have the DWARF numbers of the module's
 * machine.
 */
struct tdf_stmt {
	__u8 kind;		/* TDF_STMT_* */
	__u8 flags;
	__u8 reg_bytes;		/* REG: 2, 4, 8 */
	__u8 len_bytes;		/* LEN: width of the length, 1, 2, 4, 8 */
	__u16 reg;		/* REG: DWARF number */
	__u16 length;		/* MEM: bytes; with LEN: the most there can be;
				 * ASCIIZ: maxlength, without the zero */
	__u32 rpn;		/* offset into the rpn table */
	__u32 rpn_length;
	__u32 len_rpn;		/* LEN: address of the length */
	__u32 len_rpn_length;
};

#endif
