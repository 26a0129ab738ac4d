// SPDX-License-Identifier: GPL-2.0
/*
 * The BTF of a body with subprograms (Documentation/bpf/btf.rst): the verifier
 * wants to know their prototypes. It is the same for all bodies.
 */
#include "types.h"

#include <linux/btf.h>

#define INFO(kind, count)	((__u32)BTF_KIND_##kind << 24 | (count))
#define STRINGS			"\0long\0address\0bytes\0string\0record\0bring_in\0touch\0mapping\0unwind\0keep\0again\0tree\0tree_walk\0walk"
#define NAME_LONG		1
#define NAME_ADDRESS		6
#define NAME_BYTES		14
#define NAME_STRING		20
#define NAME_RECORD		27
#define NAME_BRING_IN		34
#define NAME_TOUCH		43
#define NAME_MAPPING		49
#define NAME_UNWIND		57
#define NAME_KEEP		64
#define NAME_AGAIN		69
#define NAME_TREE		75
#define NAME_TREE_WALK		80
#define NAME_WALK		90

/* Ids: their number, from 1 */
enum type {
	TYPE_LONG = 1, PROTO_RECORD, PROTO_TOUCH, PROTO_BRING_IN,
	TYPE_POINTER, PROTO_TREE, TYPE_RECORD,
};

#define STATIC(name)	{ name, INFO(FUNC, BTF_FUNC_STATIC), { PROTO_RECORD } }
#define UNWIND		STATIC(NAME_UNWIND)

_Static_assert(BODY_UNWINDS == 8, "as many UNWIND as below");

static const struct {
	struct btf_header header;
	struct {
		struct btf_type number;
		__u32 encoding;
		struct btf_type record;
		struct btf_type touch;
		struct btf_param place;
		struct btf_type bring_in;
		struct btf_param places[3];
		struct btf_type pointer;
		struct btf_type tree;
		struct btf_param node[5];
		struct btf_type functions[BODY_FUNCTIONS];
	} types;
	char strings[(sizeof(STRINGS) + 3) & ~3ul];	/* no padding */
} blob = {
	.header = {
		.magic = BTF_MAGIC, .version = BTF_VERSION,
		.hdr_len = sizeof(blob.header),
		.type_len = sizeof(blob.types), .str_off = sizeof(blob.types),
		.str_len = sizeof(blob.strings),
	},
	.types = {
		.number = { NAME_LONG, INFO(INT, 0), { 8 } },
		.encoding = BTF_INT_SIGNED << 24 | 64,
		.record = { 0, INFO(FUNC_PROTO, 0), { TYPE_LONG } },
		.touch = { 0, INFO(FUNC_PROTO, 1), { TYPE_LONG } },
		.place = { NAME_ADDRESS, TYPE_LONG },
		.bring_in = { 0, INFO(FUNC_PROTO, 3), { TYPE_LONG } },
		.places = {
			{ NAME_ADDRESS, TYPE_LONG }, { NAME_BYTES, TYPE_LONG },
			{ NAME_STRING, TYPE_LONG },
		},
		.pointer = { 0, INFO(PTR, 0), { TYPE_LONG } },
		.tree = { 0, INFO(FUNC_PROTO, 5), { TYPE_LONG } },
		.node = {
			{ NAME_ADDRESS, TYPE_POINTER }, { NAME_LONG, TYPE_LONG },
			{ NAME_LONG, TYPE_LONG }, { NAME_LONG, TYPE_LONG },
			{ NAME_LONG, TYPE_LONG },
		},
		.functions = {
			{ NAME_RECORD, INFO(FUNC, BTF_FUNC_GLOBAL),
			  { PROTO_RECORD } },
			STATIC(NAME_KEEP), STATIC(NAME_WALK), STATIC(NAME_AGAIN),
			STATIC(NAME_TREE),
			{ NAME_TREE_WALK, INFO(FUNC, BTF_FUNC_GLOBAL),
			  { PROTO_TREE } },
			{ NAME_BRING_IN, INFO(FUNC, BTF_FUNC_GLOBAL),
			  { PROTO_BRING_IN } },
			{ NAME_TOUCH, INFO(FUNC, BTF_FUNC_GLOBAL),
			  { PROTO_TOUCH } },
			STATIC(NAME_MAPPING),
			UNWIND, UNWIND, UNWIND, UNWIND,
			UNWIND, UNWIND, UNWIND, UNWIND,
		},
	},
	.strings = STRINGS,
};

const void *body_types(size_t *size)
{
	*size = sizeof(blob);
	return &blob;
}

size_t body_functions(const __u32 *subprograms,
		      struct bpf_func_info *functions)
{
	size_t count = 1;

	functions[0] = (struct bpf_func_info){ .type_id = TYPE_RECORD };
	for (int i = 0; i < BODY_SUBPROGRAMS; i++) {
		if (!subprograms[i])
			continue;
		functions[count++] = (struct bpf_func_info){
			.insn_off = subprograms[i],
			.type_id = TYPE_RECORD + 1 + i,
		};
	}
	return count > 1 ? count : 0;
}
