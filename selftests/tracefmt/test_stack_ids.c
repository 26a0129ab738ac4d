// SPDX-License-Identifier: GPL-2.0
/*
 * A record that names its stack by number is read with the stack in full; what
 * a hostile file says of it loses the stack at most. Each end of a stack has a
 * name.
 */
#include <errno.h>
#include <tap.h>
#include "lib/names.h"
#include "lib/read/merge.h"
#include "builder.h"

#define SESSION		1
#define AT		RAS_RECORD_HEADER
#define ID_BYTES	(RAS_ITEM_PREFIX + sizeof(uint32_t))

static const uint64_t frames[] = { 0x1111, 0x2222, 0x3333 };
static const uint64_t others[] = { 0x4444 };

static void copy_add(struct bytes *payload, uint32_t id,
		     const uint64_t *addresses, uint16_t count)
{
	struct ras_stack_copy copy = {
		.id = id, .count = count, .stack.end = RAS_STACK_OUTERMOST,
	};

	bytes_add(payload, &copy, sizeof(copy));
	bytes_add(payload, addresses, count * sizeof(*addresses));
}

static struct bytes stacks_begin(uint32_t session)
{
	struct ras_stacks head = { .session = session };
	struct bytes payload = { 0 };

	bytes_add(&payload, &head, sizeof(head));
	return payload;
}

/* Numbers 7 and 9, of session 1 */
static struct bytes stacks_make(void)
{
	struct bytes payload = stacks_begin(SESSION);

	copy_add(&payload, 7, frames, 3);
	copy_add(&payload, 9, others, 1);
	return payload;
}

/* ---- records ---- */

static const struct {
	const char *name;
	uint32_t id;
	uint16_t stack, session;	/* of the record */
	uint8_t status;
	int cut;			/* bytes after the number: less if < 0 */
	int count;			/* addresses; -1: the record as it is */
	uint8_t end;
} rows[] = {
	{ "a number", 7, AT, 1, RAS_ITEM_STACK_ID, 5, 3, RAS_STACK_OUTERMOST },
	{ "the record's last bytes", 9, AT, 1, RAS_ITEM_STACK_ID, 0, 1,
	  RAS_STACK_OUTERMOST },
	{ "no such number", 8, AT, 1, RAS_ITEM_STACK_ID, 5, 0, RAS_STACK_LOST },
	{ "the highest number", UINT32_MAX, AT, 1, RAS_ITEM_STACK_ID, 5, 0,
	  RAS_STACK_LOST },
	{ "another session", 7, AT, 2, RAS_ITEM_STACK_ID, 5, 0,
	  RAS_STACK_LOST },
	{ "none", 7, 0, 1, RAS_ITEM_STACK_ID, 5, -1, 0 },
	{ "in the header", 7, AT - 1, 1, RAS_ITEM_STACK_ID, 5, -1, 0 },
	{ "another item", 7, AT, 1, RAS_ITEM_STACK, 5, -1, 0 },
	{ "beyond the record's length", 7, AT + 6, 1, RAS_ITEM_STACK_ID, 5, -1,
	  0 },
	{ "far beyond it", 7, UINT16_MAX, 1, RAS_ITEM_STACK_ID, 5, -1, 0 },
	{ "cut short", 7, AT, 1, RAS_ITEM_STACK_ID, -1, -1, 0 },
};

/* Of exactly its size, so that tools see every overrun */
static struct ras_record *record_make(size_t row)
{
	struct ras_item item = { rows[row].status, sizeof(uint32_t) };
	uint32_t length = AT + ID_BYTES + rows[row].cut;
	struct ras_record *record = malloc(length);
	uint8_t rest[ID_BYTES + 16];

	memset(rest, 0x5a, sizeof(rest));
	memcpy(rest, &item, sizeof(item));
	memcpy(rest + sizeof(item), &rows[row].id, sizeof(rows[row].id));
	*record = (struct ras_record){
		.length = length, .session = rows[row].session,
		.stack = rows[row].stack, .minor = 5,
	};
	memcpy(record + 1, rest, length - AT);
	return record;
}

