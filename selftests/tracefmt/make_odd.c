// SPDX-License-Identifier: GPL-2.0
/*
 * make_odd FOLDER SEED N: writes odd.ras with N records and its TFF, for
 * outputs that must say the same of a trace: every control, C types and names that are
 * odd, items that faulted, were cut or have another length, data that is
 * anything, contexts, several CPUs, times that go back.
 */
#define BUILD_KEY	0x0ddba11c0ffee000ULL
#include "lib/hash.c"
#include "builder.h"

#define START	1770163190LL	/* 2026-02-03 23:59:50 UTC, boot time 0 */
#define SECOND	1000000000ULL
#define CPUS	4
#define MAJOR	0xc7

/*
 * What the records of a format have: a digit is so many bytes (9: 96), x 16,
 * y an item of 24; i an item of as many as the next says; s a string item, z a
 * string with a zero; k a stack; a an item of any length.
 */
static const struct odd_point {
	const char *desc, *fmt, *data;
} odd_points[] = {
	{ "registers", "AX=%W EBX=%F RCX=%L b=%B q=%Q a=%A d=%D\n",
	  "2481444" },
	{ "strings and \"quotes\" \\ \033[31m \xff end", "one=%P%S two=%P%S\n",
	  "ss" },
	{ "the rest", "words=%R%W chars: %R%C, bytes %R%U\n", "aaa" },
	{ "integers", "a=%{d8} b=%{d16} c=%{d32} d=%{d64} e=%{u64} f=%{x64}"
	  " g=%{o16} h=%{b8}\n", "12488821" },
	{ "odd widths", "a=%{d24} b=%{u40be} c=%{x48} d=%{d5} e=%{u16be}\n",
	  "35612" },
	{ "named values", "e=%{enum8:RED=0,GREEN=1,BLUE=200} f="
	  "%{flags16:READ=1,WRITE=2,EXEC=4} g=%{bool}"
	  " h=%{enum16:LOW=-2,NONE=0}\n", "1212" },
	{ "floats", "f=%{f32} d=%{f64} again=%P%{f64}\n", "48i8" },
	{ "times", "t=%{time32} u=%{time64} s=%{timespec} v=%{timeval}"
	  " n=%{ns}\n", "48xx8" },
	{ "networks", "four %{ip4} six %{ip6} mac %{mac}\n", "4x6" },
	{ "addresses", "at %{sym} %{p64} %{p32} far %A %P%A\n", "8844i4" },
	{ "bytes", "five=%{hex5} rest=%P%{hex} dump=%P%{dump}\n", "5aa" },
	{ "stack", "stack=%P%{stack}\n", "k" },
	{ "typed", "r=%P%{struct odd} c=%P%{enum colour} i=%P%{int}\n",
	  "i9i4i4" },
	{ "typed again", "u=%P%{union both} m=%P%{int[2][3]}"
	  " n=%P%{struct names}\n", "i8yi9" },
	{ "the same name", "same=%W same=%W same_2=%W 9=%B =%B struct=%B\n",
	  "222111" },
	{ "typed rest", "all=%R%{d32} it=%R%{enum colour}\n", "aa" },
	{ "", "no desc %W\n", "2" },
	{ "static string", "n=%W text=%S\n", "2z" },
	{ "nothing", "just text\n", "" },
};

#define ODD_POINTS	(sizeof(odd_points) / sizeof(*odd_points))
#define WILD_POINTS	12	/* whose FMT is made of anything */
#define POINTS		(ODD_POINTS + WILD_POINTS)

static uint64_t state;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static bool one_in(unsigned int n)
{
	return any() % n == 0;
}

/* ---- formats ---- */

static char wild[WILD_POINTS][512];

static const char *one_of(const char *const *texts, size_t n)
{
	return texts[any() % n];
}

