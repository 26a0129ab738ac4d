// SPDX-License-Identifier: GPL-2.0
/*
 * What a tracepoint logs, as a number: trace data is printed only with the
 * rules of the same number. The hash is that of a text with names
 * as written, numbers are decimal and equal forms are one form, with the size
 * and type of what comes of it; DESC, FMT, comments, conditions, limits, minor
 * codes and addresses are not in it.
 */
#include "data_hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "lib/hash.h"
#include "trcust/tsf/expr.h"

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
	uint64_t sum = 0;

	hash_text(hash, " ");
	if (address->form == TSF_ADDRESS_SYMBOL) {
		hash_text(hash, ".");
		hash_text(hash, address->name);
	}
	/* a sum, whatever its order; only a segment register is no part of
	 * it */
	for (size_t i = 0; i < address->register_count; i++) {
		const struct tsf_register *reg = &address->registers[i];
		bool segment = !i && address->form == TSF_ADDRESS_SEGMENT;
		uint64_t one = HASH_FNV_START;

		hash_text(&one, segment ? ":" : reg->minus ? "-" : "+");
		hash_text(&one, reg->name);
		sum += one;
	}
	hash_number(hash, sum);
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

static void hash_memory(uint64_t *hash, const struct tsf_stmt *stmt,
			const struct compile_item *item)
{
	if (stmt->has_len) {
		hash_text(hash, "LEN");
		hash_address(hash, &stmt->len_address);
		hash_chain(hash, &stmt->len_chain, stmt->len_address.final);
		hash_number(hash, item->len_bytes);
		hash_text(hash, "\n");
	}
	hash_text(hash, stmt->kind == TSF_MEM ? "MEM" : "ASCIIZ");
	hash_text(hash, stmt->segmented ? "" : "32");
	hash_address(hash, &stmt->address);
	hash_chain(hash, &stmt->chain, stmt->address.final);
}

bool data_hash(const struct ctypes *ctypes, const struct compile_point *point,
	       uint64_t *result)
{
	uint64_t hash = HASH_FNV_START;

	for (size_t i = 0; i < point->item_count; i++) {
		const struct compile_item *item = &point->items[i];
		const struct tsf_stmt *stmt = item->tsf;
		const struct ctype *type;
		struct bytes text = {0};

		switch (stmt->kind) {
		case TSF_REGS:
			hash_text(&hash, stmt->reg_is_variable ? "REGS ." :
								 "REGS ");
			hash_text(&hash, stmt->reg.name);
			break;
		case TSF_VAR:
			hash_text(&hash, "VAR ");
			expr_print(stmt->expr, &text);
			hash = hash_fnv(hash, text.data, text.size);
			if (text.failed) {
				bytes_free(&text);
				return false;
			}
			bytes_free(&text);
			break;
		case TSF_STACK:
			hash_text(&hash, "STACK");
			break;
		default:
			hash_memory(&hash, stmt, item);
		}
		/* what a reader of the record takes it for */
		hash_text(&hash, item->variable ? " up to " : " ");
		hash_number(&hash, item->bytes);
		hash_text(&hash, item->raw ? " raw" : "");
		if (item->ctype < ctypes->count) {
			type = &ctypes->types[item->ctype];
			hash_number(&hash, type->kind);
			hash_number(&hash, type->is_signed);
			hash_number(&hash, type->bytes);
		}
		hash_text(&hash, "\n");
	}
	*result = hash;
	return true;
}