static bool record_expanded(size_t row, const struct ras_record *record)
{
	static const uint8_t after[] = { 0x5a, 0x5a, 0x5a, 0x5a, 0x5a };
	const uint8_t *p = (const uint8_t *)(record + 1);
	size_t stack = sizeof(struct ras_stack) + rows[row].count * 8;
	const uint64_t *addresses = rows[row].count == 1 ? others : frames;
	struct ras_item item;

	memcpy(&item, p, sizeof(item));
	return record->length == AT + sizeof(item) + stack + rows[row].cut &&
	       !record->stack && record->minor == 5 &&
	       item.status == RAS_ITEM_STACK && item.length == stack &&
	       p[sizeof(item)] == rows[row].end &&
	       !memcmp(p + sizeof(item) + sizeof(struct ras_stack), addresses,
		       rows[row].count * 8) &&
	       !memcmp(p + sizeof(item) + stack, after, rows[row].cut);
}

static void test_records(void)
{
	struct stack_ids *ids = calloc(1, sizeof(*ids));
	struct bytes payload = stacks_make();

	tap_is(stack_ids_add(ids, payload.data, payload.size), 0,
	       "stacks are taken");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ras_record *record = record_make(i);
		const struct ras_record *expanded =
			stack_ids_expand(ids, record);

		tap_ok(rows[i].count < 0 ? expanded == record :
					   record_expanded(i, expanded),
		       "%s", rows[i].name);
		free(record);
	}
	stack_ids_free(ids);
	free(ids);
	bytes_free(&payload);
}

/* The longest record has no room for more. */
static void test_long_record(void)
{
	struct ras_record *record = calloc(1, RAS_RECORD_MAX);
	struct stack_ids *ids = calloc(1, sizeof(*ids));
	struct bytes payload = stacks_begin(SESSION);
	struct ras_item item = { RAS_ITEM_STACK_ID, sizeof(uint32_t) };
	uint64_t *addresses = calloc(UINT16_MAX, sizeof(*addresses));
	const struct ras_record *expanded;
	uint32_t id = 1;

	copy_add(&payload, 1, frames, 3);
	copy_add(&payload, 2, addresses, UINT16_MAX);
	stack_ids_add(ids, payload.data, payload.size);
	*record = (struct ras_record){
		.length = RAS_RECORD_MAX, .session = SESSION, .stack = AT,
	};
	memcpy(record + 1, &item, sizeof(item));
	memcpy((uint8_t *)(record + 1) + sizeof(item), &id, sizeof(id));
	expanded = stack_ids_expand(ids, record);
	tap_is(expanded->length, RAS_RECORD_MAX - 2,
	       "a stack that the record has no room for is lost");
	tap_is(((uint8_t *)(expanded + 1))[sizeof(item)], RAS_STACK_LOST,
	       "  and it says so");
	id = 2;
	memcpy((uint8_t *)(record + 1) + sizeof(item), &id, sizeof(id));
	record->length = AT + ID_BYTES;
	expanded = stack_ids_expand(ids, record);
	tap_is(expanded->length, AT + sizeof(item) + sizeof(struct ras_stack),
	       "one that is longer than any record is, too");
	free(addresses);
	free(record);
	stack_ids_free(ids);
	free(ids);
	bytes_free(&payload);
}

/* ---- chunks ---- */

/* Bytes of exactly this size; the frames of number 7 then, -1: lost */
static int cut_frames(const struct bytes *payload, size_t size, int *code)
{
	struct stack_ids *ids = calloc(1, sizeof(*ids));
	struct ras_record *record = record_make(0);
	uint8_t *copy = malloc(size + !size);
	const struct ras_record *expanded;
	struct ras_item item;
	int frames_found;

	memcpy(copy, payload->data, size);
	*code = stack_ids_add(ids, copy, size);
	free(copy);
	expanded = stack_ids_expand(ids, record);
	memcpy(&item, expanded + 1, sizeof(item));
	frames_found = item.length < 10 ? -1 :
		       (item.length - (int)sizeof(struct ras_stack)) / 8;
	free(record);
	stack_ids_free(ids);
	free(ids);
	return frames_found;
}

static void test_cut_chunks(void)
{
	const size_t first = sizeof(struct ras_stacks) +
			     sizeof(struct ras_stack_copy) + 3 * 8;
	struct bytes payload = stacks_make();
	unsigned int wrong = 0;

	for (size_t size = 0; size <= payload.size; size++) {
		int code, found = cut_frames(&payload, size, &code);
		bool whole = size == sizeof(struct ras_stacks) ||
			     size == first || size == payload.size;

		wrong += code != (whole ? 0 : -EINVAL) ||
			 found != (size < first ? -1 : 3);
	}
	tap_is(wrong, 0, "a chunk that is cut has its stacks up to there");
	bytes_free(&payload);
}

