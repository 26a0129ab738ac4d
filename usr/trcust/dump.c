// SPDX-License-Identifier: GPL-2.0
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/identity.h"
#include "lib/names.h"
#include "lib/formats/rpn.h"
#include "lib/text.h"
#include "lib/formats/table.h"
#include "lib/formats/tdf.h"
#include "lib/formats/tff.h"
#include "lib/debug/arch/arch.h"
#include "run.h"

/* In quotes; what a terminal would take for a command is escaped. */
static void dump_text(const char *text)
{
	char safe[16];
	size_t n;

	putchar('"');
	for (; *text; text += n) {
		n = safe_text_utf8(text, strnlen(text, 4));
		n = n ? n : 1;
		if (*text == '"' || *text == '\\')
			putchar('\\');
		fwrite(safe, 1, safe_text_put(safe, text, n, false) - safe,
		       stdout);
	}
	putchar('"');
}

static void dump_labelled(const char *label, const char *text)
{
	printf("%s ", label);
	dump_text(text);
}

static void dump_identity(uint8_t kind, const uint8_t *id, uint8_t length)
{
	static const char *const kinds[] = {
		[TDF_ID_NONE] = "none", [TDF_ID_BUILD] = "build-id",
		[TDF_ID_CONTENT] = "content",
	};
	char text[64];

	identity_print(kind, id, length, text);
	printf(" id %s%s%s", kinds[kind], kind ? " " : "", kind ? text : "");
}

static void dump_names(const char *what, const struct tdf_name *names,
		       uint32_t count, const char *strings)
{
	for (uint32_t i = 0; i < count; i++) {
		dump_labelled(what, strings + names[i].name);
		printf(" id %#x\n", names[i].id);
	}
}

static void dump_rpn(const struct tdf *tdf, const char *label, uint32_t at,
		     uint32_t length)
{
	static char text[TDF_RPN_MAX * 32];

	rpn_print(tdf->rpn + at, length, text, sizeof(text));
	printf(" %s [%s]", label, text);
}

static void dump_stmt(const struct tdf *tdf, const struct tdf_stmt *s)
{
	static const char *const kinds[] = {
		[TDF_STMT_REG] = "reg", [TDF_STMT_MEM] = "mem",
		[TDF_STMT_ASCIIZ] = "asciiz", [TDF_STMT_VALUE] = "value",
		[TDF_STMT_ABSENT] = "absent", [TDF_STMT_IF] = "if",
		[TDF_STMT_STACK] = "stack", [TDF_STMT_KEY] = "key",
		[TDF_STMT_BY] = "by", [TDF_STMT_AGGREGATE] = "aggregate",
	};
	static const char *const blocks[TDF_STMT_OLD + 1] = {
		[TDF_STMT_BLOCK] = " block", [TDF_STMT_SIZE] = " size",
		[TDF_STMT_OLD] = " old",
	};
	bool address = s->kind == TDF_STMT_MEM || s->kind == TDF_STMT_ASCIIZ;
	bool is_stack = s->kind == TDF_STMT_STACK ||
			(s->kind == TDF_STMT_BY && s->reg == TDF_BY_STACK);
	const char *block = blocks[s->flags & TDF_STMT_OLD];

	printf("  %s%s%s%s", kinds[s->kind], block ? block : "",
	       s->flags & TDF_STMT_MORE ? " more" : "",
	       s->flags & TDF_STMT_RAW ? " raw" : "");
	if (s->kind == TDF_STMT_REG)
		printf(" %u bytes %u", s->reg, s->reg_bytes);
	else if (s->kind == TDF_STMT_STACK)
		printf(" frames %u", s->length);
	else if (s->kind == TDF_STMT_AGGREGATE)
		printf(" %s", names_aggregate[s->reg]);
	else if (s->kind == TDF_STMT_BY)
		printf(" %s length %u", names_by[s->reg], s->length);
	else if (s->length)
		printf(" %s %u", s->flags & TDF_STMT_LEN ? "at most" : "length",
		       s->length);
	if (address)
		dump_rpn(tdf, s->flags & TDF_STMT_SEGMENT ? "far address" :
			 "address", s->rpn, s->rpn_length);
	else if (is_stack && s->rpn_length)
		dump_rpn(tdf, "frame", s->rpn, s->rpn_length);
	else if (s->rpn_length)
		dump_rpn(tdf, s->kind == TDF_STMT_BY && s->reg == TDF_BY_TEXT ?
			 "address" : "value", s->rpn, s->rpn_length);
	if (s->kind == TDF_STMT_BY || s->kind == TDF_STMT_AGGREGATE)
		dump_labelled(" text", tdf_string(tdf, s->len_rpn));
	if (s->kind == TDF_STMT_VALUE && s->reg)
		printf(" kept %u", s->reg);
	if (s->flags & TDF_STMT_LEN && s->flags & TDF_STMT_LEN_VALUE) {
		dump_rpn(tdf, "len value", s->len_rpn, s->len_rpn_length);
	} else if (s->flags & TDF_STMT_LEN) {
		printf(" len bytes %u", s->len_bytes);
		dump_rpn(tdf, s->flags & TDF_STMT_LEN_SEGMENT ? "at far" : "at",
			 s->len_rpn, s->len_rpn_length);
	}
	putchar('\n');
}

