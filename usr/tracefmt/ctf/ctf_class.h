/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event classes of a CTF trace: one for each tracepoint and form of its
 * records, with the tracepoint's DESC as name. They are declared in the
 * metadata when the first such event comes.
 */
#ifndef TRACEFMT_CTF_CLASS_H
#define TRACEFMT_CTF_CLASS_H

#include "lib/key_map.h"
#include "lib/read/read.h"
#include "tracefmt/output/output.h"

struct ctf_field {
	const struct field *field;
	char *name;		/* of TSDL, without the leading underscore */
	const struct value_types *types;
	bool array;		/* a sequence */
	bool declared;		/* CTYPE, ENUM: with its type; else as bytes or
				 * a number */
	bool as_text;		/* CTYPE: of a shape */
	/* in the record's pieces */
	const struct decode_piece *first;	/* NULL: none */
	uint32_t count;
};

enum ctf_form {
	CTF_WHOLE,	/* all fields are there */
	CTF_STATUS,	/* each field has its status (ctf_class.c) */
	CTF_BYTES,	/* no format: the data as bytes */
	CTF_ALONE,	/* only the data as bytes: the context is missing or
			 * doesn't fit */
	CTF_FORMS,
};

struct ctf_class {
	const struct match_point *point;
	struct ctf_field *fields;
	size_t field_count;
	uint32_t ids[CTF_FORMS];	/* 0: not declared yet */
	uint64_t lost;			/* records of the point, so far */
};

struct ctf_classes {
	struct key_map points;		/* struct ctf_class, by point */
	uint32_t ids;			/* given so far */
	bool hex;			/* the data in bytes too */
};

/* The class of a point, found or made; NULL: no memory. */
struct ctf_class *ctf_class_find(struct ctf_classes *classes,
				 const struct match_point *point);
/* Of an event that was decoded; sets where its fields are. */
enum ctf_form ctf_class_form(struct ctf_class *class,
			     const struct event *event,
			     const struct scratch *scratch);
/* Its number; the declaration goes to tsdl when there is none yet. */
uint32_t ctf_class_id(struct ctf_classes *classes, struct ctf_class *class,
		      enum ctf_form form, struct text *tsdl);
/* Context and fields. */
void ctf_class_write(struct text *out, const struct ctf_classes *classes,
		     const struct ctf_class *class, enum ctf_form form,
		     const struct event *event, struct symbols *symbols);
void ctf_class_free(struct ctf_classes *classes);

#endif
