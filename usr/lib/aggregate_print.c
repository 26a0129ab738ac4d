// SPDX-License-Identifier: GPL-2.0
#include "aggregate_print.h"

#include <inttypes.h>
#include <rastrace/tdf.h>
#include "lib/bucket.h"
#include "lib/names.h"

#define BAR		40	/* characters of the longest bar */
#define WIDTH_MAX	64	/* of a column */

static void text_add_safe(struct text *text, const void *bytes, size_t n)
{
	if (text_reserve(text, 4 * n))
		return;
	text->used = safe_text_put(text->data + text->used, bytes, n, false) -
		     text->data;
}

static int64_t by_number(const uint8_t *value)
{
	int64_t number;

	memcpy(&number, value, sizeof(number));
	return number;
}

/* The outermost first. What isn't the whole stack begins with "...". */
static void stack_fold(struct text *text, const struct aggregate_table *table,
		       const struct aggregate_stack *stack)
{
	const struct aggregate_names *names = table->names;
	bool whole = stack->stack.end == RAS_STACK_OUTERMOST ||
		     stack->stack.end == RAS_STACK_UNWINDER;

	if (!whole)
		TEXT_ADD(text, "...");
	for (size_t at = stack->bytes / 8 * 8; at; at -= 8) {
		uint64_t address = by_number(stack->addresses + at - 8);

		if (!whole || at < stack->bytes / 8 * 8)
			text_add_char(text, ';');
		if (names)
			names->folded(names->context, stack->pid, address,
				      text);
		else
			text_print(text, "0x%" PRIX64, address);
	}
}

static bool by_is_stack(const struct ras_legend *legend, unsigned int by)
{
	return legend->by[by].kind == TDF_BY_STACK;
}

void aggregate_by_add(struct text *text, const struct aggregate_table *table,
		      unsigned int by, const uint8_t *values)
{
	const struct ras_legend *legend = table->legend;
	struct aggregate_stack stack;
	const uint8_t *value = values + aggregate_offset(legend, by);
	size_t length;
	bool cut;

	switch (legend->by[by].kind) {
	case TDF_BY_TEXT:
		length = aggregate_text(legend, by, value, &cut);
		text_add_safe(text, value, length);
		if (cut)
			TEXT_ADD(text, "...");
		break;
	case TDF_BY_STACK:
		stack = aggregate_stack(legend, by, value);
		stack_fold(text, table, &stack);
		break;
	case TDF_BY_SIGNED:
		text_print(text, "%" PRId64, by_number(value));
		break;
	default:
		text_print(text, "%" PRIu64, (uint64_t)by_number(value));
	}
}

void aggregate_title_add(struct text *text, const struct aggregate_table *table)
{
	const struct ras_legend *legend = table->legend;

	text_add_string(text, names_aggregate[legend->kind]);
	if (legend->text[0]) {
		text_add_char(text, '(');
		text_add_safe(text, legend->text, strlen(legend->text));
		text_add_char(text, ')');
	}
	for (unsigned int i = 0; i < legend->by_count; i++) {
		text_add_string(text, i ? ", " : " by ");
		text_add_safe(text, legend->by[i].text,
			 strlen(legend->by[i].text));
	}
}

void aggregate_name_add(struct text *text, const struct aggregate_table *table)
{
	const struct ras_legend *legend = table->legend;

	text_print(text, "  %5u  ", legend->minor);
	text_add_safe(text, legend->name, strlen(legend->name));
	TEXT_ADD(text, ": ");
	aggregate_title_add(text, table);
	text_add_char(text, '\n');
}

/* How long calls took, in ns */
static bool is_duration(const struct ras_legend *legend)
{
	return !strcmp(legend->text, "elapsed") ||
	       !strcmp(legend->text, "cputime");
}

/* At most TEXT_DURATION characters */
static void value_print(char *out, const struct ras_legend *legend,
			int64_t value)
{
	if (is_duration(legend) && value >= 0)
		*text_put_duration(out, value) = '\0';
	else
		sprintf(out, "%" PRId64, value);
}

/* Columns of text, whose widths are those of the widest; the last one has
 * none. */
struct row_columns {
	size_t widths[TDF_BY_MAX + 2];
	size_t at;		/* where the column began */
	unsigned int column;
	bool measure;
};

