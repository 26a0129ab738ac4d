// SPDX-License-Identifier: GPL-2.0
/* heapmon top: the heap of processes while they run, screen after screen. */
#include "top_feed.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include "lib/number.h"
#include "lib/text.h"
#include "heapmon/command/commands.h"
#include "report.h"

#define PROGRAM		"heapmon"
#define ARGUMENTS	128	/* of the recorder */
#define ARGUMENTS_OWN	5
#define ROWS		20	/* with --batch */
#define HEAD_LINES	8	/* above the rows, at most */
#define CONTROL_D	4

enum top_sort {
	TOP_LIVE, TOP_BLOCKS, TOP_CALLS, TOP_BYTES, TOP_TEMPORARY, TOP_SORTS
};

static const struct {
	const char *name;
	char key;
} sorts[TOP_SORTS] = {
	{ "live", 'l' }, { "blocks", 'n' }, { "calls", 'c' }, { "bytes", 'b' },
	{ "temporary", 't' },
};

struct top {
	char *arguments[ARGUMENTS];
	unsigned int count;
	bool chosen;			/* --pid, --comm */
	uint64_t screens;		/* -n; 0: until it ends */
	bool batch;
	double interval;		/* s */
	enum top_sort sort;
	unsigned int rows, columns;	/* columns 0: lines aren't cut */
	struct top_feed feed;
	/* Rates are since `time`, in s: that of the last screen that was half an
	 * interval after the one before. Allocated until then: */
	double time, begun;
	struct digest_sum *before;	/* by stack */
	size_t before_count;
	struct digest_sum allocated, freed;	/* of all stacks */
};

/* ---- a screen, with the feed's lock held ---- */

/* As printf does, but not wider than the screen. */
__attribute__((format(printf, 2, 3)))
static void screen_line(const struct top *top, const char *fmt, ...)
{
	char text[1200], safe[4 * sizeof(text) + 1];
	size_t length;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	length = strlen(text);
	if (top->columns && length > top->columns)
		length = top->columns;
	fwrite(safe, 1, safe_text_put(safe, text, length, false) - safe,
	       stdout);
	putchar('\n');
}

struct top_number {
	char text[16];
};

static struct top_number bytes_text(double bytes)
{
	static const char units[] = "BKMGTP";
	struct top_number number;
	unsigned int unit = 0;

	for (; bytes >= 9999.5 && units[unit + 1]; unit++)
		bytes /= 1024;
	snprintf(number.text, sizeof(number.text), "%.*f%c",
		 unit && bytes < 99.95 ? 1 : 0, bytes, units[unit]);
	return number;
}

static struct top_number count_text(double count)
{
	static const char units[] = " kMGT";
	struct top_number number;
	unsigned int unit = 0;

	for (; count >= 99999.5 && units[unit + 1]; unit++)
		count /= 1000;
	snprintf(number.text, sizeof(number.text), unit ? "%.0f%c" : "%.0f",
		 count, units[unit]);
	return number;
}

/* In s. A key may come at once: no rate is of less than a tenth of a second. */
static double rates_span(const struct top *top, double now)
{
	return now - top->time > 0.1 ? now - top->time : 0.1;
}

static void head_print(const struct top *top, double now)
{
	const struct top_feed *feed = &top->feed;
	const struct digest *digest = &feed->digest;
	double seconds = rates_span(top, now);

	screen_line(top, "heapmon top: %s%s%.0f s, sorted by %s%s",
		    feed->command, *feed->command ? ", " : "",
		    now - top->begun, sorts[top->sort].name,
		    feed->ended ? ", ended" : "");
	screen_line(top, "live %s in %.0f blocks, peak %s; %.0f were there before",
		    bytes_text(digest->present.bytes).text,
		    digest->present.count, bytes_text(digest->peak.bytes).text,
		    digest->old.count);
	screen_line(top, "per second: %s allocations, %s releases, %s",
		    count_text((digest->allocated.count -
				top->allocated.count) / seconds).text,
		    count_text((digest->freed.count -
				top->freed.count) / seconds).text,
		    bytes_text((digest->allocated.bytes -
				top->allocated.bytes) / seconds).text);
	if (feed->lost == HEAP_LOST_UNKNOWN)
		screen_line(top, "lost: some events");
	else if (feed->lost)
		screen_line(top, "lost: %" PRIu64 " events", feed->lost);
	if (feed->sample)
		screen_line(top, "sampled: one block in %" PRIu64
			    " bytes; figures are estimates", feed->sample);
	screen_line(top, "%s", "");
	screen_line(top, "   LIVE  BLOCKS CALLS/S BYTES/S TEMP%%  WHERE");
}

