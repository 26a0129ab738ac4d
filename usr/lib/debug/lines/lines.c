// SPDX-License-Identifier: GPL-2.0
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/cursor.h"

#define PATH_LENGTH_MAX	4096	/* of each part of a file's name */
#define FORMATS_MAX	255

/* DWARF 5, sections 7.5.6 and 7.22; no header is needed for them */
enum {
	DW_FORM_data2 = 0x05, DW_FORM_data4 = 0x06, DW_FORM_data8 = 0x07,
	DW_FORM_string = 0x08, DW_FORM_block = 0x09, DW_FORM_data1 = 0x0b,
	DW_FORM_strp = 0x0e, DW_FORM_udata = 0x0f, DW_FORM_data16 = 0x1e,
	DW_FORM_line_strp = 0x1f,
	DW_LNCT_path = 1, DW_LNCT_directory_index = 2,
	DW_LNS_copy = 1, DW_LNS_advance_pc = 2, DW_LNS_advance_line = 3,
	DW_LNS_set_file = 4, DW_LNS_set_column = 5,
	DW_LNS_negate_stmt = 6, DW_LNS_const_add_pc = 8,
	DW_LNS_fixed_advance_pc = 9, DW_LNS_set_prologue_end = 10,
	DW_LNE_end_sequence = 1, DW_LNE_set_address = 2,
};

static const char *section_string(const struct dwarf_bytes *section,
				  uint64_t offset)
{
	if (offset >= section->size ||
	    !memchr(section->data + offset, '\0', section->size - offset))
		return "";
	return (const char *)section->data + offset;
}

/* The length that a program begins with; what it holds is left in *c. */
static uint8_t read_length(struct cursor *c)
{
	uint64_t length = cursor_fixed(c, 4);
	uint8_t offset_size = 4;

	if (length == 0xffffffff) {
		length = cursor_fixed(c, 8);
		offset_size = 8;
	}
	if (c->failed || length > (uint64_t)(c->end - c->at))
		c->failed = true;
	else
		c->end = c->at + length;
	return offset_size;
}

static struct cursor cursor_at(const struct dwarf_bytes *section,
			       uint64_t offset)
{
	struct cursor c = { .failed = offset >= section->size };

	if (!c.failed) {
		c.at = section->data + offset;
		c.end = section->data + section->size;
	}
	return c;
}

uint64_t dwarf_program_end(const struct dwarf_program_sections *sections,
			   uint64_t offset)
{
	struct cursor c = cursor_at(&sections->line, offset);

	read_length(&c);
	return c.failed ? 0 : c.end - sections->line.data;
}

struct form_value {
	const char *text;
	uint64_t number;
};

/* The forms of DWARF 5 section 6.2.4.1; any other makes the header bad, since
 * its length isn't known. */
static struct form_value read_form(struct cursor *c, uint64_t form,
				   const struct dwarf_program *program,
				   const struct dwarf_program_sections *s)
{
	struct form_value value = { .text = "" };

	switch (form) {
	case DW_FORM_string:
		value.text = cursor_string(c);
		break;
	case DW_FORM_line_strp:
	case DW_FORM_strp:
		value.number = cursor_fixed(c, program->offset_size);
		value.text = section_string(form == DW_FORM_strp ? &s->str :
								   &s->line_str,
					    value.number);
		break;
	case DW_FORM_udata:
		value.number = cursor_uleb(c);
		break;
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
		value.number = cursor_fixed(c, form == DW_FORM_data1 ? 1 :
					       form == DW_FORM_data2 ? 2 :
					       form == DW_FORM_data4 ? 4 : 8);
		break;
	case DW_FORM_data16:
		cursor_skip(c, 16);
		break;
	case DW_FORM_block:
		cursor_skip(c, cursor_uleb(c));
		break;
	default:
		c->failed = true;
		break;
	}
	return value;
}

/* A file table of DWARF 5, of directories or of files. Each entry has at least
 * one byte, so the header bounds how many there are. */
