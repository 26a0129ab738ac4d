/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Formatting strings (manual 1.3.5.7): compiled once per tracepoint into
 * steps, run per record. trcust compiles them too, to warn about controls
 * that don't exist.
 */
#ifndef LIB_FORMAT_H
#define LIB_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

enum format_kind {
	FORMAT_TEXT,		/* literal text */
	FORMAT_CONTROL,		/* one letter of the manual or ours */
};

/* What a typed control prints: %{d32}, %{struct request} */
enum format_type {
	FORMAT_INT,		/* d1 to d64, as the next four; with "be"
				 * after it, d16be, the highest byte first */
	FORMAT_UINT,		/* u; be16 be32 be64: u16be ... */
	FORMAT_HEX,		/* x */
	FORMAT_OCTAL,		/* o */
	FORMAT_BINARY,		/* b */
	FORMAT_ENUM,		/* enum8:RED=0,GREEN=1; any width as above */
	FORMAT_FLAGS,		/* flags8:NONE=0,READ=1,WRITE=2,MODE=4/12:
				 * VALUE/MASK, without a mask its own bits */
	FORMAT_FLOAT,		/* f32 f64 f32be f64be */
	FORMAT_POINTER,		/* p32 p64 */
	FORMAT_BOOL,		/* bool */
	FORMAT_CHAR,		/* c */
	FORMAT_STRING,		/* s; str16: 16 bytes, the text up to a zero */
	FORMAT_BYTES,		/* hex: the rest of the item; hex5: 5 bytes */
	FORMAT_DUMP,		/* dump: the rest in rows, with characters;
				 * dump64: 64 bytes */
	FORMAT_TIME,		/* time32 time64, time: seconds since 1970;
				 * time_ms, time_us, time_ns: 8 bytes */
	FORMAT_TIMESPEC,	/* timespec: and nanoseconds, 8 bytes each */
	FORMAT_TIMEVAL,		/* timeval: seconds and microseconds */
	FORMAT_DURATION,	/* ns, us, ms: 8 bytes, as seconds */
	FORMAT_IP4,		/* ip4, in network order like the next two */
	FORMAT_IP6,		/* ip6 */
	FORMAT_MAC,		/* mac */
	FORMAT_SYM,		/* sym, sym32: an address, as module+offset */
	FORMAT_STACK,		/* stack: the rest, addresses in lines */
	FORMAT_NAMED,		/* a C type */
};

/* A name of ENUM or FLAGS: holds where (value & mask) == this value. */
struct format_name {
	const char *text;	/* letters, digits, '_', '.', '-', '+' */
	size_t length;
	uint64_t value, mask;
};

struct format_step {
	enum format_kind kind;
	char letter;		/* upper case: I P B W D F Q A R S U X Y L C;
				 * '{': typed */
	unsigned int count;	/* %Innn */
	enum format_type type;	/* typed */
	unsigned int bytes;	/* typed: what it takes; 0: the rest, NAMED */
	unsigned int bits;	/* of a value, from the lowest */
	bool big;		/* the highest byte comes first */
	bool is_signed;		/* ENUM: a value below 0 has a name */
	uint32_t unit;		/* TIME, DURATION: ns of one */
	const struct format_name *names;	/* ENUM, FLAGS */
	size_t name_count;
	uint32_t ctype;		/* NAMED: what find() returned */
	const char *text;	/* FORMAT_TEXT and NAMED: into format->text;
				 * ENUM, FLAGS: their names */
	size_t length;
	size_t at;		/* offset of the control in the string */
};

struct format {
	struct format_step *steps;
	size_t count;
	char *text;
	struct format_name *names;
	size_t name_count;
	size_t unknown_at;	/* offset of the first unknown control, kept as
				 * text; (size_t)-1: none */
};

/* The C types that controls may name. */
struct format_types {
	/* Its index; TFF_CTYPE_NONE: there is no such type. */
	uint32_t (*find)(const void *context, const char *name, size_t length);
	const void *context;
};

/* Never fails but for memory (-ENOMEM): what is no control is text. Without
 * types (NULL) every name of a C type is taken. */
int format_compile(struct format *format, const char *string,
		   const struct format_types *types);
void format_free(struct format *format);

/*
 * Does a control's name mean the C type `ctype` of kind TFF_CTYPE_*? 2: it is
 * named so; 1: it would be with the name's struct, class, union or enum in
 * front, which a C++ class or a typedef hasn't; 0: no.
 */
int format_type_match(const char *ctype, uint8_t kind, const char *name,
		      size_t length);
/* Length of the "struct ", "class ", "union " or "enum " in front, and the kind
 * of type that it means; 0: there is none. */
size_t format_type_tag(const char *name, size_t length, uint8_t *kind);
/* The name is that of a typed control: a C type of that name needs its struct,
 * union or enum in front. */
bool format_name_reserved(const char *name);
/* Bytes that a control of a fixed width takes; 0: of no fixed width. NAMED
 * ones are left to the caller. */
unsigned int format_step_bytes(const struct format_step *step);
/* It begins like "enum8:" or "flags8:": names of values are missing. */
bool format_name_listed(const char *name, size_t length);
/* The name of a value of FORMAT_ENUM; NULL: it has none. */
const struct format_name *format_enum_find(const struct format_step *step,
					   uint64_t value);

#endif