struct screen_row {
	struct report_rank rank;	/* of the stack */
	struct digest_sum present;
	double calls, bytes;		/* per second */
	double temporary;		/* per cent */
};

static struct screen_row row_of(const struct top *top, uint32_t stack,
				double seconds)
{
	const struct digest_site *site = &top->feed.digest.sites[stack];
	struct digest_sum before = { 0 };
	struct screen_row row = { .present = site->present };

	if (stack < top->before_count)
		before = top->before[stack];
	row.calls = (site->allocated.count - before.count) / seconds;
	row.bytes = (site->allocated.bytes - before.bytes) / seconds;
	if (site->allocated.count > 0)
		row.temporary = site->temporary * 100 / site->allocated.count;
	row.rank.number = stack;
	row.rank.key = (const double[TOP_SORTS]){
		row.present.bytes, row.present.count, row.calls, row.bytes,
		row.temporary,
	}[top->sort];
	return row;
}

static void row_print(const struct top *top, const struct screen_row *row)
{
	const struct top_feed *feed = &top->feed;
	const char *where = row->rank.number < feed->where_count ?
			    feed->where[row->rank.number] : NULL;

	screen_line(top, "%7s %7s %7s %7s %5.0f  %s",
		    bytes_text(row->present.bytes).text,
		    count_text(row->present.count).text,
		    count_text(row->calls).text, bytes_text(row->bytes).text,
		    row->temporary, where ? where : "(unknown)");
}

/* Rates are from now on. False: no memory. */
static bool screen_remember(struct top *top, double now)
{
	const struct digest *digest = &top->feed.digest;
	struct digest_sum *before = reallocarray(top->before,
						 digest->site_count + 1,
						 sizeof(*before));

	if (!before)
		return false;
	for (size_t i = 0; i < digest->site_count; i++)
		before[i] = digest->sites[i].allocated;
	top->before = before;
	top->before_count = digest->site_count;
	top->allocated = digest->allocated;
	top->freed = digest->freed;
	top->time = now;
	return true;
}

/* False: no memory. */
static bool screen_print(struct top *top, double now)
{
	size_t sites = top->feed.digest.site_count, count = 0;
	double seconds = rates_span(top, now);
	struct screen_row *rows = calloc(sites + 1, sizeof(*rows));

	if (!rows)
		return false;
	head_print(top, now);
	for (size_t i = 0; i < sites; i++) {
		rows[count] = row_of(top, i, seconds);
		count += rows[count].rank.key > 0;
	}
	report_ranks_sort(rows, count, sizeof(*rows));
	for (size_t i = 0; i < count && i < top->rows; i++)
		row_print(top, &rows[i]);
	free(rows);
	return now - top->time < top->interval / 2 || screen_remember(top, now);
}

/* ---- options ---- */

/* Pass an option on to the recorder. */
static int top_pass_on(struct top *top, const char *name, const char *value)
{
	if (top->count + 2 + ARGUMENTS_OWN > ARGUMENTS)
		return options_value_wrong(name, value ? value : "", "too many options");
	top->chosen |= !strcmp(name, "--pid") || !strcmp(name, "--comm");
	top->arguments[top->count++] = (char *)name;
	if (value)
		top->arguments[top->count++] = (char *)value;
	return 0;
}