static void dump_point(const struct tdf *tdf, const struct tdf_point *p)
{
	const struct tdf_site *s;

	printf("point %u (0x%04x): ", p->minor, p->minor);
	dump_labelled("tp", tdf_string(tdf, p->name));
	printf(" line %u type 0x%04x group %u module %u hash %016" PRIx64,
	       p->line, p->type, p->group, p->module, (uint64_t)p->hash);
	if (p->maxhits)
		printf(" maxhits %u", p->maxhits);
	if (p->passcount)
		printf(" passcount %u", p->passcount);
	printf("%s", p->flags & TDF_POINT_CONTINUE ? " continue" : "");
	if (p->level)
		printf(" %s level %u%s", p->flags & TDF_POINT_CALL ? "call" :
		       "release", p->level,
		       p->flags & TDF_POINT_LEAF ? " leaf" : "");
	if (p->flags & TDF_POINT_WHOLE)
		printf(" whole call values %u", p->entry_values);
	putchar('\n');

	/* Statements follow the sites that have them. */
	s = tdf->sites + p->first_site;
	for (const struct tdf_site *end = s + p->sites; s < end; s++) {
		dump_labelled("  site", tdf_string(tdf, s->symbol));
		printf("%+d offset %#" PRIx64 " address %#" PRIx64
		       " nominal %#" PRIx64 " cost %s",
		       (int32_t)s->symbol_offset, (uint64_t)s->offset,
		       (uint64_t)s->address, (uint64_t)s->nominal,
		       names_cost[s->cost]);
		if (s->text)
			dump_labelled(" text", tdf_string(tdf, s->text));
		printf(" insn");
		for (int i = 0; i < s->insn_length; i++)
			printf(" %02x", s->insn[i]);
		printf("%s", s->insn_length ? "" : " -");
		if (s->flags & TDF_SITE_RETURN)
			printf(" return");
		if (s->flags & TDF_SITE_TAIL_CALL)
			printf(" tail-call");
		if (s->flags & TDF_SITE_CALL)
			printf(" call");
		if (s->flags & TDF_SITE_ENTRY)
			printf(" entry");
		if (s->semaphore)
			printf(" semaphore %#" PRIx64, (uint64_t)s->semaphore);
		putchar('\n');
		if (s + 1 < end && s[1].first_stmt == s->first_stmt &&
		    s[1].stmts == s->stmts)
			continue;
		for (uint32_t i = 0; i < s->stmts; i++)
			dump_stmt(tdf, &tdf->stmts[s->first_stmt + i]);
	}
}

static void dump_ctypes(const struct tff *tff, const struct tff_section *s)
{
	static const char *const kinds[] = {
		[TFF_CTYPE_UINT] = "uint", [TFF_CTYPE_INT] = "int",
		[TFF_CTYPE_BOOL] = "bool", [TFF_CTYPE_CHAR] = "char",
		[TFF_CTYPE_FLOAT] = "float", [TFF_CTYPE_POINTER] = "pointer",
		[TFF_CTYPE_ENUM] = "enum", [TFF_CTYPE_STRUCT] = "struct",
		[TFF_CTYPE_UNION] = "union", [TFF_CTYPE_ARRAY] = "array",
		[TFF_CTYPE_BYTES] = "bytes", [TFF_CTYPE_TEXT] = "text",
		[TFF_CTYPE_SEQUENCE] = "sequence", [TFF_CTYPE_ONE] = "one",
		[TFF_CTYPE_VARIANT] = "variant", [TFF_CTYPE_TIME] = "time",
		[TFF_CTYPE_ADDRESS] = "address",
		[TFF_CTYPE_PATH] = "path",
		[TFF_CTYPE_LIST] = "list", [TFF_CTYPE_MAP] = "map",
		[TFF_CTYPE_TUPLE] = "tuple", [TFF_CTYPE_EACH] = "each",
		[TFF_CTYPE_DYNAMIC] = "dynamic",
	};

	for (uint32_t i = 0; i < s->ctypes; i++) {
		const struct tff_ctype *type = &tff->ctypes[s->first_ctype + i];
		const struct tff_member *m = tff->members + s->first_member +
					     type->first_member;

		printf("  ctype %u: ", i);
		dump_labelled("name", tff_string(tff, type->name));
		printf(" kind %s bytes %u", kinds[type->kind], type->bytes);
		if (tff_kind_has_elements(type->kind) &&
		    type->kind != TFF_CTYPE_ONE)
			printf(" count %u", type->count);
		if ((type->kind == TFF_CTYPE_POINTER ||
		     tff_kind_has_elements(type->kind)) &&
		    type->target != TFF_CTYPE_NONE)
			printf(" of %u", type->target);
		printf("%s\n", type->is_signed ? " signed" : "");
		for (uint32_t j = 0; j < type->members; j++, m++) {
			dump_labelled("    member", tff_string(tff, m->name));
			if (tff_member_is_number(type->kind, j))
				printf(m->bits ? " any other\n" :
					       " value %" PRId64 "\n",
				       (int64_t)m->value);
			else
				printf(" ctype %u bit %" PRIu64 " bits %u\n",
				       m->ctype, (uint64_t)m->value, m->bits);
		}
	}
}