static void column_end(struct text *text, struct row_columns *c)
{
	size_t width = text->used - c->at;

	if (width > WIDTH_MAX)
		width = WIDTH_MAX;
	if (c->measure && width > c->widths[c->column])
		c->widths[c->column] = width;
	if (!c->measure)
		text_add_blanks(text, c->widths[c->column] - width + 2);
	c->column++;
	c->at = text->used;
}

/* Numbers are at the right. */
static void column_number_add(struct text *text, struct row_columns *c,
			      const char *digits)
{
	int n = strlen(digits);

	if (!c->measure && c->widths[c->column] > (size_t)n)
		text_add_blanks(text, c->widths[c->column] - n);
	text_add(text, digits, n);
	column_end(text, c);
}

static void by_stack_add(struct text *text, const struct aggregate_table *table,
		      const struct aggregate_stack *stack)
{
	const struct aggregate_names *names = table->names;

	if (stack->pid)
		text_print(text, "        process %" PRIu32 "\n", stack->pid);
	for (size_t at = 0; at + 8 <= stack->bytes; at += 8) {
		uint64_t address = by_number(stack->addresses + at);

		if (names)
			names->lines(names->context, stack->pid, address,
				     text);
		else
			text_print(text, "          %016" PRIX64 "\n",
				   address);
	}
	text_print(text, "          %s%s\n",
		   names_stack_stopped(stack->stack.end),
		   stack->stack.flags & RAS_STACK_CHANGED ?
		   " <may be wrong: code was mapped meanwhile>" : "");
}

/* The stacks of a row, below it */
static void stacks_add(struct text *text, const struct aggregate_table *table,
		       const struct aggregate_row *row)
{
	const struct ras_legend *legend = table->legend;

	for (unsigned int i = 0; i < legend->by_count; i++) {
		struct aggregate_stack stack;

		if (!by_is_stack(legend, i))
			continue;
		stack = aggregate_stack(legend, i, row->by +
					aggregate_offset(legend, i));
		by_stack_add(text, table, &stack);
	}
}

static void row_add(struct text *text, const struct aggregate_table *table,
		    const struct aggregate_row *row, struct row_columns *c)
{
	const struct ras_legend *legend = table->legend;
	char count[24], value[TEXT_DURATION];

	TEXT_ADD(text, "    ");
	c->at = text->used;
	c->column = 0;
	sprintf(count, "%" PRIu64, row->count);
	if (legend->kind != TDF_AGGREGATE_COUNT) {
		value_print(value, legend, row->value);
		column_number_add(text, c, value);
	}
	column_number_add(text, c, count);
	for (unsigned int i = 0; i < legend->by_count; i++) {
		if (by_is_stack(legend, i))
			continue;
		aggregate_by_add(text, table, i, row->by);
		column_end(text, c);
	}
	while (text->used && text->data[text->used - 1] == ' ')
		text->used--;
	text_add_char(text, '\n');
	stacks_add(text, table, row);
}

static void rows_heading(struct text *text, const struct ras_legend *legend,
			 struct row_columns *c)
{
	const char *headings[] = { names_aggregate[legend->kind], "hits" };
	unsigned int count = 1 + (legend->kind != TDF_AGGREGATE_COUNT);

	TEXT_ADD(text, "    ");
	c->at = text->used;
	c->column = 0;
	for (unsigned int i = 0; i < count; i++) {
		size_t width = strlen(i || legend->kind ? headings[i] : "hits");

		if (!c->measure && c->widths[c->column] > width)
			text_add_blanks(text, c->widths[c->column] - width);
		text_add_string(text, i || legend->kind ? headings[i] : "hits");
		column_end(text, c);
	}
	for (unsigned int i = 0; i < legend->by_count; i++) {
		if (by_is_stack(legend, i))
			continue;
		text_add_safe(text, legend->by[i].text,
			 strlen(legend->by[i].text));
		column_end(text, c);
	}
	while (text->used && text->data[text->used - 1] == ' ')
		text->used--;
	text_add_char(text, '\n');
}

static void rows_table_add(struct text *text, const struct aggregate_table *table,
		     size_t rows)
{
	struct row_columns c = { .measure = true };
	size_t begin = text->used;

	for (int pass = 0; pass < 2; pass++) {
		text->used = begin;
		rows_heading(text, table->legend, &c);
		for (size_t i = 0; i < rows; i++)
			row_add(text, table, &table->rows[i], &c);
		c.measure = false;
	}
}

