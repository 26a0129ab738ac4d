// SPDX-License-Identifier: GPL-2.0
/*
 * What a tracepoint logs, as a number: trace data is printed only with the
 * rules of the same number. The hash is taken over a text in which names stand
 * as written, numbers are decimal and equal forms are one form; DESC, FMT,
 * comments, minor codes and addresses are not in it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "../lib/hash.h"
#include "compile.h"

static void hash_text(uint64_t *hash, const char *text)
{
	*hash = hash_fnv(*hash, text, strlen(text));
}

static void hash_number(uint64_t *hash, int64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%+" PRId64, number);
	hash_text(hash, text);
}

static void hash_address(uint64_t *hash, const struct tsf_address *address)
{
	hash_text(hash, " ");
	if (address->form == TSF_ADDRESS_SYMBOL) {
		hash_text(hash, ".");
		hash_text(hash, address->name);
	}
	for (size_t i = 0; i < address->register_count; i++) {
		hash_text(hash, address->registers[i].minus ? "-" : "+");
		hash_text(hash, address->registers[i].name);
	}
	hash_number(hash, address->displacement);
}

/* The final displacement is part of the last dereference. */
static void hash_chain(uint64_t *hash, const struct tsf_chain *chain,
		       int64_t final)
{
	static const char *const flags[] = {
		[TSF_DIRECT] = " D", [TSF_INDIRECT] = " I",
		[TSF_IS] = " IS", [TSF_IF] = " IF",
	};

	hash_text(hash, flags[chain->flag]);
	for (size_t i = 0; i < chain->count; i++) {
		hash_text(hash, "*");
		hash_number(hash, chain->add[i] +
				  (i + 1 == chain->count ? final : 0));
	}
}

static void hash_stmt(uint64_t *hash, const struct tsf_stmt *stmt)
{
	if (stmt->kind == TSF_REGS) {
		hash_text(hash, stmt->reg_is_variable ? "REGS ." : "REGS ");
		hash_text(hash, stmt->reg.name);
		hash_text(hash, "\n");
		return;
	}
	if (stmt->has_len) {
		hash_text(hash, "LEN");
		hash_address(hash, &stmt->len_address);
		hash_chain(hash, &stmt->len_chain, stmt->len_address.final);
		hash_number(hash, stmt->len_bytes ? stmt->len_bytes : 2);
		hash_text(hash, "\n");
	}
	hash_text(hash, stmt->kind == TSF_MEM ? "MEM" : "ASCIIZ");
	hash_text(hash, stmt->segmented ? "" : "32");
	hash_address(hash, &stmt->address);
	hash_chain(hash, &stmt->chain, stmt->address.final);
	if (!stmt->has_len)
		hash_number(hash, stmt->length);
	hash_text(hash, "\n");
}

uint64_t data_hash(const struct tsf_point *point)
{
	uint64_t hash = HASH_FNV_START;

	for (size_t i = 0; i < point->stmt_count; i++)
		hash_stmt(&hash, &point->stmts[i]);
	return hash;
}