#define PASS(function, name) \
static int function(void *context, const char *value) \
{ \
	return top_pass_on(context, name, value); \
}

PASS(take_pid, "--pid")
PASS(top_take_comm, "--comm")
PASS(take_follow, "--follow")
PASS(take_depth, "--depth")
PASS(take_min_size, "--min-size")
PASS(take_sample, "--sample")
PASS(take_allocator, "--allocator")
PASS(take_object, "--object")
PASS(take_prefix, "--prefix")
PASS(take_no_old, "--no-old")

static int take_interval(void *context, const char *value)
{
	struct top *top = context;
	char *end;

	top->interval = strtod(value, &end);
	if (end == value || *end || !(top->interval >= 0.1) ||
	    top->interval > 3600)
		return options_value_wrong("interval", value,
			      "0.1 to 3600 seconds are expected");
	return 0;
}

static int number(const char *option, const char *value, uint64_t *n)
{
	if (!quantity_number(value, n) || !*n || *n > 1000000)
		return options_value_wrong(option, value, "1 to 1000000 is expected");
	return 0;
}

static int take_screens(void *context, const char *value)
{
	return number("iterations", value, &((struct top *)context)->screens);
}

static int take_rows(void *context, const char *value)
{
	uint64_t n = 0;
	int code = number("rows", value, &n);

	((struct top *)context)->rows = n;
	return code;
}

static int take_sort(void *context, const char *value)
{
	for (int i = 0; i < TOP_SORTS; i++)
		if (!strcmp(value, sorts[i].name)) {
			((struct top *)context)->sort = i;
			return 0;
		}
	return options_value_wrong("sort", value, "live, blocks, calls, bytes or temporary is expected");
}

static const struct option_def options[] = {
	{ "pid", 'p', "PID", "show this process; may be repeated", take_pid },
	{ "comm", 'c', "NAME", "show the processes with this name", top_take_comm },
	{ "follow", 'f', NULL, "also show the processes that they start from now on",
	  take_follow },
	{ "interval", 'i', "SECONDS", "time between two screens (2)",
	  take_interval },
	{ "sort", 'o', "NAME", "sort by: live|blocks|calls|bytes|temporary",
	  take_sort },
	{ "rows", 'r', "N", "number of stacks (default: as the screen has room, or 20)",
	  take_rows },
	{ "batch", 'B', NULL, "print the screens as plain text, and read no keys",
	  OPTION_PLACE(struct top, batch) },
	{ "iterations", 'n', "N", "end after N screens", take_screens },
	{ "depth", 'd', "N", "frames that distinguish stacks, 0 to 32 (16)",
	  take_depth },
	{ "min-size", 0, "BYTES", "record only blocks of at least this size",
	  take_min_size },
	{ "sample", 's', "BYTES",
	  "record one block per BYTES on average, chosen at random", take_sample },
	{ "allocator", 'a', "NAME",
	  "probe only this allocator (default auto, all): auto|glibc|musl|jemalloc|tcmalloc|mimalloc",
	  take_allocator },
	{ "object", 0, "FILE", "look for the allocator only in this file; may be repeated", take_object },
	{ "prefix", 0, "TEXT", "prefix of the function names: je_ for je_malloc", take_prefix },
	{ "no-old", 0, NULL, "do not record the blocks that exist at the beginning",
	  take_no_old },
	{ NULL }
};

/* ---- the terminal ---- */

static volatile sig_atomic_t stopped;

static void top_stop_note(int number)
{
	stopped = 1;
}

static struct termios terminal_before;

static bool terminal_open(void)
{
	struct termios raw;

	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &terminal_before))
		return false;
	raw = terminal_before;
	raw.c_lflag &= ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	return !tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

/* Is there another order now? */
static bool key_sorts(struct top *top, char key)
{
	for (int i = 0; i < TOP_SORTS; i++)
		if (key == sorts[i].key) {
			top->sort = i;
			return true;
		}
	return false;
}