static void dump_section(const struct tff *tff, uint32_t i)
{
	const struct tff_section *s = &tff->sections[i];

	printf("section %u: ", i);
	dump_labelled("name", tff_string(tff, s->name));
	dump_labelled(" path", tff_string(tff, s->path));
	dump_labelled(" tsf", tff_string(tff, s->tsf));
	dump_identity(s->id_kind, s->id, s->id_length);
	putchar('\n');
	dump_names("  type", tff->types + s->first_type, s->types,
		   tff->strings);
	dump_names("  group", tff->groups + s->first_group, s->groups,
		   tff->strings);
	dump_ctypes(tff, s);
	for (uint32_t j = 0; j < s->entries; j++) {
		const struct tff_entry *e = &tff->entries[s->first_entry + j];

		printf("  entry %u (0x%04x): type 0x%04x group %u hash %016" PRIx64,
		       e->minor, e->minor, e->type, e->group,
		       (uint64_t)e->hash);
		printf("%s", e->flags & TFF_STATIC ? " static" : "");
		dump_labelled(" desc", tff_string(tff, e->desc));
		dump_labelled(" fmt", tff_string(tff, e->fmt));
		putchar('\n');
	}
}

static void dump_tdf(const struct tdf *tdf)
{
	static const char *const kinds[] = {
		[TDF_MODULE_USER] = "user", [TDF_MODULE_KERNEL] = "kernel",
		[TDF_MODULE_KMOD] = "kernel-module",
	};
	const struct tdf_header *h = tdf->header;

	printf("TDF version %u major %u (0x%02x) maxdata %u ", h->version,
	       h->major, h->major, h->maxdata);
	dump_labelled("tsf", tdf_string(tdf, h->tsf));
	putchar('\n');
	for (uint32_t i = 0; i < h->modules.count; i++) {
		const struct tdf_module *m = &tdf->modules[i];

		printf("module %u: ", i);
		dump_labelled("name", tdf_string(tdf, m->name));
		dump_labelled(" path", tdf_string(tdf, m->path));
		printf(" kind %s machine %s class %d", kinds[m->kind],
		       arch_machine_name(m->machine),
		       m->elf_class == ELFCLASS64 ? 64 : 32);
		dump_identity(m->id_kind, m->id, m->id_length);
		putchar('\n');
	}
	for (uint32_t i = 0; i < h->sections.count; i++) {
		const struct tdf_section *s = &tdf->sections[i];

		dump_labelled(s->flags & TDF_SECTION_PERCPU ?
				      "per-cpu section from" : "section",
			      tdf_string(tdf, s->name));
		printf(" address %#" PRIx64 " size %#" PRIx64 " module %u\n",
		       (uint64_t)s->address, (uint64_t)s->size, s->module);
	}
	dump_names("type", tdf->types, h->types.count, tdf->strings);
	dump_names("group", tdf->groups, h->groups.count, tdf->strings);
	for (uint32_t i = 0; i < h->points.count; i++)
		dump_point(tdf, &tdf->points[i]);
}

int dump_file(const char *path, struct error *err)
{
	struct tdf *tdf = NULL;
	struct tff *tff = NULL;
	void *data;
	size_t size;
	int code = table_file_read(path, &data, &size, err);

	if (code)
		return code;
	if (size >= 8 && !memcmp(data, TFF_MAGIC, 8)) {
		code = tff_parse(&tff, data, size, path, err);
		if (!code) {
			printf("TFF version %u major %u (0x%02x)\n",
			       tff->header->version, tff->header->major,
			       tff->header->major);
			for (uint32_t i = 0; i < tff->header->sections.count;
			     i++)
				dump_section(tff, i);
		}
		tff_close(tff);
	} else if (size >= 8 && !memcmp(data, TDF_MAGIC, 8)) {
		code = tdf_parse(&tdf, data, size, path, err);
		if (!code)
			dump_tdf(tdf);
		tdf_close(tdf);
	} else {
		code = error_set(err, -EINVAL, "'%s' is neither a TDF nor a TFF",
				 path);
	}
	free(data);
	return code;
}
