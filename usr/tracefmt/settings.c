// SPDX-License-Identifier: GPL-2.0
#include "settings.h"

#include <stdio.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/config_file.h"
#include "lib/options.h"
#include "tracefmt/output/cell.h"
#include "tracefmt/output/diff.h"
#include "tracefmt/output/prefix.h"

#define PROGRAM		"tracefmt"

static const struct output_ops *const formats[] = {
	&output_text, &output_json, &output_csv, &output_ctf, &output_perfetto,
	&output_html, &output_otlp, &output_pairs, &output_tree, &output_line,
	&output_folded,
};

/* The values live as long as argv. */
static int settings_list_add(char ***list, size_t *count, const char *value)
{
	char **more = reallocarray(*list, *count + 1, sizeof(*more));

	if (!more) {
		fputs(PROGRAM ": out of memory\n", stderr);
		return -1;
	}
	*list = more;
	more[(*count)++] = (char *)value;
	return 0;
}

static int take_tff(void *context, const char *value)
{
	struct show_settings *s = context;

	return settings_list_add(&s->tffs, &s->tff_count, value);
}

static int take_symbols(void *context, const char *value)
{
	struct show_settings *s = context;

	return settings_list_add(&s->symbols.dirs, &s->symbols.dir_count,
				 value);
}

#define DEBUGINFOD_WORDS	"URLs of servers, or off, are wanted"

/* For the library. */
static bool servers_set(struct show_settings *s, const char *value)
{
	if (!strcmp(value, "off"))
		return !unsetenv("DEBUGINFOD_URLS");
	return strstr(value, "://") && !setenv("DEBUGINFOD_URLS", value, 1);
}

static int take_debuginfod(void *context, const char *value)
{
	if (value)
		return servers_set(context, value) ? 0 :
		       options_value_wrong("debuginfod", value,
					   DEBUGINFOD_WORDS);
	if (debuginfod_is_configured())
		return 0;
	fputs(PROGRAM ": --debuginfod: DEBUGINFOD_URLS names no server: --debuginfod=URL does\n",
	      stderr);
	return -1;
}

static int take_aggregates(void *context, const char *value)
{
	struct show_settings *s = context;

	s->summary_only = s->aggregates = true;
	return 0;
}

static int take_summary(void *context, const char *value)
{
	struct show_settings *s = context;

	s->summary_only = true;
	s->summary_by = summary_by_name(value);
	return s->summary_by < SUMMARY_KINDS ?
		       0 :
		       options_value_wrong("summary", value,
				      "one of " SUMMARY_NAMES " is wanted");
}

/* --pair and others are text of their own; of the others the last one holds. */
static bool is_of_calls(const struct output_ops *format)
{
	return format->calls && format != &output_line;
}

static int format_set(struct show_settings *s, const struct output_ops *format)
{
	const struct output_ops *old = s->format;

	if (format == &output_text && is_of_calls(old))
		return 0;
	s->format = format;
	if (old == format || old == &output_text ||
	    (!is_of_calls(old) && !is_of_calls(format)))
		return 0;
	fprintf(stderr, PROGRAM ": '%s' and '%s' are outputs of their own\n",
		old->name, format->name);
	return -1;
}

