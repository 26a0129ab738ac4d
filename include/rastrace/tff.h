/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace format file TRC00xx.TFF (xx = major in hex): how to print.
 * Written by trcust, read by tracefmt. Little-endian. Holds a section per
 * module, because several modules may share a major; tables and strings as in
 * the TDF.
 *
 * A section owns [first_entry, first_entry + entries) of the entries, in
 * ascending order of minor, and also ranges of types, groups, C types and
 * members. `types` are those of tracepoints (TYPELIST), `ctypes` those of what
 * is logged; a control %{struct request} of a FMT names one of the section's.
 */
#ifndef RASTRACE_TFF_H
#define RASTRACE_TFF_H

#include <linux/types.h>
#include <rastrace/tdf.h>

#define TFF_MAGIC		"RASTFF\r\n"
#define TFF_VERSION		2
#define TFF_FMT_MAX		4096	/* manual 1.6 TRCERR_FMT_LONG */

struct tff_header {
	char magic[8];
	__u16 version;
	__u16 header_size;
	__u32 file_size;
	__u32 crc;		/* CRC-32 of the file with crc = 0 */
	__u32 flags;		/* 0; unknown flags are refused */
	__u16 major;
	__u16 reserved[3];
	struct tdf_table sections;
	struct tdf_table entries;
	struct tdf_table types;		/* struct tdf_name */
	struct tdf_table groups;	/* struct tdf_name */
	struct tdf_table ctypes;
	struct tdf_table members;
	struct tdf_table strings;
};

struct tff_section {
	__u32 name;		/* string: MODNAME as written */
	__u32 path;		/* string: as resolved */
	__u32 tsf;		/* string */
	__u8 id_kind;		/* TDF_ID_* of the module */
	__u8 id_length;
	__u8 id[30];
	__u32 first_entry;
	__u32 entries;
	__u32 first_type;
	__u32 types;
	__u32 first_group;
	__u32 groups;
	__u32 first_ctype;
	__u32 ctypes;
	__u32 first_member;
	__u32 members;
	__u32 reserved;
};

#define TFF_STATIC		0x01	/* @STATIC: matched by major and minor */
#define TFF_MIGRATES		0x02	/* a call may go on in another thread: PRE
					 * and POST can't be paired by thread,
					 * and which calls are inside of a whole
					 * one isn't known */
#define TFF_WHOLE	0x04	/* records are whole calls (tdf.h) */
/* WHOLE: so many of the FMT's controls that take data and print it are before the
 * first one that prints data of an exit */
#define TFF_ENTRY_FIELDS(flags)	((flags) >> 8)
#define TFF_ENTRY_FIELDS_MAX	255

struct tff_entry {
	__u64 hash;		/* data hash of the tracepoint */
	__u16 minor;
	__u16 type;
	__u16 group;
	__u16 flags;
	__u32 desc;		/* string */
	__u32 fmt;		/* string: the FMT lines, each ended by '\n',
				 * C escapes resolved, controls as written */
};

#define TFF_CTYPE_UINT		0	/* 1, 2, 4, 8 or 16 bytes */
#define TFF_CTYPE_INT		1
#define TFF_CTYPE_BOOL		2
#define TFF_CTYPE_CHAR		3	/* printed as a character */
#define TFF_CTYPE_FLOAT		4	/* IEEE, 4 or 8 bytes; else as hex */
#define TFF_CTYPE_POINTER	5
#define TFF_CTYPE_ENUM		6	/* members have the values */
#define TFF_CTYPE_STRUCT	7
#define TFF_CTYPE_UNION		8
#define TFF_CTYPE_ARRAY		9
#define TFF_CTYPE_BYTES		10	/* anything else: printed as hex */
/* The next ones are what a shape (shapes.5) makes of a type, or what the debug
 * information says of it. A value of one but VARIANT and TUPLE is not in the
 * bytes of what it is part of but in items of its own, its parts. */
#define TFF_CTYPE_TEXT		11	/* parts: how many bytes there are (8
					 * bytes), then the bytes */
#define TFF_CTYPE_SEQUENCE	12	/* parts: how many elements there are (8
					 * bytes); the first ones, `count` at
					 * most, without bytes if they are no
					 * item; the parts of `count` elements */
