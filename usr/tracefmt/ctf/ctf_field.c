// SPDX-License-Identifier: GPL-2.0
#include "ctf_field.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ctf_ctype.h"
#include "ctf_status.h"
#include "ctf_tsdl.h"

/* The names that a control has for its values. */
static void names_tsdl(struct ctf_buffer *tsdl, const struct field *field)
{
	const struct format_name *names = field->step->source.names;

	ctf_buffer_print(tsdl, "enum : ");
	ctf_tsdl_integer(tsdl, field->bytes, field->is_signed, 10);
	for (size_t i = 0; i < field->name_count; i++) {
		ctf_buffer_print(tsdl, i ? ", " : " { ");
		ctf_tsdl_literal(tsdl, field->names[i],
				 strlen(field->names[i]));
		ctf_buffer_print(tsdl, field->is_signed ? " = %lld" : " = %llu",
				 (unsigned long long)names[i].value);
	}
	ctf_buffer_print(tsdl, " }");
}

/* NULL: no memory. */
static char *ctf_name_make(const char *name)
{
	int n = strspn(name, "_");
	char *made;

	if (asprintf(&made, "%s%.*s%s", name + n, n, name, n ? "_" : "") < 0)
		return NULL;
	return made;
}

int ctf_field_open(struct ctf_field *f, const struct field *field,
		   const struct value_types *types)
{
	struct ctf_buffer tsdl = { 0 };
	bool failed;

	*f = (struct ctf_field){
		.field = field,
		.types = types,
		.name = ctf_name_make(field->name),
		.array = field->array && field->step->letter != 'C',
	};
	if (!f->name)
		return -ENOMEM;
	if (field->kind == FIELD_CTYPE)
		f->declared = ctf_ctype_tsdl(&tsdl, types, field->ctype,
					     "value", CTF_STRINGS_WITH_STATUS);
	else if (field->kind == FIELD_ENUM)
		f->declared = field->names ||
			      ctf_ctype_enum_tsdl(&tsdl, types, field->ctype,
						  field->bytes);
	failed = tsdl.failed;
	ctf_buffer_free(&tsdl);
	if (!failed)
		return 0;
	free(f->name);
	return -ENOMEM;
}

void ctf_field_close(struct ctf_field *f)
{
	free(f->name);
}

static void ctf_put(struct ctf_buffer *tsdl, const char *text)
{
	ctf_buffer_add(tsdl, text, strlen(text));
}

static void put_named(struct ctf_buffer *tsdl, const char *before,
		      const char *name, const char *after)
{
	ctf_put(tsdl, before);
	ctf_put(tsdl, name);
	ctf_put(tsdl, after);
}

/* "TYPE NAME; " of the field's value. */
static void value_tsdl(struct ctf_buffer *tsdl, const struct ctf_field *f,
		       const char *name, enum ctf_strings strings)
{
	const struct field *field = f->field;

	switch (field->kind) {
	case FIELD_CTYPE:
		if (f->declared) {
			ctf_ctype_tsdl(tsdl, f->types, field->ctype, name,
				       strings);
			return;
		}
		/* fall through */
	case FIELD_BYTES:
		ctf_buffer_print(tsdl, "struct bytes");
		break;
	case FIELD_STRING:
	case FIELD_TEXT:
		ctf_buffer_print(tsdl, "string");
		break;
	case FIELD_ADDRESS:
		ctf_buffer_print(tsdl, "struct address");
		break;
	case FIELD_STACK:
		ctf_buffer_print(tsdl, "struct stack");
		break;
	case FIELD_FLOAT:
		ctf_tsdl_float(tsdl, field->bytes);
		break;
	case FIELD_BOOL:
		ctf_tsdl_bool(tsdl, field->bytes);
		break;
	case FIELD_ENUM:
		if (field->names)
			names_tsdl(tsdl, field);
		else if (f->declared)
			ctf_ctype_enum_tsdl(tsdl, f->types, field->ctype,
					    field->bytes);
		else
			ctf_tsdl_integer(tsdl, field->bytes, field->is_signed,
					 10);
		break;
	case FIELD_FLAGS:
		ctf_buffer_print(tsdl, "struct flags");
		break;
	case FIELD_TIME:
	case FIELD_DURATION:
		ctf_tsdl_integer(tsdl, 8, field->kind == FIELD_TIME, 10);
		break;
	case FIELD_SIGNED:
		ctf_tsdl_integer(tsdl, field->bytes, true, 10);
		break;
	default:
		ctf_tsdl_integer(tsdl, field->bytes, false,
				 field->kind == FIELD_UNSIGNED ? field->base :
								 16);
	}
	put_named(tsdl, " ", name, "; ");
}

static void variant_tsdl(struct ctf_buffer *tsdl, const struct ctf_field *f)
{
	ctf_buffer_print(tsdl, "{ ");
	for (int i = 0; i < CTF_STATUS_KINDS; i++) {
		const struct ctf_status_entry *status = &ctf_statuses[i];

		if (status->content == CTF_CONTENT_VALUE)
			value_tsdl(tsdl, f, status->name,
				   CTF_STRINGS_WITH_STATUS);
		else
			ctf_buffer_print(tsdl, "%s %s; ",
					 ctf_content_types[status->content],
					 status->name);
	}
	ctf_buffer_print(tsdl, "} ");
}

/* "_name", or "_name[_name_length_]"; for free(). NULL: no memory, which is
 * kept. */
static char *declarator(struct ctf_buffer *tsdl, const struct ctf_field *f)
{
	const char *name = f->name;
	char *text;
	int n = f->array ?
		asprintf(&text, "_%s[_%s_length_]", name, name) :
		asprintf(&text, "_%s", name);

	if (n >= 0)
		return text;
	tsdl->failed = true;
	return NULL;
}

static void with_status_tsdl(struct ctf_buffer *tsdl,
			     const struct ctf_field *f, const char *place)
{
	const char *name = f->name;

	if (f->array) {
		ctf_put(tsdl, "struct { enum status status; variant <status> ");
		variant_tsdl(tsdl, f);
		put_named(tsdl, "value; } ", place, "; ");
	} else {
		put_named(tsdl, "enum status _", name, "_status_;\n\t\t");
		put_named(tsdl, "variant <_", name, "_status_> ");
		variant_tsdl(tsdl, f);
		put_named(tsdl, "", place, "; ");
	}
}

void ctf_field_tsdl(struct ctf_buffer *tsdl, const struct ctf_field *f,
		    bool with_status)
{
	char *place = declarator(tsdl, f);

	if (!place)
		return;
	ctf_put(tsdl, "\t\t");
	if (f->array)
		put_named(tsdl, "uint16_t _", f->name,
			  "_length_;\n\t\t");
	if (with_status)
		with_status_tsdl(tsdl, f, place);
	else
		value_tsdl(tsdl, f, place, CTF_STRINGS_PLAIN);
	ctf_put(tsdl, "\n");
	free(place);
}