static int read_entries(struct cursor *c, const struct dwarf_program *program,
			const struct dwarf_program_sections *sections,
			struct dwarf_program_file **files, size_t *file_count)
{
	struct {
		uint64_t content, form;
	} formats[FORMATS_MAX];
	size_t format_count = cursor_fixed(c, 1);
	uint64_t count;

	for (size_t i = 0; i < format_count; i++) {
		formats[i].content = cursor_uleb(c);
		formats[i].form = cursor_uleb(c);
	}
	count = cursor_uleb(c);
	*file_count = 0;
	if (c->failed || (count && !format_count) ||
	    count > (uint64_t)(c->end - c->at))
		return -EINVAL;
	*files = calloc(count + 1, sizeof(**files));
	if (!*files)
		return -ENOMEM;
	for (uint64_t i = 0; i < count && !c->failed; i++) {
		struct dwarf_program_file *file = &(*files)[i];

		file->name = "";
		for (size_t k = 0; k < format_count; k++) {
			struct form_value value = read_form(c, formats[k].form,
							    program, sections);

			if (formats[k].content == DW_LNCT_path)
				file->name = value.text;
			else if (formats[k].content == DW_LNCT_directory_index)
				file->directory = value.number;
		}
	}
	*file_count = count;
	return c->failed ? -EINVAL : 0;
}

static int read_tables_5(struct cursor *c, struct dwarf_program *program,
			 const struct dwarf_program_sections *sections)
{
	int code = read_entries(c, program, sections, &program->directories,
				&program->directory_count);

	return code ? code : read_entries(c, program, sections, &program->files,
					  &program->file_count);
}

/* How many strings there are up to an empty one, each with some numbers. */
static size_t count_strings(struct cursor c, unsigned int numbers)
{
	size_t count = 0;

	while (*cursor_string(&c) && !c.failed) {
		for (unsigned int i = 0; i < numbers; i++)
			cursor_uleb(&c);
		count++;
	}
	return count;
}

/* Before DWARF 5 directory 0 is the unit's, and file 0 is none. */
static int read_tables_2(struct cursor *c, struct dwarf_program *program)
{
	size_t count = count_strings(*c, 0);

	program->directories = calloc(count + 1, sizeof(*program->directories));
	if (!program->directories)
		return -ENOMEM;
	program->directory_count = count + 1;
	program->directories[0].name = "";
	for (size_t i = 1; i <= count; i++)
		program->directories[i].name = cursor_string(c);
	cursor_string(c);
	count = count_strings(*c, 3);
	program->files = calloc(count + 1, sizeof(*program->files));
	if (!program->files)
		return -ENOMEM;
	program->file_count = count + 1;
	program->files[0].name = "";
	for (size_t i = 1; i <= count; i++) {
		program->files[i].name = cursor_string(c);
		program->files[i].directory = cursor_uleb(c);
		cursor_uleb(c);
		cursor_uleb(c);
	}
	return c->failed ? -EINVAL : 0;
}

static int read_header(struct cursor *c, struct dwarf_program *program,
		       const struct dwarf_program_sections *sections)
{
	uint64_t header_length;

	program->offset_size = read_length(c);
	program->version = cursor_fixed(c, 2);
	if (program->version < 2 || program->version > 5)
		return -EINVAL;
	if (program->version == 5)
		cursor_skip(c, 2);	/* sizes of address and selector */
	header_length = cursor_fixed(c, program->offset_size);
	if (c->failed || header_length > (uint64_t)(c->end - c->at))
		return -EINVAL;
	program->end = c->end;
	c->end = program->code = c->at + header_length;
	program->insn_length = cursor_fixed(c, 1);
	if (program->version >= 4)
		cursor_skip(c, 1);	/* operations per instruction: VLIW */
	program->is_stmt = cursor_fixed(c, 1);
	program->line_base = (int8_t)cursor_fixed(c, 1);
	program->line_range = cursor_fixed(c, 1);
	program->opcode_base = cursor_fixed(c, 1);
	if (!program->line_range || !program->opcode_base)
		return -EINVAL;
	program->opcode_lengths = cursor_skip(c, program->opcode_base - 1);
	if (c->failed)
		return -EINVAL;
	return program->version == 5 ? read_tables_5(c, program, sections) :
				       read_tables_2(c, program);
}