#define TFF_CTYPE_ONE		13	/* a pointer to one value, `target`.
					 * Parts: the pointer (8 bytes), the
					 * value, the parts of that */
#define TFF_CTYPE_VARIANT	14	/* one of several values, in the same
					 * bytes. Members: first the number that
					 * selects; then of each alternative
					 * its name and the number (`value`;
					 * bits = 1: any other number), and its
					 * value. is_signed: it is there, or
					 * not: the one without bytes is null */
#define TFF_CTYPE_TIME		15	/* a duration. Parts: seconds (8 bytes,
					 * is_signed), and nanoseconds (8 bytes)
					 * with the same sign */
#define TFF_CTYPE_LIST		16	/* elements in nodes. Parts: how many
					 * there are (8 bytes); then `count`
					 * times a node (a byte; 0: the one before
					 * was the last), its element if that is
					 * an item, the element's parts.
					 * is_signed: how many there are isn't
					 * known; instead the last part is the
					 * node after these */
#define TFF_CTYPE_MAP		17	/* the same; an element is a TUPLE of a key
					 * and a value */
#define TFF_CTYPE_TUPLE		18	/* members, in their order, not by name */
#define TFF_CTYPE_EACH		19	/* elements that are items of their own.
					 * Parts: as of a LIST with a number, but
					 * without the nodes */
#define TFF_CTYPE_DYNAMIC	20	/* of a type that the program knows. Parts:
					 * an address that means the type,
					 * as linked (8 bytes; 0: null); a
					 * pointer to the value (8 bytes); its
					 * bytes; the parts of all alternatives, once
					 * of those that follow each other with the
					 * same type, others without parts aside.
					 * Members: as those of VARIANT after the
					 * first; of an alternative whose value
					 * has no bytes only the name is known */
#define TFF_CTYPE_ADDRESS	21	/* of a network. Parts: as of TEXT. 4 bytes
					 * are an IPv4 address, 16 an IPv6 one,
					 * others a sockaddr */
#define TFF_CTYPE_PATH		22	/* a LIST of TEXT without a number: names,
					 * the last one of a path first; the
					 * root's is "/" */
#define TFF_CTYPE_LAST		TFF_CTYPE_PATH

/*
 * A value that has parts is several items of a record: those of its own bytes,
 * which these kinds but two don't have; then the parts of its members in
 * their order, of its elements, of all alternatives. Those that do not exist
 * (elements past the last one, other alternatives, what a null pointer points
 * at) are empty items. Values in a union have no parts.
 */
#define TFF_PARTS_MAX		TDF_STMTS_MAX

#define TFF_CTYPE_NONE		0xffffffff

/* The member with this index is a number with a name, and has no type. */
static inline int tff_member_is_number(__u8 kind, __u32 index)
{
	return kind == TFF_CTYPE_ENUM ||
	       (kind == TFF_CTYPE_VARIANT && index & 1) ||
	       (kind == TFF_CTYPE_DYNAMIC && !(index & 1));
}

struct tff_ctype {
	__u32 name;		/* string as C has it: "struct request", "int" */
	__u32 bytes;
	__u32 target;		/* POINTER, ARRAY, SEQUENCE, ONE, LIST, MAP, EACH:
				 * index in the section's ctypes, a smaller one
				 * than its own but for POINTER; POINTER:
				 * TFF_CTYPE_NONE when unknown */
	__u32 count;		/* ARRAY: elements; SEQUENCE, LIST, MAP, EACH: at
				 * most */
	__u32 first_member;	/* index in the section's members; ranges of */
	__u32 members;		/* the section's ctypes ascend */
	__u8 kind;		/* TFF_CTYPE_* */
	__u8 is_signed;		/* ENUM, VARIANT, TIME, LIST, MAP */
	__u8 reserved[6];
};

struct tff_member {		/* of a struct, tuple or union; an enumerator */
	__u32 name;		/* string; "" without a name */
	__u32 ctype;		/* index in the section's ctypes, smaller than
				 * that of the struct */
	__u64 value;		/* ENUM, VARIANT, DYNAMIC: its value; else the
				 * offset in bits */
	__u32 bits;		/* width of a bit-field, from its lowest bit;
				 * 0: the whole type; of the number of an
				 * alternative: see VARIANT */
	__u32 reserved;
};

#endif