/* Values of a power of two: bits of the highest one, 0 of 0, -1 of negatives */
static int octave_find(unsigned int bucket)
{
	uint64_t start;

	if (bucket == RAS_BUCKET_NEGATIVE)
		return -1;
	start = bucket_start(bucket);
	return start ? 64 - __builtin_clzll(start) : 0;
}

static void octave_add(struct text *text, const struct ras_legend *legend,
		       int octave, uint64_t count, uint64_t most)
{
	char from[TEXT_DURATION], to[TEXT_DURATION];
	uint64_t low = octave > 0 ? 1ULL << (octave - 1) : 0;
	uint64_t high = octave > 0 ? 2 * low - 1 : 0;
	unsigned int bar = (count * (unsigned __int128)BAR + most - 1) / most;

	if (octave < 0) {
		text_print(text, "      %20s  %-20s", "less", "than 0");
	} else if (octave == 64) {
		text_print(text, "      %20" PRIu64 "  %-20" PRIu64, low,
			   high);
	} else {
		value_print(from, legend, low);
		value_print(to, legend, high);
		text_print(text, "      %20s  %-20s", from, to);
	}
	text_print(text, " %12" PRIu64 " |", count);
	for (unsigned int i = 0; i < bar; i++)
		text_add_char(text, '#');
	text_add_char(text, '\n');
}

static void histogram_add(struct text *text, const struct ras_legend *legend,
			  const struct aggregate_row *row)
{
	uint64_t counts[65] = { 0 }, most = 1;
	int first = 64, last = -1;

	for (size_t i = 0; i < row->bucket_count; i++) {
		int octave = octave_find(row->buckets[i].bucket) + 1;

		counts[octave] += row->buckets[i].count;
		most = counts[octave] > most ? counts[octave] : most;
		first = octave < first ? octave : first;
		last = octave > last ? octave : last;
	}
	for (int octave = first; octave <= last; octave++)
		octave_add(text, legend, octave - 1, counts[octave], most);
}

static void histograms_add(struct text *text,
			   const struct aggregate_table *table, size_t rows)
{
	static const unsigned int permilles[] = { 500, 900, 990, 999 };
	const struct ras_legend *legend = table->legend;

	for (size_t i = 0; i < rows; i++) {
		const struct aggregate_row *row = &table->rows[i];
		char value[TEXT_DURATION], mean[TEXT_DURATION];

		TEXT_ADD(text, "    ");
		for (unsigned int k = 0; k < legend->by_count; k++) {
			text_add_safe(text, legend->by[k].text,
				 strlen(legend->by[k].text));
			TEXT_ADD(text, " = ");
			aggregate_by_add(text, table, k, row->by);
			text_add_string(text, k + 1 < legend->by_count ? ", " :
									 ": ");
		}
		value_print(value, legend, row->value);
		if (is_duration(legend))
			value_print(mean, legend, aggregate_mean(row));
		else
			sprintf(mean, "%.1f", aggregate_mean(row));
		text_print(text, "%" PRIu64 " value%s, sum %s, mean %s",
			   row->count, row->count == 1 ? "" : "s", value, mean);
		for (size_t k = 0;
		     k < sizeof(permilles) / sizeof(*permilles); k++) {
			value_print(value, legend,
				    aggregate_permille(row, permilles[k]));
			text_print(text, ", p%.4g %s", permilles[k] / 10.0,
				   value);
		}
		text_add_char(text, '\n');
		histogram_add(text, legend, row);
	}
}

void aggregate_table_add(struct text *text, const struct aggregate_table *table,
			 size_t most)
{
	size_t rows = most && table->row_count > most ? most :
							table->row_count;

	if (!table->row_count)
		TEXT_ADD(text, "    nothing was added\n");
	else if (table->legend->kind == TDF_AGGREGATE_HIST)
		histograms_add(text, table, rows);
	else
		rows_table_add(text, table, rows);
	if (rows < table->row_count)
		text_print(text, "    ... and %zu more\n",
			   table->row_count - rows);
}