static void wild_make(char *fmt)
{
	static const char *const labels[] = {
		"", "a", "a", "a_status", "a_length", "_a", "__a", "a_2", "2",
		"event", "struct", "value", "string", "a_status_", "data",
		"stack", "int x", "\xc3\xa9", "\"q\"", "status", "length",
		"align", "a.b->c[1]", "very_long_name_that_goes_on_and_on", "_",
		"arg1", "arg2", "stack_", "text", "empty", "m1_a", "A",
	};
	static const char *const controls[] = {
		"%W", "%B", "%F", "%P%S", "%P%W", "%L", "%A", "%C", "%S",
		"%{d24}", "%{f32}", "%P%{hex}", "%{u3}", "%R%W", "%R%C",
		"%{enum8:=0}", "%{enum8:A=0,A=1,B=0}", "%{flags8:A=1,B=1/3}",
		"%P%{struct names}", "%{enum colour}", "%{bool}", "%{sym}",
		"%I2 ", "%X", "%R%{union both}", "%{time_ns}", "%{str4}",
	};
	size_t n = 1 + any() % 8;

	for (size_t i = 0; i < n; i++) {
		fmt = stpcpy(fmt, one_of(labels, sizeof(labels) /
					 sizeof(*labels)));
		*fmt++ = ' ';
		fmt = stpcpy(fmt, one_of(controls, sizeof(controls) /
					 sizeof(*controls)));
		*fmt++ = one_in(4) ? '\n' : ' ';
	}
	strcpy(fmt, "\n");
}

static struct odd_point point_of(size_t i)
{
	if (i < ODD_POINTS)
		return odd_points[i];
	if (i < POINTS)
		return (struct odd_point){ "wild", wild[i - ODD_POINTS],
					   "aasa4482" };
	return (struct odd_point){ .data = "4" };
}

/* ---- C types ---- */

enum {
	T_INT, T_CHAR, T_CHAR6, T_LONG, T_DOUBLE, T_FLOAT, T_POINTER, T_BOOL,
	T_COLOUR, T_WIDE, T_INT3, T_INT23, T_ANONYMOUS, T_EMPTY, T_FLEXIBLE,
	T_ODD, T_BOTH, T_NAMES,
};