/* ---- running ---- */

static double top_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static bool feed_flag(struct top *top, const bool *flag)
{
	bool set;

	pthread_mutex_lock(&top->feed.lock);
	set = *flag;
	pthread_mutex_unlock(&top->feed.lock);
	return set;
}

static bool feed_ended(struct top *top)
{
	return feed_flag(top, &top->feed.ended);
}

/* Finding and probing the allocator takes a moment. False: it won't begin. */
static bool feed_begins(struct top *top)
{
	while (!stopped && !feed_ended(top)) {
		if (feed_flag(top, &top->feed.begun))
			return true;
		poll(NULL, 0, 20);
	}
	return !stopped && feed_flag(top, &top->feed.begun);
}

/* Until the next screen is due. True: the end. */
static bool top_wait(struct top *top, bool keys)
{
	struct pollfd fd = { .fd = keys ? STDIN_FILENO : -1, .events = POLLIN };
	double until = top_now() + top->interval, left;
	char key;

	while (!stopped && (left = until - top_now()) > 0) {
		if (feed_ended(top))
			return false;
		if (poll(&fd, 1, left < 0.1 ? left * 1000 + 1 : 100) <= 0)
			continue;
		if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' ||
		    key == CONTROL_D)
			return true;
		if (key_sorts(top, key))
			return false;
	}
	return stopped;
}

static bool top_begin(struct top *top)
{
	bool begun;

	pthread_mutex_lock(&top->feed.lock);
	top->begun = top_now();
	begun = screen_remember(top, top->begun);
	pthread_mutex_unlock(&top->feed.lock);
	return begun;
}

static bool top_show(struct top *top, bool clear, unsigned int rows)
{
	struct winsize size = { 0 };
	bool shown;

	if (clear) {
		if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col) {
			top->columns = size.ws_col;
			if (!rows && size.ws_row > HEAD_LINES)
				top->rows = size.ws_row - HEAD_LINES;
		}
		fputs("\033[H\033[J", stdout);
	}
	pthread_mutex_lock(&top->feed.lock);
	shown = screen_print(top, top_now());
	pthread_mutex_unlock(&top->feed.lock);
	if (!clear)
		putchar('\n');
	return !fflush(stdout) && shown;
}

static void top_screens(struct top *top)
{
	struct sigaction action = { .sa_handler = top_stop_note };
	bool keys, clear, ended;
	unsigned int rows = top->rows;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	keys = !top->batch && terminal_open();
	clear = !top->batch && isatty(STDOUT_FILENO);
	if (!rows)
		top->rows = ROWS;
	ended = !feed_begins(top) || !top_begin(top);
	for (uint64_t n = 1; !ended && !top_wait(top, keys); n++) {
		ended = feed_ended(top);
		if (!top_show(top, clear, rows) || n == top->screens)
			ended = true;
	}
	if (keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
}

static int top_run(int argc, char **argv)
{
	struct top top = { .interval = 2 };
	struct error err = { 0 };
	int status, code;

	top_pass_on(&top, "record", NULL);
	if (command_parse(&heapmon_top, argc, argv, 0, 0, &top, &status) < 0)
		return status;
	if (!top.chosen) {
		fputs(PROGRAM ": top: of which process? --pid PID, or --comm NAME\n",
		      stderr);
		return COMMAND_MISUSE;
	}
	top_pass_on(&top, "--no-types", NULL);
	top_pass_on(&top, "--no-free-stacks", NULL);
	code = top_feed_open(&top.feed, top.arguments, top.count, &err);
	if (!code) {
		top_screens(&top);
		code = top_feed_close(&top.feed, &err);
	}
	free(top.before);
	return code > 0 ? code : command_end(code, &err);
}

const struct command heapmon_top = {
	.def = {
		.program = PROGRAM, .name = "top", .operands = "",
		.help = "show the heap of processes while they run",
		.options = options,
	},
	.run = top_run,
};