static void stack_json(struct json *json, const struct aggregate_table *table,
		       const struct aggregate_stack *stack)
{
	const struct aggregate_names *names = table->names;
	char hex[24];

	json_open(json, NULL, '{');
	json_number(json, "pid", stack->pid);
	json_open(json, "frames", '[');
	for (size_t at = 0; at + 8 <= stack->bytes; at += 8) {
		uint64_t address = by_number(stack->addresses + at);

		if (names) {
			json_key(json, NULL);
			names->json(names->context, stack->pid, address,
				    json->text);
			continue;
		}
		snprintf(hex, sizeof(hex), "0x%" PRIX64, address);
		json_open(json, NULL, '{');
		json_string(json, "address", hex);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_string(json, "end", stack->stack.end < RAS_STACK_ENDS ?
		    names_stack_end[stack->stack.end] : "unknown");
	if (stack->stack.flags & RAS_STACK_CHANGED)
		json_boolean(json, "changed", true);
	json_close(json, '}');
}

static void row_json(struct json *json, const struct aggregate_table *table,
		     const struct aggregate_row *row)
{
	const struct ras_legend *legend = table->legend;

	json_open(json, NULL, '{');
	json_open(json, "by", '[');
	for (unsigned int i = 0; i < legend->by_count; i++) {
		const uint8_t *value = row->by + aggregate_offset(legend, i);
		bool cut = false;

		if (legend->by[i].kind == TDF_BY_SIGNED) {
			json_signed(json, NULL, by_number(value));
		} else if (legend->by[i].kind == TDF_BY_UNSIGNED) {
			json_number(json, NULL, by_number(value));
		} else if (by_is_stack(legend, i)) {
			struct aggregate_stack stack =
				aggregate_stack(legend, i, value);

			stack_json(json, table, &stack);
		} else {
			size_t n = aggregate_text(legend, i, value, &cut);
			char bytes[TDF_BY_TEXT_MAX + 10];

			n = n > TDF_BY_TEXT_MAX ? TDF_BY_TEXT_MAX : n;
			memcpy(bytes, value, n);
			strcpy(bytes + n, cut ? "..." : "");
			json_key(json, NULL);
			json_add_string(json->text, bytes, strlen(bytes));
		}
	}
	json_close(json, ']');
	json_number(json, "count", row->count);
	if (legend->kind != TDF_AGGREGATE_COUNT)
		json_signed(json, legend->kind == TDF_AGGREGATE_HIST ? "sum" :
			    names_aggregate[legend->kind], row->value);
	if (legend->kind == TDF_AGGREGATE_HIST) {
		json_open(json, "buckets", '[');
		for (size_t i = 0; i < row->bucket_count; i++) {
			unsigned int bucket = row->buckets[i].bucket;

			json_open(json, NULL, '[');
			if (bucket == RAS_BUCKET_NEGATIVE) {
				json_null(json, NULL);
				json_signed(json, NULL, -1);
			} else {
				json_number(json, NULL, bucket_start(bucket));
				json_number(json, NULL, bucket_start(bucket) +
					    bucket_width(bucket) - 1);
			}
			json_number(json, NULL, row->buckets[i].count);
			json_close(json, ']');
		}
		json_close(json, ']');
	}
	json_close(json, '}');
}

void aggregate_table_json(struct json *json,
			  const struct aggregate_table *table)
{
	const struct ras_legend *legend = table->legend;

	json_number(json, "minor", legend->minor);
	json_string(json, "name", legend->name);
	json_string(json, "kind", names_aggregate[legend->kind]);
	json_string(json, "expression", legend->text);
	json_open(json, "by", '[');
	for (unsigned int i = 0; i < legend->by_count; i++)
		json_string(json, NULL, legend->by[i].text);
	json_close(json, ']');
	json_open(json, "rows", '[');
	for (size_t i = 0; i < table->row_count; i++)
		row_json(json, table, &table->rows[i]);
	json_close(json, ']');
}

/* Without what separates stacks and figures */
static void folded_clean(struct text *text, size_t from)
{
	for (; !text->error && from < text->used; from++)
		if (strchr(" ;\n", text->data[from]))
			text->data[from] = '_';
}

void aggregate_folded_add(struct text *text,
			  const struct aggregate_table *table)
{
	const struct ras_legend *legend = table->legend;
	unsigned int stack = 0;

	while (stack < legend->by_count && !by_is_stack(legend, stack))
		stack++;
	for (size_t i = 0; stack < legend->by_count && i < table->row_count;
	     i++) {
		const struct aggregate_row *row = &table->rows[i];

		for (unsigned int k = 0; k < legend->by_count; k++) {
			size_t from = text->used;

			if (k == stack)
				continue;
			aggregate_by_add(text, table, k, row->by);
			folded_clean(text, from);
			text_add_char(text, ';');
		}
		aggregate_by_add(text, table, stack, row->by);
		text_print(text, " %" PRId64 "\n",
			   legend->kind == TDF_AGGREGATE_SUM ? row->value :
			   (int64_t)row->count);
	}
}
