// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a module with debug information: expressions of VARS are
 * refused, or become statements that every reader of a TDF accepts. The corpus
 * is made of selftests/trcust/expr/language.*.
 */
#include <stdlib.h>
#include <string.h>
#include "lib/formats/rpn.h"
#include "trcust/compile/analysis.h"
#include "trcust/compile/stmts.h"
#include "trcust/tsf/parse_point.h"

#define STOPS_MAX	2	/* addresses to look at expressions from */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char tsf_text[] =
	"MODNAME=x\n"
	"TRACE TP=.f, VARS=(r, *r, r->len, r->name, r->mac, r->flags.c, "
	"r->flags.d, r->packed.wide, r->packed.last, r->low, r->matrix[1], "
	"r->matrix[n][u], r->next:2, r->call, r->opaque->inner.value, "
	"r->nothing, n, -n, n / 3, big / 3, big % n, n ? l : h, n && r->next, "
	"s, s:4, *s, words:3, table, table[n], &table[1], table:2, local, "
	"letters, calls, hidden, 'opaque.c'::hidden, mood, BLUE, BLUE + 1, "
	"yes, single, null, anything:8, (enum color)n, (point_t *)r, "
	"((struct node *)anything)->at, sizeof(struct node), sizeof table, "
	"r - &first, &r[1], r + n, (uint8_t)l, twice)\n"
	"TRACE TP=.f, VARS=(this, *this, width, number, alone, small, how, "
	"other::common, peer, peer.width, moved, alias, held.value, "
	"longs[1].value, count, peer.count, space::inside, referred, global, "
	"space::level::high, (shape *)this, sizeof(space::shape), "
	"(base *)this, ((space::shape *)this)->height, scale * width)\n";

static void check_stmts(const struct compiled *c)
{
	for (size_t i = 0; i < c->stmt_count; i++) {
		const struct tdf_stmt *s = &c->stmts[i];

		if (s->kind != TDF_STMT_ABSENT &&
		    rpn_check(c->rpn.data + s->rpn, s->rpn_length, 1, NULL))
			abort();
	}
}

static void check_types(const struct ctypes *types)
{
	for (size_t i = 0; i < types->count; i++) {
		const struct ctype *type = &types->types[i];

		if (type->kind == TFF_CTYPE_ARRAY && type->target >= i)
			abort();
		for (size_t m = 0; m < type->member_count; m++)
			if (type->kind != TFF_CTYPE_ENUM &&
			    (type->members[m].ctype >= i ||
			     type->members[m].bits > 64))
				abort();
	}
}

static void look_from(struct compilation *c, struct compiled *out,
		      uint64_t address, bool alone)
{
	struct compile_site site = {
		.address = address, .nominal = address,
		.from.pc = address, .alone = alone,
		.arguments = "8@%rdi -4@-4(%rbp)",
	};

	for (size_t p = 0; p < c->tsf->point_count; p++) {
		for (size_t i = 0; i < c->tsf->points[p].stmt_count; i++) {
			struct compile_item item = { .ctype = CTYPE_NONE };

			out->stmt_count = out->rpn.size = 0;
			if (!variable_compile(&(struct site_stmt){
				    c, out, &site,
				    &c->tsf->points[p].stmts[i], &item })) {
				check_stmts(out);
				if (item.ctype != CTYPE_NONE &&
				    item.ctype >= out->ctypes.count)
					abort();
			}
		}
	}
}

static void look_at(struct compilation *c, struct compiled *out)
{
	static const struct dwarf_search search;
	struct module *module = c->module;
	struct error err;
	struct tsf *tsf;
	int stops = 0;

	if (dwarf_file_open(&c->dwarf, module, "", &search, &err))
		return;
	if (analysis_begin(c))
		abort();
	if (diag_open_text(&c->diag, "text", tsf_text, strlen(tsf_text), 2,
			   NULL))
		abort();
	if (tsf_parse(&tsf, c->diag, NULL, NULL) || tsf->points[1].discarded)
		abort();
	c->tsf = tsf;
	for (size_t i = 0; i < module->symbol_count && stops < STOPS_MAX; i++)
		if (module->symbols[i].name_length == strlen("at_work"))
			look_from(c, out, module->symbols[i].address,
				  stops++ % 2);
	check_types(&out->ctypes);
	tsf_free(tsf);
	diag_close(c->diag);
	c->tsf = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct compilation c = {0};
	struct compiled out = {0};
	struct error err;
	void *copy = malloc(size + 1);	/* libelf may write to it */

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (!module_parse(&c.module, copy, size, &err)) {
		look_at(&c, &out);
		compile_free(&c, &out);
		dwarf_file_close(c.dwarf);
		module_close(c.module);
	}
	free(copy);
	return 0;
}
