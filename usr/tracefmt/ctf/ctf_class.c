// SPDX-License-Identifier: GPL-2.0
#include "ctf_class.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/formats/tff.h"
#include "lib/read/read.h"
#include "ctf_tsdl.h"

static void class_free(struct ctf_class *class)
{
	for (size_t i = 0; i < class->field_count; i++)
		ctf_field_close(&class->fields[i]);
	free(class->fields);
	free(class);
}

static int class_fields_make(struct ctf_class *class,
			     const struct match_point *point)
{
	const struct field_set *set = &point->fields;

	class->fields = calloc(set->count + 1, sizeof(*class->fields));
	if (!class->fields)
		return -ENOMEM;
	for (; class->field_count < set->count; class->field_count++)
		if (ctf_field_open(&class->fields[class->field_count],
				   &set->fields[class->field_count],
				   &point->format.types))
			return -ENOMEM;
	return 0;
}

static struct ctf_class *class_make(const struct match_point *point)
{
	struct ctf_class *class = calloc(1, sizeof(*class));

	if (!class)
		return NULL;
	class->point = point;
	if (!point->formatted || !class_fields_make(class, point))
		return class;
	class_free(class);
	return NULL;
}

struct ctf_class *ctf_class_find(struct ctf_classes *classes,
				 const struct match_point *point)
{
	struct ctf_class *class =
		key_map_find(&classes->points, key_map_key(point));

	if (class)
		return class;
	class = class_make(point);
	if (class && key_map_add(&classes->points, key_map_key(point), class)) {
		class_free(class);
		return NULL;
	}
	return class;
}

void ctf_class_free(struct ctf_classes *classes)
{
	struct ctf_class *class;
	size_t at = 0;

	while ((class = key_map_next(&classes->points, &at)))
		class_free(class);
	key_map_free(&classes->points);
	*classes = (struct ctf_classes){ 0 };
}

/* ---- forms ---- */

enum ctf_form ctf_class_form(struct ctf_class *class,
			     const struct event *event,
			     const struct scratch *scratch)
{
	if (event_data(event).misfit ||
	    event->record->flags & RAS_RECORD_MUTED)
		return CTF_ALONE;
	if (!class->point->formatted)
		return CTF_BYTES;
	for (size_t i = 0; i < class->field_count; i++)
		class->fields[i].count = 0;
	for (size_t i = 0; i < scratch->result.count; i++) {
		const struct decode_piece *piece = &scratch->pieces[i];
		struct ctf_field *f;

		if (piece->step->field >= class->field_count || piece->nothing)
			continue;
		f = &class->fields[piece->step->field];
		if (!f->count++)
			f->first = piece;
	}
	for (size_t i = 0; i < class->field_count; i++)
		if (!ctf_field_is_whole(&class->fields[i]))
			return CTF_STATUS;
	return CTF_WHOLE;
}

/* ---- TSDL ---- */

/* What --context asked for. The stream's context has the thread's name instead
 * of the process's. The stack is one of the fields: babeltrace2 2.0
 * can't have a sequence here. */
static void context_tsdl(struct ctf_buffer *tsdl, uint32_t mask)
{
	static const struct {
		uint32_t mask;
		const char *tsdl;
	} parts[] = {
		{ RAS_CONTEXT_UID, "\t\tuint32_t uid;\n\t\tuint32_t gid;\n" },
		{ RAS_CONTEXT_CGROUP, "\t\tuint64_t cgroup;\n" },
		{ RAS_CONTEXT_CPU, "\t\tuint32_t cpu;\n" },
		{ RAS_CONTEXT_PPID, "\t\tuint32_t ppid;\n" },
	};

	if (!RAS_CONTEXT_BYTES(mask & ~RAS_CONTEXT_COMM))
		return;
	ctf_buffer_print(tsdl, "\tcontext := struct {\n");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (mask & parts[i].mask)
			ctf_buffer_print(tsdl, "%s", parts[i].tsdl);
	ctf_buffer_print(tsdl, "\t};\n");
}

uint32_t ctf_class_id(struct ctf_classes *classes, struct ctf_class *class,
		      enum ctf_form form, struct ctf_buffer *tsdl)
{
	const struct match_point *point = class->point;
	const char *desc = "";
	char name[48];

	if (class->ids[form])
		return class->ids[form];
	class->ids[form] = ++classes->ids;
	ctf_buffer_print(tsdl, "event {\n\tid = %u;\n\tname = ",
			 class->ids[form]);
	if (point->formatted)
		desc = tff_string(point->tff, point->entry->desc);
	if (!*desc) {
		snprintf(name, sizeof(name), "major %u minor %u",
			 (unsigned int)(point->key >> 32 & 0xffff),
			 (unsigned int)(point->key >> 16 & 0xffff));
		desc = name;
	}
	ctf_tsdl_literal(tsdl, desc, strlen(desc));
	ctf_buffer_print(tsdl, ";\n\tstream_id = 0;\n");
	if (form != CTF_ALONE)
		context_tsdl(tsdl, point->context);
	ctf_buffer_print(tsdl, "\tfields := struct {\n");
	if (form != CTF_ALONE && point->context & RAS_CONTEXT_STACK)
		ctf_buffer_print(tsdl, "\t\tstruct stack _stack_;\n");
	for (size_t i = 0; form <= CTF_STATUS && i < class->field_count; i++)
		ctf_field_tsdl(tsdl, &class->fields[i], form == CTF_STATUS);
	if (form > CTF_STATUS)
		ctf_buffer_print(tsdl, "\t\tstruct bytes _data;\n");
	else if (classes->hex)
		ctf_buffer_print(tsdl, "\t\tstruct bytes _data_;\n");
	ctf_buffer_print(tsdl, "\t};\n};\n\n");
	return class->ids[form];
}

/* ---- an event ---- */

static void context_write(struct ctf_buffer *out, const struct event *event,
			  struct stack_owner owner)
{
	static const struct {
		uint32_t mask;
		uint8_t bytes, pad;
	} parts[] = {
		{ RAS_CONTEXT_UID, 8, 0 }, { RAS_CONTEXT_CGROUP, 8, 0 },
		{ RAS_CONTEXT_CPU, 4, 4 }, { RAS_CONTEXT_PPID, 4, 4 },
	};
	struct context c = context_find(event->record, event->point->context);
	const uint8_t *at = c.fixed;

	if (c.mask & RAS_CONTEXT_COMM)
		at += 16;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!(c.mask & parts[i].mask))
			continue;
		ctf_buffer_add(out, at, parts[i].bytes);
		at += parts[i].bytes + parts[i].pad;
	}
	if (c.mask & RAS_CONTEXT_STACK)
		ctf_field_write_stack(out, owner, c.stack_end, c.stack,
				      c.stack_bytes);
}

void ctf_class_write(struct ctf_buffer *out, const struct ctf_classes *classes,
		     const struct ctf_class *class, enum ctf_form form,
		     const struct event *event, struct symbols *symbols)
{
	struct event_data data = event_data(event);
	struct stack_owner owner = {
		.processes = &event->trace->file.processes,
		.pid = event->record->pid, .symbols = symbols,
	};

	if (form != CTF_ALONE)
		context_write(out, event, owner);
	for (size_t i = 0; form <= CTF_STATUS && i < class->field_count; i++)
		ctf_field_write(out, &class->fields[i], owner,
				form == CTF_STATUS);
	if (form > CTF_STATUS || classes->hex)
		ctf_buffer_bytes(out, data.data, data.length);
}
