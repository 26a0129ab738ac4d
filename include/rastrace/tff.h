/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace format file TRC00xx.TFF (xx = major in hex): how to print.
 * Written by trcust, read by tracefmt. Little-endian. Holds a section per
 * module, because several modules may share a major; tables and strings as in
 * the TDF.
 *
 * A section owns [first_entry, first_entry + entries) of the entries, in
 * ascending order of minor, and likewise ranges of types and groups.
 */
#ifndef RASTRACE_TFF_H
#define RASTRACE_TFF_H

#include <linux/types.h>
#include <rastrace/tdf.h>

#define TFF_MAGIC		"RASTFF\r\n"
#define TFF_VERSION		1
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
	__u32 reserved;
};

#define TFF_STATIC		0x01	/* @STATIC: matched by major and minor */

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

#endif