/* NULL: there is no such format. */
static const struct output_ops *format_of(const char *name)
{
	if (!strcmp(name, "manual"))
		return &output_text;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

static int settings_take_output_format(void *context, const char *value)
{
	const struct output_ops *format = format_of(value);
	struct show_settings *s = context;

	s->automatic = !strcmp(value, "auto");
	if (s->automatic)
		return 0;
	s->formatted = true;
	return format ? format_set(s, format) : options_value_wrong(
		"format", value,
		"one of auto, text, manual, line, tree, pairs, folded, json, csv, ctf, perfetto, html, otlp is wanted");
}

static int take_pair(void *context, const char *value)
{
	return format_set(context, &output_pairs);
}

static int take_tree(void *context, const char *value)
{
	return format_set(context, &output_tree);
}

static int take_folded(void *context, const char *value)
{
	return format_set(context, &output_folded);
}

static int take_diff(void *context, const char *value)
{
	return format_set(context, &output_diff);
}

static int settings_take_out(void *context, const char *value)
{
	((struct show_settings *)context)->output.path = strcmp(value, "-") ?
						    value : NULL;
	return 0;
}

static int take_otlp(void *context, const char *value)
{
	struct show_settings *s = context;
	bool is_url = !strncmp(value, "http://", 7) ||
		      !strncmp(value, "https://", 8);

	if (!is_url && strstr(value, "://"))
		return options_value_wrong("otlp", value,
			"a file, http://HOST:PORT or https://HOST is wanted");
	s->output.otlp_url = is_url ? value : NULL;
	return (is_url ? 0 : settings_take_out(s, value)) ||
	       format_set(s, &output_otlp) ? -1 : 0;
}

static int settings_take_line_prefix(void *context, const char *value)
{
	struct show_settings *s = context;

	s->output.prefix = value;
	s->prefix_from = "--prefix";
	s->prefixed = true;
	return 0;
}

static int take_fields(void *context, const char *value)
{
	struct show_settings *s = context;

	return settings_list_add(&s->output.fields, &s->output.field_count,
				 value);
}

#define COLOUR_WORDS	"always, never or auto is wanted"

static bool colour_set(struct show_settings *s, const char *value)
{
	static const char *const words[] = {
		[COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always",
		[COLOUR_NEVER] = "never",
	};

	for (int i = 0; i < 3; i++)
		if (!strcmp(value, words[i])) {
			s->colour = i;
			return true;
		}
	return false;
}

static int take_colour(void *context, const char *value)
{
	return colour_set(context, value ? value : "always") ? 0 :
	       options_value_wrong("colour", value, COLOUR_WORDS);
}

static int take_color(void *context, const char *value)
{
	return colour_set(context, value ? value : "always") ? 0 :
	       options_value_wrong("color", value, COLOUR_WORDS);
}

#define SLOW_WORDS	"a time is wanted: 500ns, 20us, 1ms, 2s or 0"

/* A number and a unit */
static bool slow_set(struct show_settings *s, const char *value)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 },
	};
	char *end;
	unsigned long long n = strtoull(value, &end, 10);

	if (*value < '0' || *value > '9')
		return false;
	if (!n && !*end) {
		s->output.slow = 0;
		return true;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(end, units[i].name))
			return !__builtin_mul_overflow(n, units[i].ns,
						       &s->output.slow);
	return false;
}

static int take_slow(void *context, const char *value)
{
	return slow_set(context, value) ? 0 :
	       options_value_wrong("slow", value, SLOW_WORDS);
}

static int settings_number(const char *option, const char *value,
			   uint64_t *number)
{
	char *end;
	unsigned long long n = strtoull(value, &end, 0);

	if (*value < '0' || *value > '9' || *end || !n || n == UINT64_MAX)
		return options_value_wrong(option, value,
				      "a number from 1 on is wanted");
	*number = n;
	return 0;
}

static int take_last(void *context, const char *value)
{
	return settings_number("last", value,
			       &((struct show_settings *)context)->order.last);
}

static int take_around(void *context, const char *value)
{
	return settings_number(
		"around", value,
		&((struct show_settings *)context)->order.around);
}

static int filter_take(void *context, const char *option, const char *value)
{
	struct error err = { 0 };

	if (!filter_add(((struct show_settings *)context)->filter, option,
			value, &err))
		return 0;
	error_print(PROGRAM, &err);
	return -1;
}