int dwarf_program_open(struct dwarf_program *program,
		       const struct dwarf_program_sections *sections,
		       uint64_t offset)
{
	struct cursor c = cursor_at(&sections->line, offset);
	int code;

	memset(program, 0, sizeof(*program));
	code = c.failed ? -EINVAL : read_header(&c, program, sections);
	if (code)
		dwarf_program_close(program);
	return code;
}

void dwarf_program_close(struct dwarf_program *program)
{
	free(program->directories);
	free(program->files);
	memset(program, 0, sizeof(*program));
}

/* The state machine of DWARF 5 section 6.2.2. */
struct line_machine {
	const struct dwarf_program *program;
	struct cursor c;
	struct dwarf_row row;
	uint64_t last;		/* address of the sequence's last row */
	int (*take)(void *context, const struct dwarf_row *row);
	void *context;
};

static void machine_reset(struct line_machine *m)
{
	m->row = (struct dwarf_row){
		.line = 1, .file = 1, .is_stmt = m->program->is_stmt,
	};
	m->last = 0;
}

/* An address that wrapped around is below the one before: linkers put code that
 * they left out at the highest address. */
static int machine_emit(struct line_machine *m)
{
	int code = 0;

	if (m->row.end_sequence && m->row.address < m->last)
		m->row.address = m->last;
	if (m->row.address != m->last)
		m->row.view = 0;
	if (m->row.address >= m->last) {
		code = m->take(m->context, &m->row);
		m->last = m->row.address;
		m->row.view += m->row.view < DWARF_VIEW_MAX;
	}
	m->row.prologue_end = false;
	return code;
}

