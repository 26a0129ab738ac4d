// SPDX-License-Identifier: GPL-2.0
#include "top.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include "lib/quantity.h"
#include "heapmon/command/commands.h"

#define PROGRAM		"heapmon"
#define ARGUMENTS	128	/* of the recorder */
#define ARGUMENTS_OWN	5
#define ROWS		20	/* with --batch */
#define HEAD_LINES	8	/* above the rows, at most */
#define CONTROL_D	4

struct top {
	char *arguments[ARGUMENTS];
	unsigned int count;
	bool chosen;			/* --pid, --comm */
	uint64_t screens;		/* -n; 0: until it ends */
	bool batch;
	struct top_screen screen;
	struct top_feed feed;
};

/* ---- options ---- */

/* Pass an option on to the recorder. */
static int top_pass_on(struct top *top, const char *name, const char *value)
{
	if (top->count + 2 + ARGUMENTS_OWN > ARGUMENTS)
		return options_value_wrong(name, value ? value : "", "too many options");
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

PASS(take_follow, "--follow")
PASS(take_depth, "--depth")
PASS(take_min_size, "--min-size")
PASS(take_sample, "--sample")
PASS(take_allocator, "--allocator")
PASS(take_object, "--object")
PASS(take_prefix, "--prefix")
PASS(take_no_old, "--no-old")

static int take_pid(void *context, const char *value)
{
	((struct top *)context)->chosen = true;
	return top_pass_on(context, "--pid", value);
}

static int top_take_comm(void *context, const char *value)
{
	((struct top *)context)->chosen = true;
	return top_pass_on(context, "--comm", value);
}

static int take_interval(void *context, const char *value)
{
	struct top *top = context;
	char *end;

	top->screen.interval = strtod(value, &end);
	if (end == value || *end || !(top->screen.interval >= 0.1) ||
	    top->screen.interval > 3600)
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

	((struct top *)context)->screen.rows = n;
	return code;
}

static int take_sort(void *context, const char *value)
{
	for (int i = 0; i < TOP_SORTS; i++)
		if (!strcmp(value, top_sort_names[i])) {
			((struct top *)context)->screen.sort = i;
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
	static const char keys[TOP_SORTS] = { 'l', 'n', 'c', 'b', 't' };

	for (int i = 0; i < TOP_SORTS; i++)
		if (key == keys[i]) {
			top->screen.sort = i;
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
	double until = top_now() + top->screen.interval, left;
	char key;

	while (!stopped && (left = until - top_now()) > 0) {
		if (feed_ended(top))
			return false;
		if (poll(&fd, 1, left < 0.1 ? left * 1000 + 1 : 100) <= 0)
			continue;
		if (read(STDIN_FILENO, &key, 1) != 1)
			return true;
		if (key == 'q' || key == CONTROL_D)
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
	begun = top_screen_begin(&top->screen, &top->feed, top_now());
	pthread_mutex_unlock(&top->feed.lock);
	return begun;
}

static bool top_show(struct top *top, bool clear, unsigned int rows)
{
	bool shown;
	struct winsize size;

	if (clear) {
		size = (struct winsize){ 0 };
		if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col) {
			top->screen.columns = size.ws_col;
			if (!rows && size.ws_row > HEAD_LINES)
				top->screen.rows = size.ws_row - HEAD_LINES;
		}
		fputs("\033[H\033[J", stdout);
	}
	pthread_mutex_lock(&top->feed.lock);
	shown = top_screen_print(&top->screen, &top->feed, top_now());
	pthread_mutex_unlock(&top->feed.lock);
	if (!clear)
		putchar('\n');
	return !fflush(stdout) && shown;
}

static int top_run(int argc, char **argv)
{
	struct top top = {
		.screen = { .out = stdout, .interval = 2 },
	};
	struct error err = { 0 };
	int status, code;
	bool keys;
	unsigned int rows;
	bool ended;
	bool clear;
	struct sigaction action;

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
		action = (struct sigaction){ .sa_handler = top_stop_note };
		sigaction(SIGINT, &action, NULL);
		sigaction(SIGTERM, &action, NULL);
		sigaction(SIGHUP, &action, NULL);
		signal(SIGPIPE, SIG_IGN);
		keys = !top.batch && terminal_open();
		rows = top.screen.rows;
		clear = !top.batch && isatty(STDOUT_FILENO);
		if (!rows)
			top.screen.rows = ROWS;
		ended = !feed_begins(&top) || !top_begin(&top);
		for (uint64_t n = 1; !ended && !top_wait(&top, keys); n++) {
			ended = feed_ended(&top);
			if (!top_show(&top, clear, rows) || n == top.screens)
				ended = true;
		}
		if (keys)
			tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
		code = top_feed_close(&top.feed, &err);
	}
	top_screen_free(&top.screen);
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
