// SPDX-License-Identifier: GPL-2.0
#include "insn_x86.h"

#include <string.h>

#define LONGEST		15

/* A letter for each opcode: what follows it. */
enum {
	NONE = '.',
	MODRM = 'm',		/* ModRM, SIB, displacement */
	BYTE = 'b',		/* an immediate byte */
	WORD = 'w',		/* an immediate value of 2 bytes */
	FULL = 'z',		/* one of 4 bytes, 2 with prefix 66 */
	BRANCH = 'j',		/* one of 4 bytes, in 64-bit mode always */
	MODRM_BYTE = 'B',
	MODRM_FULL = 'Z',
	WIDE = 'q',		/* FULL, or 8 bytes with REX.W */
	OFFSET = 'o',		/* of the size of addresses */
	ENTER = 'e',		/* WORD and BYTE */
	FAR = 'f',		/* FULL and WORD */
	TEST = 't',		/* MODRM, and BYTE for /0 and /1 */
	TEST_FULL = 'T',	/* MODRM, and FULL for /0 and /1 */
};

/* Intel SDM volume 2, appendix A: one-byte opcodes */
static const char one_byte[] =
	"mmmmbz..mmmmbz.." "mmmmbz..mmmmbz.." "mmmmbz..mmmmbz.."
	"mmmmbz..mmmmbz.." "................" "................"
	"..mm....zZbB...." "bbbbbbbbbbbbbbbb" "BZBBmmmmmmmmmmmm"
	"..........f....." "oooo....bz......" "bbbbbbbbqqqqqqqq"
	"BBw.mmBZe.w..b.." "mmmmbb..mmmmmmmm" "bbbbbbbbjjfb...."
	"......tT......mm";
/* Opcodes after the byte 0f */
static const char two_bytes[] =
	"mmmm......m..m.B" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm"
	"........m.B....." "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm"
	"mmmmmmmmmmmmmmmm" "BBBBmmm.mmmmmmmm" "jjjjjjjjjjjjjjjj"
	"mmmmmmmmmmmmmmmm" "...mBmmm...mBmmm" "mmmmmmmmmmBmmmmm"
	"mmBmBBBm........" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm"
	"mmmmmmmmmmmmmmmm";

struct probe_insn {
	const uint8_t *code;
	size_t size, at;
	bool wide;		/* 64-bit mode */
	bool operand, address;	/* prefixes 66, 67 */
	bool rex_w;
};

static uint8_t peek(const struct probe_insn *insn)
{
	return insn->at < insn->size ? insn->code[insn->at] : 0;
}

static const char *prefixes_take(struct probe_insn *insn)
{
	const char *hazard = NULL;

	for (; insn->at < insn->size; insn->at++) {
		uint8_t byte = insn->code[insn->at];

		if (byte == 0x66)
			insn->operand = true;
		else if (byte == 0x67)
			insn->address = true;
		else if (byte == 0xf0)
			hazard = "a lock prefix, where a probe never fires";
		else if (byte == 0x26 || byte == 0x2e || byte == 0x36 ||
			 byte == 0x3e)
			hazard = "a segment prefix, where a probe never fires";
		else if (byte != 0xf2 && byte != 0xf3 && byte != 0x64 &&
			 byte != 0x65)
			break;
	}
	if (insn->wide && (peek(insn) & 0xf0) == 0x40)
		insn->rex_w = insn->code[insn->at++] & 8;
	return hazard;
}

/* In 32-bit mode these are LES, LDS and BOUND with an operand in memory. */
static const char *vector_find(const struct probe_insn *insn)
{
	uint8_t byte = peek(insn);
	uint8_t next = insn->at + 1 < insn->size ? insn->code[insn->at + 1] : 0;

	if (byte == 0x8f)
		return next & 0x38 ?
		       "an XOP prefix, which the kernel takes for a branch" :
		       NULL;
	if (!insn->wide && next < 0xc0)
		return NULL;
	return byte == 0x62 || byte == 0xc4 || byte == 0xc5 ?
	       "a VEX prefix, which the kernel takes for a branch" : NULL;
}

static void modrm_skip(struct probe_insn *insn)
{
	uint8_t modrm = peek(insn), mode = modrm >> 6, rm = modrm & 7;

	insn->at++;
	if (mode == 3)
		return;
	if (!insn->wide && insn->address) {
		insn->at += mode == 1 ? 1 : mode == 2 || rm == 6 ? 2 : 0;
		return;
	}
	if (rm == 4) {
		rm = peek(insn) & 7;
		insn->at++;
	}
	insn->at += mode == 1 ? 1 : mode == 2 || rm == 5 ? 4 : 0;
}

static char opcode_take(struct probe_insn *insn)
{
	uint8_t byte = peek(insn);

	insn->at++;
	if (byte != 0x0f)
		return one_byte[byte];
	byte = peek(insn);
	insn->at++;
	if (byte == 0x38 || byte == 0x3a)
		insn->at++;
	return two_bytes[byte];
}

unsigned int insn_x86_length(const uint8_t *code, size_t size, bool wide,
			     const char **hazard)
{
	struct probe_insn insn = { .code = code, .size = size, .wide = wide };
	const char *vector;
	char kind;
	unsigned int full;
	bool test;

	*hazard = prefixes_take(&insn);
	vector = vector_find(&insn);
	if (vector) {
		*hazard = vector;
		return 0;
	}
	kind = opcode_take(&insn);
	full = insn.operand && !insn.rex_w ? 2 : 4;
	test = (peek(&insn) & 0x30) == 0;
	if (strchr("mBZtT", kind))
		modrm_skip(&insn);
	switch (kind) {
	case BYTE: case MODRM_BYTE:
		insn.at += 1;
		break;
	case WORD:
		insn.at += 2;
		break;
	case ENTER:
		insn.at += 3;
		break;
	case FULL: case MODRM_FULL:
		insn.at += full;
		break;
	case BRANCH:
		insn.at += insn.wide ? 4 : full;
		break;
	case WIDE:
		insn.at += insn.rex_w ? 8 : full;
		break;
	case OFFSET:
		insn.at += (insn.wide ? 8 : 4) >> insn.address;
		break;
	case FAR:
		insn.at += full + 2;
		break;
	case TEST:
		insn.at += test;
		break;
	case TEST_FULL:
		insn.at += test ? full : 0;
		break;
	}
	return insn.at <= size && insn.at <= LONGEST ? insn.at : 0;
}