static void scalars_add(struct tff_builder *tff)
{
	static const struct {
		const char *name;
		struct tff_ctype type;
	} types[] = {
		{ "int", { .bytes = 4, .kind = TFF_CTYPE_INT } },
		{ "char", { .bytes = 1, .kind = TFF_CTYPE_CHAR } },
		{ "char[6]", { .bytes = 6, .kind = TFF_CTYPE_ARRAY,
			       .target = T_CHAR, .count = 6 } },
		{ "long", { .bytes = 8, .kind = TFF_CTYPE_INT } },
		{ "double", { .bytes = 8, .kind = TFF_CTYPE_FLOAT } },
		{ "float", { .bytes = 4, .kind = TFF_CTYPE_FLOAT } },
		{ "void *", { .bytes = 8, .kind = TFF_CTYPE_POINTER,
			      .target = TFF_CTYPE_NONE } },
		{ "_Bool", { .bytes = 1, .kind = TFF_CTYPE_BOOL } },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		tff_ctype_add(tff, types[i].name, types[i].type);
}

static void member(struct tff_builder *tff, const char *name, uint32_t ctype,
		   uint64_t bit, uint32_t bits)
{
	tff_member_add(tff, name, (struct tff_member){
			       .ctype = ctype, .value = bit, .bits = bits });
}

static void enumerator(struct tff_builder *tff, const char *name, int64_t value)
{
	tff_member_add(tff, name, (struct tff_member){ .value = value });
}

static void composed_add(struct tff_builder *tff)
{
	tff_ctype_add(tff, "enum colour", (struct tff_ctype){
			      .bytes = 4, .kind = TFF_CTYPE_ENUM,
			      .is_signed = 1 });
	enumerator(tff, "RED", 0);
	enumerator(tff, "struct", 1);
	enumerator(tff, "\"a\\b\"\n", 2);
	enumerator(tff, "LESS", -3);
	enumerator(tff, "LEAST", INT32_MIN);
	tff_ctype_add(tff, "__int128", (struct tff_ctype){
			      .bytes = 16, .kind = TFF_CTYPE_INT });
	tff_ctype_add(tff, "int[3]", (struct tff_ctype){
			      .bytes = 12, .kind = TFF_CTYPE_ARRAY,
			      .target = T_INT, .count = 3 });
	tff_ctype_add(tff, "int[2][3]", (struct tff_ctype){
			      .bytes = 24, .kind = TFF_CTYPE_ARRAY,
			      .target = T_INT3, .count = 2 });
	tff_ctype_add(tff, "", (struct tff_ctype){
			      .bytes = 8, .kind = TFF_CTYPE_STRUCT });
	member(tff, "inner", T_INT, 0, 0);
	member(tff, "low", T_INT, 32, 5);
	member(tff, "high", T_COLOUR, 37, 4);
	member(tff, "across", T_LONG, 41, 23);
	tff_ctype_add(tff, "struct empty", (struct tff_ctype){
			      .kind = TFF_CTYPE_STRUCT });
	tff_ctype_add(tff, "int[]", (struct tff_ctype){
			      .kind = TFF_CTYPE_ARRAY, .target = T_INT });
}

static void records_add(struct tff_builder *tff)
{
	tff_ctype_add(tff, "struct odd", (struct tff_ctype){
			      .bytes = 96, .kind = TFF_CTYPE_STRUCT });
	member(tff, "id", T_INT, 0, 0);
	member(tff, "tag", T_CHAR6, 32, 0);
	member(tff, "one", T_CHAR, 80, 0);
	member(tff, "truth", T_BOOL, 88, 0);
	member(tff, "colour", T_COLOUR, 96, 0);
	member(tff, "", T_ANONYMOUS, 128, 0);
	member(tff, "f", T_FLOAT, 192, 0);
	member(tff, "none", T_EMPTY, 224, 0);
	member(tff, "d", T_DOUBLE, 256, 0);
	member(tff, "p", T_POINTER, 320, 0);
	member(tff, "wide", T_WIDE, 384, 0);
	member(tff, "matrix", T_INT23, 512, 0);
	member(tff, "long", T_LONG, 704, 0);
	member(tff, "more", T_FLEXIBLE, 768, 0);
	tff_ctype_add(tff, "union both", (struct tff_ctype){
			      .bytes = 8, .kind = TFF_CTYPE_UNION });
	member(tff, "integer", T_LONG, 0, 0);
	member(tff, "string", T_CHAR6, 0, 0);
	member(tff, "float", T_DOUBLE, 0, 0);
	tff_ctype_add(tff, "struct names", (struct tff_ctype){
			      .bytes = 96, .kind = TFF_CTYPE_STRUCT });
	member(tff, "a b", T_INT, 0, 0);
	member(tff, "a-b", T_INT, 32, 0);
	member(tff, "", T_BOTH, 64, 0);
	member(tff, "_x", T_INT, 128, 0);
}

static void make_tff(const char *folder)
{
	struct tff_builder tff = { .major = MAJOR };
	struct bytes out;

	tff_section_begin(&tff, "/usr/bin/odd", 0xefbeadde);
	for (size_t i = 0; i < WILD_POINTS; i++)
		wild_make(wild[i]);
	for (size_t i = 0; i < POINTS; i++)
		tff_entry_add(&tff, i + 1, 0x1000 + i, 0, point_of(i).desc,
			      point_of(i).fmt);
	scalars_add(&tff);
	composed_add(&tff);
	records_add(&tff);
	out = tff_finish(&tff);
	bytes_write(&out, folder, "TRC00C7.TFF");
	bytes_free(&out);
}

/* ---- data ---- */

static void any_bytes(struct bytes *b, size_t n)
{
	uint64_t kind = any() % 4;

	while (n--) {
		uint8_t byte = kind == 0 ? 0 : kind == 1 ? 0xff :
			       kind == 2 ? any() % 3 : any();

		bytes_add(b, &byte, 1);
	}
}

static const char *any_text(void)
{
	static const char *const texts[] = {
		"", "plain", "/etc/hostname", "\033[2J\033]0;x\007", "a\nb\tc\r",
		"\"quoted\" \\ back", "gr\xc3\xbc\xc3\x9f dich \xe2\x82\xac",
		"latin \xe9\xff", "</script><!--", "\xe2\x80\xa8 line", "\xc2\x85",
		"%s%n %d", "\xf0\x9f\x98\x80", "cut \xe2\x82", "\x7f \x01\x1f",
		"'; DROP", "=1+1", "name=1, other: 2",
	};

	return texts[any() % (sizeof(texts) / sizeof(*texts))];
}

static void item_any(struct bytes *b, uint8_t status, size_t n)
{
	struct bytes data = { 0 };

	any_bytes(&data, n);
	data_item(b, status, data.data, data.size);
	bytes_free(&data);
}

/* A fault instead of n bytes; true: nothing follows. */
static bool wrong(struct bytes *b, size_t n)
{
	static const uint8_t faults[] = {
		RAS_ITEM_FAULT, RAS_ITEM_SELECTOR, RAS_ITEM_LEFT,
		RAS_ITEM_NOT_TRIED, RAS_ITEM_ARITHMETIC,
		RAS_ITEM_UNKNOWN,
	};

	switch (any() % 5) {
	case 0:
		item_any(b, faults[any() % sizeof(faults)], 8);
		return one_in(2);
	case 1:
		data_item(b, RAS_ITEM_ABSENT, NULL, 0);
		return false;
	case 2:
		item_any(b, RAS_ITEM_VALUE | RAS_ITEM_CUT, any() % (n + 1));
		return false;
	case 3:
		item_any(b, any(), any() % 40);
		return false;
	default:
		item_any(b, RAS_ITEM_VALUE | RAS_ITEM_PAGED_IN,
			 any() % (n + 20));
		return false;
	}
}

static void any_stack(struct bytes *b)
{
	uint64_t frames[5];

	for (int i = 0; i < 5; i++)
		frames[i] = one_in(2) ? any() : 0x401000 + any() % 0x2000;
	data_stack(b, any() % 7, one_in(4), frames, any() % 6);
}

static size_t size_of(char c)
{
	return c == 'x' ? 16 : c == 'y' ? 24 : c == '9' ? 96 : c - '0';
}

/* An item of n bytes; true: nothing follows. */
static bool item_add(struct bytes *b, size_t n)
{
	if (one_in(6))
		return wrong(b, n);
	item_any(b, RAS_ITEM_VALUE, n);
	return false;
}

/* One letter's; true: nothing follows. */
static bool datum_add(struct bytes *b, const char **letter)
{
	const char *text = any_text();
	char c = *(*letter)++;

	switch (c) {
	case 'i':
		return item_add(b, size_of(*(*letter)++));
	case 'y':
		return item_add(b, size_of(c));
	case 'a':
		return item_add(b, one_in(3) ? 0 : any() % 24);
	case 's':
		if (one_in(6))
			return wrong(b, 10);
		data_item(b, RAS_ITEM_STRING | (one_in(5) ? RAS_ITEM_CUT : 0),
			  text, strlen(text));
		return false;
	case 'z':
		bytes_add(b, text, strlen(text) + !one_in(4));
		return false;
	case 'k':
		if (one_in(6))
			return wrong(b, 24);
		any_stack(b);
		return false;
	default:
		any_bytes(b, size_of(c));
		return false;
	}
}

static void data_make(struct bytes *b, const char *letters)
{
	while (*letters)
		if (datum_add(b, &letters))
			return;
	if (one_in(20))
		b->size -= b->size ? any() % b->size : 0;
	if (one_in(20))
		any_bytes(b, any() % 40);
}

static void context_make(struct bytes *b, uint32_t mask)
{
	char comm[16] = "thread \xff";

	if (mask & (RAS_CONTEXT_COMM | RAS_CONTEXT_NAME))
		bytes_add(b, comm, sizeof(comm));
	any_bytes(b, RAS_CONTEXT_BYTES(mask & ~(RAS_CONTEXT_COMM |
						RAS_CONTEXT_NAME)));
	if (mask & RAS_CONTEXT_STACK)
		any_stack(b);
}

/* ---- the trace ---- */

static const uint32_t cpu_of[CPUS] = { 0, 1, 2, 4000 };
static uint32_t seqs[3][CPUS][POINTS + 1];

static void record_add(struct slice_builder *slice, int cpu, uint64_t time)
{
	unsigned int session = 1 + any() % 2, point = any() % (POINTS + 1);
	struct ras_record record = {
		.session = session, .major = MAJOR, .point = point,
		.minor = point + 1, .time = time,
		.pid = one_in(3) ? 0xffffffff : 38, .tid = any() % 4,
		.flags = one_in(10) ? any() & 0x0f : 0,
	};
	struct bytes data = { 0 };

	if (one_in(30))
		record.flags |= RAS_RECORD_TRIGGER;
	if (one_in(50))
		record.flags |= RAS_RECORD_MUTED;
	if (session == 2 && !(record.flags & RAS_RECORD_MUTED))
		context_make(&data, RAS_CONTEXT_ALL);
	if (one_in(50) && !(record.flags & RAS_RECORD_MUTED))
		data.size = 0;
	if (!(record.flags & RAS_RECORD_MUTED))
		data_make(&data, point_of(point).data);
	record.seq = seqs[session][cpu][point]++;
	slice_add(slice, record, &data);
	bytes_free(&data);
}

static void sessions_add(struct bytes *ras)
{
	struct ras_session_point points[POINTS + 1];
	struct bytes log = { 0 };

	for (size_t i = 0; i <= POINTS; i++)
		points[i] = (struct ras_session_point){
			.hash = 0x1000 + i, .minor = i + 1 };
	session_add(&log, 1, MAJOR, "/nowhere/odd.tdf", points, POINTS + 1);
	session_add(&log, 2, MAJOR, "/nowhere/odd2.tdf", points, POINTS + 1);
	session_last(&log, POINTS + 1)->context = RAS_CONTEXT_ALL;
	ras_chunk_add(ras, RAS_CHUNK_SESSIONS, &log);
	bytes_free(&log);
}

static void slices_make(struct bytes *ras, unsigned long n)
{
	struct slice_builder slices[CPUS];
	uint64_t time = SECOND;

	for (int i = 0; i < CPUS; i++)
		slices[i] = slice_begin(cpu_of[i], 0, 0);
	for (unsigned long i = 0; i < n; i++) {
		int cpu = any() % CPUS;

		time += any() % 5000;
		record_add(&slices[cpu], cpu, one_in(40) ?
			   time - any() % 100000 : time);
	}
	for (int i = 0; i < CPUS; i++)
		ras_slice_add(ras, &slices[i]);
}

int main(int argc, char **argv)
{
	static const struct ras_mapping map = {
		.start = 0x400000, .end = 0x403000, .path = "/usr/bin/odd \xff",
	};
	struct bytes ras = { 0 };

	if (argc < 4)
		return 2;
	state = strtoul(argv[2], NULL, 0) * 0x9e3779b97f4a7c15ULL | 1;
	make_tff(argv[1]);
	ras_begin(&ras, 3600 * SECOND, START * (int64_t)SECOND);
	sessions_add(&ras);
	ras_process_add(&ras, 38, 0, "odd \xc3\xa9");
	ras_maps_add(&ras, 38, "odd", &map, 1);
	slices_make(&ras, strtoul(argv[3], NULL, 0));
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	return bytes_write(&ras, argv[1], "odd.ras");
}