#define TAKE_CHOICE(option) \
	static int take_##option(void *context, const char *value) \
	{ \
		return filter_take(context, #option, value); \
	}

TAKE_CHOICE(major)
TAKE_CHOICE(minor)
TAKE_CHOICE(group)
TAKE_CHOICE(type)
TAKE_CHOICE(pid)
TAKE_CHOICE(tid)
TAKE_CHOICE(comm)
TAKE_CHOICE(cpu)
TAKE_CHOICE(event)
TAKE_CHOICE(since)
TAKE_CHOICE(until)
TAKE_CHOICE(field)
TAKE_CHOICE(text)

static const struct option_def options[] = {
	{ "tff", 't', "DIR", "search here for TFFs first, or use this TFF; may be repeated",
	  take_tff },
	{ "strict", 0, NULL, "exit 1 when a record has no matching TFF entry",
	  OPTION_PLACE(struct show_settings, strict) },
	{ "force", 'f', NULL, "use a TFF entry even if its data hash differs",
	  OPTION_PLACE(struct show_settings, force) },
	{ "major", 0, "LIST", "only these major codes: 5,7-9", take_major },
	{ "minor", 0, "LIST", "only these minor codes", take_minor },
	{ "group", 0, "LIST", "only these groups, by name or number",
	  take_group },
	{ "type", 0, "LIST", "only these types, by name or number", take_type },
	{ "pid", 'p', "LIST", "only these processes", take_pid },
	{ "tid", 0, "LIST", "only these threads", take_tid },
	{ "comm", 0, "NAME", "only processes with this name; may contain * and ?",
	  take_comm },
	{ "cpu", 0, "LIST", "only these CPUs", take_cpu },
	{ "event", 0, "LIST", "only events with these numbers", take_event },
	{ "since", 0, "TIME",
	  "only from this time on, +SECONDS after the first event, -SECONDS before "
	  "the last, or boot+SECONDS",
	  take_since },
	{ "until", 0, "TIME", "only up to this time, given as for --since", take_until },
	{ "field", 'e', "EXPRESSION", "only events for which this is true: 'len > 64 && name ~ \"conf\"'",
	  take_field },
	{ "text", 'g', "TEXT", "only events whose printed text contains this, or matches /REGEX/",
	  take_text },
	{ "newest-first", 'n', NULL, "start with the newest event",
	  OPTION_PLACE(struct show_settings, order.newest_first) },
	{ "last", 0, "N", "only the last N of the chosen events", take_last },
	{ "around", 0, "N", "also the N events before and after each chosen event",
	  take_around },
	{ "summary", 's', "[=BY]", "print only the figures, in total or by pid|major|minor",
	  take_summary },
	{ "aggregates", 0, NULL, "print only what was added up in the kernel, also as json, and stacks as folded",
	  take_aggregates },
	{ "no-summary", 'q', NULL, "omit the figures",
	  OPTION_PLACE(struct show_settings, quiet) },
	{ "format", 0, "FORMAT", "write this format (default text): auto|text|manual|line|tree|pairs|folded|json|csv|ctf|perfetto|html|otlp",
	  settings_take_output_format },
	{ "slow", 0, "TIME", "with --format=line, print latencies from this time on (default 10us)",
	  take_slow },
	{ "pair", 0, NULL, "print latencies and return values of functions",
	  take_pair },
	{ "tree", 0, NULL, "print the calls of each thread as a tree", take_tree },
	{ "calls", 0, NULL, "write calls instead of records, as JSON, or as --format says",
	  OPTION_PLACE(struct show_settings, output.calls) },
	{ "folded", 0, NULL, "print stacks of functions with their own time, for flame graphs",
	  take_folded },
	{ "diff", 0, NULL, "print how the calls of two files differ: --diff OLD.ras NEW.ras",
	  take_diff },
	{ "output", 'o', "FILE", "write to this file; with --format=ctf, to this new directory",
	  settings_take_out },
	{ "otlp", 0, "FILE|URL", "write --format=otlp to this file, or send it to a server",
	  take_otlp },
	{ "fields", 0, "LIST", "print only these columns", take_fields },
	{ "prefix", 0, "TEMPLATE", "print this before each line of a record, instead of the header",
	  settings_take_line_prefix },
	{ "utc", 'u', NULL, "print times in UTC",
	  OPTION_PLACE(struct show_settings, output.utc) },
	{ "relative", 'r', NULL, "print times as seconds since the first record",
	  OPTION_PLACE(struct show_settings, output.relative) },
	{ "hex", 'x', NULL, "also print the data of each record in hexadecimal",
	  OPTION_PLACE(struct show_settings, output.hex) },
	{ "verbose", 'v', NULL, "print the bytes that no format control used",
	  OPTION_PLACE(struct show_settings, output.verbose) },
	{ "follow", 'F', NULL, "print the live buffer, then each new record",
	  OPTION_PLACE(struct show_settings, follow) },
	{ "vmcore", 0, "FILE", "print the trace buffer in a kernel memory dump",
	  OPTION_PLACE(struct show_settings, vmcore) },
	{ "symbols", 0, "DIR",
	  "search here for files of the traced machine, or debug files; may be repeated",
	  take_symbols },
	{ "debuginfod", 0, "[=URLS|off]",
	  "ask these servers for debug files that are missing, default DEBUGINFOD_URLS",
	  take_debuginfod },
	{ "no-symbols", 0, NULL, "name addresses only by module and offset",
	  OPTION_PLACE(struct show_settings, symbols.off) },
	{ "color", 0, "[=WHEN]", "use colours; without WHEN, always: always|never|auto", take_color },
	{ "colour", 0, "[=WHEN]", "as --color: always|never|auto", take_colour },
	{ "no-pager", 0, NULL, "do not start a pager",
	  OPTION_PLACE(struct show_settings, no_pager) },
	{ NULL },
};

static const struct command_def command = {
	.program = PROGRAM,
	.operands = "[FILE.ras... | -]",
	.help = "print trace records of files, or of the live buffer if none is named",
	.options = options,
};

/* --fields names a column of calls only. */
static bool fields_are_of_calls(const struct output_settings *output)
{
	struct output_settings settings = *output;
	struct columns columns;
	struct error err;
	bool are = false;

	settings.calls = true;
	if (columns_parse(&columns, &settings, &err))
		return false;	/* to be reported later */
	for (size_t i = 0; i < columns.count; i++)
		are |= column_is_of_calls(columns.items[i].column);
	columns_free(&columns);
	return are;
}

/* Give out calls when that was asked for, or an option is about them. 0, or
 * OPTIONS_WRONG after a message. */
static int calls_set(struct show_settings *settings)
{
	static const struct {
		const struct output_ops *events, *calls;
	} forms[] = {
		{ &output_text, &output_call_text },
		{ &output_json, &output_json_calls },
		{ &output_csv, &output_csv_calls },
	};
	bool fields = fields_are_of_calls(&settings->output);
	bool chosen = filter_is_of_calls(settings->filter);
	const char *option = settings->output.calls ? "calls" :
			     chosen ? "field" : "fields";
	struct order_settings order = settings->order;

	filter_order(settings->filter, &order);
	if (chosen && (order.last || order.around || order.since_end ||
		       order.until_end)) {
		fputs(PROGRAM ": --field: calls end when they end: choose them without --last, --around and times before the last event\n",
		      stderr);
		return OPTIONS_WRONG;
	}
	if (!settings->output.calls && !chosen && !fields)
		return 0;
	if (settings->output.calls && !settings->formatted &&
	    settings->format == &output_text)
		settings->format = &output_json;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (settings->format == forms[i].events &&
		    !settings->summary_only) {
			settings->format = forms[i].calls;
			settings->output.calls = true;
			return 0;
		}
	if (settings->format->calls && !settings->output.calls)
		return 0;
	fprintf(stderr, PROGRAM ": --%s: '%s' does not give out calls; text, json and csv do\n",
		option, settings->summary_only ? "summary" :
		settings->format->name);
	return OPTIONS_WRONG;
}

/* 0, or OPTIONS_WRONG after a message. */
static int fields_check(const struct show_settings *settings)
{
	const struct output_ops *format = settings->format;
	struct columns columns;
	struct error err = { 0 };

	if (!settings->output.field_count)
		return 0;
	if (format == &output_html)
		fputs(PROGRAM ": --fields: a page has all fields\n", stderr);
	else if (settings->summary_only)
		fputs(PROGRAM ": --fields: the figures have no fields\n",
		      stderr);
	else if (format != &output_text && format != &output_json &&
		 format != &output_csv && !settings->output.calls)
		fprintf(stderr, PROGRAM ": --fields: text, json and csv have columns, not '%s'\n",
			format->name);
	else if (columns_parse(&columns, &settings->output, &err))
		error_print(PROGRAM, &err);
	else {
		columns_free(&columns);
		return 0;
	}
	return OPTIONS_WRONG;
}

/* Options that don't go together. 0, or OPTIONS_WRONG after a message. */
static int settings_agree(const struct show_settings *settings)
{
	const char *name = settings->format->name;

	if (settings->aggregates && settings->format != &output_text &&
	    settings->format != &output_json &&
	    settings->format != &output_folded)
		fprintf(stderr, PROGRAM ": --aggregates: the tables are text, json or folded, not '%s'\n",
			name);
	else if (settings->aggregates && !filter_empty(settings->filter))
		fputs(PROGRAM ": --aggregates: the tables have no events to choose from\n",
		      stderr);
	else if (settings->summary_only && !settings->aggregates &&
		 settings->format != &output_text)
		fprintf(stderr, PROGRAM ": --summary: the figures are text, not '%s'\n",
			name);
	else if (settings->order.newest_first && settings->format->whole)
		fprintf(stderr, PROGRAM ": --newest-first: '%s' needs the events in the order of time\n",
			name);
	else if (settings->output.otlp_url && settings->output.path)
		fprintf(stderr, PROGRAM ": --otlp '%s': what is sent does not go to a file, too\n",
			settings->output.otlp_url);
	else if (settings->output.otlp_url && settings->format != &output_otlp)
		fprintf(stderr, PROGRAM ": --otlp '%s': '%s' is not sent\n",
			settings->output.otlp_url, name);
	else if (settings->format == &output_ctf && !settings->output.path)
		fputs(PROGRAM ": --format=ctf: a trace is a directory, name one that isn't there yet with -o DIR\n",
		      stderr);
	else
		return fields_check(settings);
	return OPTIONS_WRONG;
}

/* 0, or OPTIONS_WRONG after a message. */
static int template_check(const struct show_settings *settings)
{
	struct prefix *prefix;
	struct error err;

	if (prefix_parse(&prefix, settings->output.prefix, &err)) {
		error_prefix(&err, "%s: ", settings->prefix_from);
		error_print(PROGRAM, &err);
		return OPTIONS_WRONG;
	}
	prefix_free(prefix);
	return 0;
}

/* A form of one's own is only for text. 0, or OPTIONS_WRONG after a message. */
static int form_check(struct show_settings *settings)
{
	const struct output_settings *output = &settings->output;

	if (settings->format != &output_text) {
		if (!settings->prefixed)
			return 0;
		options_value_wrong("prefix", output->prefix,
				    "it is for text only");
		return OPTIONS_WRONG;
	}
	if (output->prefix || output->field_count)
		settings->format = &output_prefixed;
	return output->prefix ? template_check(settings) : 0;
}

/* ---- what holds without options ---- */

#define CONFIG_NAME	"tracefmt.conf"
#define DEFAULT_WORDS	"one of text, manual, line, tree, json, csv is wanted"

/* Formats that need neither a file nor the end of the events */
static bool default_set(struct show_settings *s, const char *value)
{
	const struct output_ops *format = format_of(value);

	if (format != &output_text && format != &output_line &&
	    format != &output_tree && format != &output_json &&
	    format != &output_csv)
		return false;
	s->wanted = format;
	return true;
}

static bool config_set_prefix(struct show_settings *s, const char *value)
{
	s->output.prefix = value;
	s->prefix_from = "'" CONFIG_NAME "': prefix";
	return true;
}

static bool config_set_symbols(struct show_settings *s, const char *value)
{
	return !settings_list_add(&s->symbols.dirs, &s->symbols.dir_count,
				  value);
}

static int config_line_take(void *context, const char *name,
			    const char *value, struct error *err)
{
	static const struct {
		const char *name;
		bool (*set)(struct show_settings *s, const char *value);
		const char *words;
	} lines[] = {
		{ "format", default_set, DEFAULT_WORDS },
		{ "color", colour_set, COLOUR_WORDS },
		{ "slow", slow_set, SLOW_WORDS },
		{ "prefix", config_set_prefix, "a template is wanted" },
		{ "symbols", config_set_symbols, "a directory is wanted" },
		{ "debuginfod", servers_set, DEBUGINFOD_WORDS },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (strcmp(lines[i].name, name))
			continue;
		if (*value && lines[i].set(context, value))
			return 0;
		return error_set(err, -EINVAL, "%s '%s': %s", name, value,
				 lines[i].words);
	}
	error_set(err, -EINVAL, "'%s' is no setting", name);
	error_hint(err, "there are format, color, slow, prefix, symbols and debuginfod");
	return -EINVAL;
}

/* The configuration file, then the environment. 0, or -1 after a message. */
static int defaults_read(struct show_settings *s)
{
	const char *format = getenv("RASTRACE_FORMAT");
	const char *prefix = getenv("TRACEFMT_PREFIX");
	char *path = config_path(CONFIG_NAME);
	struct error err = { 0 };
	int code = path ? config_read(&s->config, path, config_line_take, s,
				      &err) : 0;

	free(path);
	if (code) {
		error_print(PROGRAM, &err);
		return -1;
	}
	if (prefix) {
		s->output.prefix = prefix;
		s->prefix_from = "TRACEFMT_PREFIX";
	}
	if (!format || !*format || default_set(s, format))
		return 0;
	fprintf(stderr, PROGRAM ": RASTRACE_FORMAT '%s': " DEFAULT_WORDS "\n",
		format);
	return -1;
}

/* The default format, unless options have chosen one, or are about text. */
static void default_choose(struct show_settings *s)
{
	const struct output_settings *output = &s->output;
	const struct output_ops *wanted = s->wanted;

	if (!wanted && s->automatic && !output->path && isatty(STDOUT_FILENO))
		wanted = &output_line;
	if (wanted && s->format == &output_text && !s->formatted &&
	    !s->summary_only && !s->prefixed && !output->field_count &&
	    !output->calls && !output->hex && !output->verbose &&
	    !s->order.newest_first)
		s->format = wanted;
}

int settings_parse(struct show_settings *settings, int argc, char **argv)
{
	int operand;

	*settings = (struct show_settings){
		.format = &output_text, .output.slow = 10000,
	};
	settings->filter = filter_open();
	if (!settings->filter) {
		fputs(PROGRAM ": out of memory\n", stderr);
		return OPTIONS_WRONG;
	}
	if (defaults_read(settings))
		return OPTIONS_WRONG;
	operand = options_parse(&command, argc, argv, false, settings);
	settings->symbols.use = calloc(settings->symbols.dir_count + 1, 1);
	if (debuginfod_is_configured())
		settings->symbols.server = &settings->server;
	if (operand < 0)
		return operand;
	default_choose(settings);
	return !calls_set(settings) && !settings_agree(settings) &&
	       !form_check(settings) ? operand : OPTIONS_WRONG;
}

void settings_free(struct show_settings *settings)
{
	filter_close(settings->filter);
	free(settings->tffs);
	free(settings->symbols.dirs);
	free(settings->symbols.use);
	free(settings->config);
	free(settings->output.fields);
}