static void test_repeated_chunks(void)
{
	struct stack_ids *ids = calloc(1, sizeof(*ids));
	struct bytes payload = stacks_make(), other = stacks_begin(SESSION);
	struct ras_record *record = record_make(0);
	uint64_t bytes;

	stack_ids_add(ids, payload.data, payload.size);
	bytes = ids->bytes;
	copy_add(&other, 7, others, 1);
	tap_is(stack_ids_add(ids, other.data, other.size), 0,
	       "a number that is there twice");
	tap_ok(record_expanded(0, stack_ids_expand(ids, record)),
	       "  is its first stack");
	for (int i = 0; i < 100; i++)
		stack_ids_add(ids, payload.data, payload.size);
	tap_is(ids->bytes, bytes, "a repeated chunk takes no memory");
	free(record);
	stack_ids_free(ids);
	free(ids);
	bytes_free(&payload);
	bytes_free(&other);
}

/* ---- files ---- */

static struct bytes ras_make(size_t *chunk)
{
	static const struct ras_session_point point = { .minor = 5 };
	struct slice_builder slice = slice_begin(0, 0, 0);
	struct bytes ras = { 0 }, log = { 0 }, data = { 0 };
	struct bytes payload = stacks_make();
	uint32_t id = 7;

	ras_begin(&ras, 1000, 0);
	session_add(&log, SESSION, 5, "/tmp/a.tdf", &point, 1);
	ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &log);
	*chunk = ras.size;
	ras_chunk_add(&ras, RAS_CHUNK_STACKS, &payload);
	data_item(&data, RAS_ITEM_STACK_ID, &id, sizeof(id));
	slice_add(&slice, (struct ras_record){
		.session = SESSION, .major = 5, .minor = 5, .stack = AT,
	}, &data);
	ras_slice_add(&ras, &slice);
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	bytes_free(&log);
	bytes_free(&data);
	bytes_free(&payload);
	return ras;
}

/* How the stack of its record ends; -1: there is no record */
static int ras_end(const struct bytes *ras, size_t *damages)
{
	const struct merge_head *head;
	struct trace_file file;
	struct merge merge;
	uint8_t *copy = malloc(ras->size);	/* which the file frees */
	int end = -1;

	memcpy(copy, ras->data, ras->size);
	if (trace_file_open_memory(&file, copy, ras->size, "x.ras", NULL))
		return -1;
	merge_open(&merge, &file);
	trace_file_more(&file);
	merge_more(&merge, file.header.key);
	head = merge_next(&merge, UINT64_MAX);
	if (head)
		end = ((const uint8_t *)(stack_ids_expand(
			&file.stack_ids, head->record) + 1))[RAS_ITEM_PREFIX];
	merge_close(&merge);
	trace_file_finish(&file);
	*damages = file.damage.count;
	trace_file_free(&file);
	return end;
}

static void test_files(void)
{
	size_t chunk, damages;
	struct bytes ras = ras_make(&chunk);
	const size_t address = chunk + sizeof(struct ras_chunk) +
			       sizeof(struct ras_stacks) +
			       sizeof(struct ras_stack_copy);

	tap_is(ras_end(&ras, &damages), RAS_STACK_OUTERMOST,
	       "a file's record has its stack");
	tap_is(damages, 0, "  nothing is damaged");
	ras.data[address] ^= 1;
	tap_is(ras_end(&ras, &damages), RAS_STACK_LOST,
	       "a damaged chunk has none");
	tap_is(damages, 1, "  which is reported");
	bytes_free(&ras);
}

static void test_names(void)
{
	const char *unknown = names_stack_stopped(RAS_STACK_ENDS);

	for (int i = 0; i < RAS_STACK_ENDS; i++)
		tap_ok(names_stack_end[i] && *names_stack_end[i] &&
		       strcmp(names_stack_stopped(i), unknown),
		       "end %d has its names", i);
}

int main(void)
{
	test_records();
	test_long_record();
	test_cut_chunks();
	test_repeated_chunks();
	test_files();
	test_names();
	return tap_done();
}