static int machine_step(struct line_machine *m)
{
	const struct dwarf_program *program = m->program;
	uint8_t opcode = cursor_fixed(&m->c, 1), adjusted;
	struct dwarf_row *row = &m->row;
	const uint8_t *operation;
	uint64_t number;
	struct cursor c;
	int code;

	if (opcode >= program->opcode_base) {	/* a special one */
		adjusted = opcode - program->opcode_base;
		row->address += (uint64_t)program->insn_length *
				(adjusted / program->line_range);
		row->line += program->line_base +
			     adjusted % program->line_range;
		return machine_emit(m);
	}
	switch (opcode) {
	case 0:					/* an extended one */
		number = cursor_uleb(&m->c);
		operation = cursor_skip(&m->c, number);
		if (!operation || !number)
			break;
		c = (struct cursor){ .at = operation,
				     .end = operation + number };
		opcode = cursor_fixed(&c, 1);
		if (opcode == DW_LNE_set_address)
			row->address = cursor_fixed(&c, number - 1 > 8 ? 8 :
							number - 1);
		if (opcode != DW_LNE_end_sequence)
			break;
		row->end_sequence = true;
		code = machine_emit(m);
		machine_reset(m);
		return code;
	case DW_LNS_copy:
		return machine_emit(m);
	case DW_LNS_advance_pc:
		row->address += cursor_uleb(&m->c) * program->insn_length;
		break;
	case DW_LNS_advance_line:
		row->line += cursor_sleb(&m->c);
		break;
	case DW_LNS_set_file:
		row->file = cursor_uleb(&m->c);
		break;
	case DW_LNS_set_column:
		number = cursor_uleb(&m->c);
		row->column = number < UINT16_MAX ? number : UINT16_MAX;
		break;
	case DW_LNS_negate_stmt:
		row->is_stmt = !row->is_stmt;
		break;
	case DW_LNS_const_add_pc:
		row->address += (uint64_t)program->insn_length *
				((255 - program->opcode_base) /
				 program->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		row->address += cursor_fixed(&m->c, 2);
		break;
	case DW_LNS_set_prologue_end:
		row->prologue_end = true;
		break;
	default:
		for (uint8_t i = program->opcode_lengths[opcode - 1]; i; i--)
			cursor_uleb(&m->c);
		break;
	}
	return 0;
}

int dwarf_program_run(const struct dwarf_program *program,
		      int (*take)(void *context, const struct dwarf_row *row),
		      void *context)
{
	struct line_machine m = {
		.program = program,
		.c = { .at = program->code, .end = program->end },
		.take = take, .context = context,
	};
	int code = 0;

	machine_reset(&m);
	while (!code && !m.c.failed && m.c.at < m.c.end)
		code = machine_step(&m);
	return code;
}

/* Take the last part off; false: there is none, or it is "..". */
static bool program_path_drop(const char *path, size_t *length)
{
	size_t at = *length;

	while (at && path[at - 1] != '/')
		at--;
	if (at == *length || (*length - at == 2 && !memcmp(path + at, "..", 2)))
		return *length == 1 && *path == '/';
	*length = at > 1 ? at - 1 : at;
	return true;
}

/* Add the parts of `from` to the path of *length bytes, resolving them. */
static void program_path_add(char *path, size_t *length, const char *from)
{
	if (*from == '/') {
		path[0] = '/';
		*length = 1;
	}
	for (from += strspn(from, "/"); *from; from += strspn(from, "/")) {
		size_t n = strcspn(from, "/");
		const char *part = from;

		from += n;
		if (n == 1 && *part == '.')
			continue;
		if (n == 2 && !memcmp(part, "..", 2) &&
		    program_path_drop(path, length))
			continue;
		if (*length && path[*length - 1] != '/')
			path[(*length)++] = '/';
		memcpy(path + *length, part, n);
		*length += n;
	}
}

char *dwarf_program_path(const struct dwarf_program *program, size_t file,
			 const char *compiled_in)
{
	size_t length = 0, room = 1, directory;
	const char *parts[3] = { "", "", "" };
	char *path;

	if (file >= program->file_count || !*program->files[file].name)
		return NULL;
	parts[2] = program->files[file].name;
	directory = program->files[file].directory;
	if (directory && directory < program->directory_count)
		parts[1] = program->directories[directory].name;
	if (program->directory_count && *program->directories[0].name)
		parts[0] = program->directories[0].name;
	else if (compiled_in)
		parts[0] = compiled_in;
	for (int i = 0; i < 3; i++) {
		if (strlen(parts[i]) > PATH_LENGTH_MAX)
			return NULL;
		room += strlen(parts[i]) + 1;
	}
	path = malloc(room);
	for (int i = 0; path && i < 3; i++)
		program_path_add(path, &length, parts[i]);
	if (path)
		path[length] = '\0';
	return path;
}

struct row_sequence {
	uint64_t address;
	size_t first, count;
};

struct rows_builder {
	bool (*is_code)(const void *context, uint64_t address);
	const void *context;
	struct dwarf_row *rows;
	size_t count, room;
	struct row_sequence *sequences;
	size_t sequence_count, sequence_room;
	bool inside;		/* a sequence */
};

/* One that the linker left out, or that has no code, is dropped. */
static void sequence_end(struct rows_builder *b)
{
	struct row_sequence *sequence = &b->sequences[b->sequence_count - 1];
	const struct dwarf_row end = b->rows[b->count - 1];

	b->inside = false;
	/* rows at the address where the sequence ends have no code */
	if (end.end_sequence) {
		b->count--;
		while (b->count > sequence->first &&
		       b->rows[b->count - 1].address == end.address)
			b->count--;
		if (b->count > sequence->first)
			b->rows[b->count++] = end;
	}
	sequence->count = b->count - sequence->first;
	if (sequence->count && b->is_code(b->context, sequence->address))
		return;
	b->count = sequence->first;
	b->sequence_count--;
}

static int dwarf_row_take(void *context, const struct dwarf_row *row)
{
	struct rows_builder *b = context;

	if (!b->inside) {
		if (!array_grow(&b->sequences, b->sequence_count,
				&b->sequence_room, sizeof(*b->sequences)))
			return -ENOMEM;
		b->sequences[b->sequence_count++] = (struct row_sequence) {
			.address = row->address, .first = b->count,
		};
		b->inside = true;
	}
	if (!array_grow(&b->rows, b->count, &b->room, sizeof(*b->rows)))
		return -ENOMEM;
	b->rows[b->count++] = *row;
	if (row->end_sequence)
		sequence_end(b);
	return 0;
}

static int sequence_compare(const void *a, const void *b)
{
	const struct row_sequence *x = a, *y = b;

	return array_order(x->address, y->address) ?:
	       array_order(x->first, y->first);
}

int dwarf_rows_read(struct dwarf_rows *rows,
		    const struct dwarf_program *program,
		    bool (*is_code)(const void *context, uint64_t address),
		    const void *context)
{
	struct rows_builder b = { .is_code = is_code, .context = context };
	int code = dwarf_program_run(program, dwarf_row_take, &b);

	*rows = (struct dwarf_rows){ 0 };
	if (!code && b.inside)
		sequence_end(&b);
	if (!code)
		rows->list = malloc((b.count + 1) * sizeof(*rows->list));
	if (!code && !rows->list)
		code = -ENOMEM;
	if (!code && b.sequence_count)
		qsort(b.sequences, b.sequence_count, sizeof(*b.sequences),
		      sequence_compare);
	for (size_t i = 0; i < b.sequence_count && !code; i++) {
		memcpy(&rows->list[rows->count],
		       &b.rows[b.sequences[i].first],
		       b.sequences[i].count * sizeof(*rows->list));
		rows->count += b.sequences[i].count;
	}
	free(b.rows);
	free(b.sequences);
	return code;
}

void dwarf_rows_free(struct dwarf_rows *rows)
{
	free(rows->list);
	*rows = (struct dwarf_rows){ 0 };
}

bool dwarf_rows_find(const struct dwarf_rows *rows, uint64_t address,
		     size_t *first, size_t *end)
{
	*first = *end = !address ? 0 :
		array_count_upto(rows->list, rows->count, sizeof(*rows->list),
				 address - 1);
	while (*end < rows->count && rows->list[*end].address == address)
		++*end;
	*first -= *first == *end && *first;
	return *end;
}

#define RANGES_MAX	(1 << 22)	/* damaged units may share their ranges */

bool unit_ranges_add(struct unit_ranges *ranges, uint64_t start, uint64_t end,
		     uint64_t unit)
{
	if (ranges->count == RANGES_MAX)
		return true;
	if (!array_grow(&ranges->list, ranges->count, &ranges->room,
			sizeof(*ranges->list)))
		return false;
	ranges->list[ranges->count++] = (struct unit_range){ start, end, unit };
	return true;
}

/* The longest first: what it leaves uncovered can be another's. */
static int unit_range_compare(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return array_order(x->start, y->start) ?: array_order(y->end, x->end);
}

/* Of a function that several units define the linker keeps one copy, and all of
 * them may have its range: the first unit gets it. */
void unit_ranges_sort(struct unit_ranges *ranges)
{
	uint64_t covered = 0;
	size_t kept = 0;

	if (ranges->count)
		qsort(ranges->list, ranges->count, sizeof(*ranges->list),
		      unit_range_compare);
	for (size_t i = 0; i < ranges->count; i++) {
		struct unit_range range = ranges->list[i];

		if (range.start < covered)
			range.start = covered;
		if (range.start >= range.end)
			continue;
		covered = range.end;
		ranges->list[kept++] = range;
	}
	ranges->count = kept;
}

bool unit_ranges_find(const struct unit_ranges *ranges, uint64_t address,
		      uint64_t *unit)
{
	size_t at = array_count_upto(ranges->list, ranges->count,
				     sizeof(*ranges->list), address);

	if (!at || address >= ranges->list[at - 1].end)
		return false;
	*unit = ranges->list[at - 1].unit;
	return true;
}
