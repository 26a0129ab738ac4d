// SPDX-License-Identifier: GPL-2.0
/* `trace on --dry-run`: what would be armed, and what a hit will cost. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "commands.h"
#include "lib/arm/arm.h"
#include "lib/names.h"
#include "lib/text.h"

/* Where the probe is, on which instruction, and the address whose values it
 * logs. */
static void dry_run_place(const struct tdf *tdf, const struct tdf_site *site)
{
	fputs("    ", stdout);
	safe_text_print(stdout, tdf_string(tdf, site->symbol), false);
	printf("+%u", site->symbol_offset);
	if (site->nominal != site->address)
		printf(" (%#llx) with the values of %#llx", site->address,
		       site->nominal);
	fputs(", ", stdout);
	if (!site->text)
		return;
	safe_text_print(stdout, tdf_string(tdf, site->text), false);
	fputs(", ", stdout);
}

static void dry_run_site(const struct job *job, const struct tdf_point *point,
			 uint32_t index, const struct features *features,
			 const struct hit_cost *cost)
{
	const struct tdf *tdf = job->tdf;
	const struct tdf_site *site = &tdf->sites[index];
	const struct target *target = &job->targets[point->module];
	unsigned int body = hit_cost_estimate(cost,
					      &job->cost.bodies[index]);
	const char *kind = !target->file_count ? "kprobe" :
		attach_is_multi(&tdf->modules[point->module], features) ?
		"uprobe_multi" : "uprobe";

	dry_run_place(tdf, site);
	printf("%s%s, %s, ", kind,
	       site->flags & TDF_SITE_RETURN ? " at the return" : "",
	       names_cost[site->cost]);
	if (site->cost < TDF_COST_UNKNOWN && cost->ns[site->cost] &&
	    !(site->flags & TDF_SITE_RETURN))
		printf("about %u ns\n", cost->ns[site->cost] + body);
	else if (body)
		printf("about %u ns more than the probe\n", body);
	else
		puts("unknown cost");
}

static void dry_run_job(const struct job *job, const struct features *features,
			const struct hit_cost *cost)
{
	const struct tdf_header *header = job->tdf->header;
	uint32_t points = 0;
	char maps[AMOUNT_TEXT], programs[AMOUNT_TEXT];

	for (uint32_t i = 0; i < header->points.count; i++)
		points += job->picked[i];
	amount_print_bytes(maps, job->cost.map_bytes);
	amount_print_bytes(programs, job->cost.program_bytes);
	safe_text_print(stdout, job->path, false);
	printf(": %u of %u tracepoints would be armed\n", points,
	       header->points.count);
	for (uint32_t i = 0; i < job->tdf->header->modules.count; i++) {
		const struct target *target = &job->targets[i];

		for (uint32_t k = 0; k < target->file_count; k++) {
			fputs("  in '", stdout);
			safe_text_print(stdout, target->files[k].path, false);
			puts("'");
		}
		if (!target->file_count && target->path[0]) {
			fputs("  in the kernel ('", stdout);
			safe_text_print(stdout, target->path, false);
			puts("')");
		}
	}
	for (uint32_t i = 0; i < header->points.count; i++) {
		const struct tdf_point *point = &job->tdf->points[i];

		if (!job->picked[i])
			continue;
		printf("  tracepoint %u (0x%04x) '", point->minor,
		       point->minor);
		safe_text_print(stdout, tdf_string(job->tdf, point->name),
				false);
		puts("'");
		for (uint32_t k = 0; k < point->sites; k++)
			dry_run_site(job, point, point->first_site + k,
				     features, cost);
	}
	printf("  %u programs in %s, maps of %s\n", job->cost.programs,
	       programs, maps);
}

/* Describes the buffer, and leaves out what is armed already. */
static int dry_run_buffer(struct job_list *jobs, const struct run_dir *run,
			  struct error *err)
{
	uint64_t bytes = jobs->settings->bytes;
	char text[AMOUNT_TEXT], memory[AMOUNT_TEXT];
	int cpus = bufmaps_cpus_possible();
	struct buffer buffer;
	int code;

	if (cpus < 0)
		return error_set(err, cpus, "cannot find the number of CPUs: %s",
				 strerror(-cpus));
	code = buffer_open(&buffer, run->path, true, err);
	if (code && code != -ENOENT)
		return code;
	if (code) {
		*err = (struct error){ 0 };
		bytes = bytes ? bytes : RAS_SLICE_DEFAULT;
		amount_print_bytes(text, bytes);
		amount_print_bytes(memory,
				   buffer_memory(bytes, cpus > 0 ? cpus : 1));
		printf("buffer: %s for each of %d CPUs would be made, %s\n",
		       text, cpus, memory);
		return 0;
	}
	amount_print_bytes(text, buffer.control->slice_bytes);
	amount_print_bytes(memory, buffer_memory(buffer.control->slice_bytes,
						 buffer.control->cpus));
	printf("buffer: %s for each of %u CPUs is there, %s\n", text,
	       buffer.control->cpus, memory);
	if (bytes && bytes != buffer.control->slice_bytes)
		puts("  its size can change while nothing is armed and it holds no records");
	code = job_list_check_armed(jobs, &buffer, run, err);
	buffer_close(&buffer);
	return code;
}

/* In a small buffer of its own: the verifier's verdict doesn't depend on its
 * size. */
static int jobs_load(struct job_list *jobs, const struct run_dir *private,
		     struct features *features, struct error *err)
{
	struct job_settings settings = *jobs->settings;
	struct buffer buffer;
	int code;

	settings.bytes = RAS_SLICE_MIN;
	settings.group_read = NULL;
	settings.max_cpu = 0;
	code = job_buffer_open(&buffer, features, private, &settings, err);
	if (code)
		return code;
	job_list_arm(jobs, private, &buffer, features, true);
	buffer_close(&buffer);
	return 0;
}

/* Load the programs of the jobs, attach nothing, and print. What would be
 * refused is reported and counted. 0, or a negative errno with err set. */
static int dry_run(struct job_list *jobs, struct error *err)
{
	struct run_dir run, private;
	struct features features;
	int code = run_dir_open(&run, true, err);
	struct hit_cost cost;

	if (code)
		return code;
	code = dry_run_buffer(jobs, &run, err);
	if (!code)
		code = run_dir_open_private(&private, &run, err);
	if (!code) {
		code = jobs_load(jobs, &private, &features, err);
		retire_everything(&private);
		pins_remove(run.path, private.path);
	}
	run_dir_close(&run);
	if (!code) {
		hit_cost_measure(&cost, &features);
		for (size_t i = 0; i < jobs->count; i++) {
			const struct job *job = &jobs->items[i];

			if (job->waits[0] && !job->failed)
				printf("%s: waits for the kernel module '%s'\n",
				       job->path, job->waits);
			else if (!job->failed)
				dry_run_job(job, &features, &cost);
		}
	}
	return code;
}

/*
 * `trace on --boot`: what is to be armed when the machine starts
 * (rastrace.conf(5)).
 */

#define BOOT_CONF	"/etc/rastrace/rastrace.conf"

#define WORDS_MAX	256
#define BLANKS		" \t\r\n"

struct boot_word {
	char *text;
	unsigned int column;
};

struct boot {
	const char *path;
	char *directory;	/* what names in it are relative to */
	unsigned int line;
	struct boot_word words[WORDS_MAX];
	unsigned int count;
	char *buffer, *group;	/* as the last such line said; or NULL */
	bool failed;
};

static void boot_report(struct boot *boot, unsigned int column,
			const char *kind, const char *text)
{
	fprintf(stderr, "%s:%u:%u: %s: %s\n", boot->path, boot->line, column,
		kind, text);
	boot->failed |= !strcmp(kind, "error");
}

static void boot_report_word(struct boot *boot, const struct boot_word *word,
			     const char *what)
{
	char text[512];

	snprintf(text, sizeof(text), "'%s' %s", word->text, what);
	boot_report(boot, word->column, "error", text);
}

/* The word at *p, in place; false: its quote doesn't end. */
static bool boot_word_take(char **p, struct boot_word *word)
{
	char *from = *p, *to = *p, quote = '\0';

	word->text = to;
	while (*from && (quote || !strchr(BLANKS, *from))) {
		if (*from == quote)
			quote = '\0';
		else if (!quote && (*from == '"' || *from == '\''))
			quote = *from;
		else
			*to++ = *from;
		from++;
	}
	*p = *from ? from + 1 : from;
	*to = '\0';
	return !quote;
}

static int words_split(struct boot *boot, char *line)
{
	char *p = line;

	boot->count = 0;
	for (;;) {
		struct boot_word *word = &boot->words[boot->count];

		p += strspn(p, BLANKS);
		if (!*p || *p == '#')
			return 0;
		if (boot->count + 1 == WORDS_MAX) {
			boot_report(boot, p - line + 1, "error",
				  "too many words");
			return -1;
		}
		word->column = p - line + 1;
		if (!boot_word_take(&p, word)) {
			boot_report(boot, word->column, "error",
				  "the quote doesn't end on its line");
			return -1;
		}
		boot->count++;
	}
}

/* Run `trace on`; what it writes belongs to the line. */
static void boot_arm(struct boot *boot)
{
	static const char name[] = "trace: ";
	unsigned int column = boot->words[0].column, count = 0;
	char *argv[WORDS_MAX + 8], *line = NULL;
	bool said = false;
	size_t size = 0;
	FILE *output;
	int status;

	argv[count++] = "trace";
	argv[count++] = "on";
	if (boot->buffer) {
		argv[count++] = "--buffer";
		argv[count++] = boot->buffer;
	}
	if (boot->group) {
		argv[count++] = "--group-read";
		argv[count++] = boot->group;
	}
	for (unsigned int i = 1; i < boot->count; i++)
		argv[count++] = boot->words[i].text;
	argv[count] = NULL;
	status = self_rerun(argv, boot->directory, false, &output);
	if (!output) {
		boot_report(boot, column, "error", strerror(errno));
		return;
	}
	while (getline(&line, &size, output) > 0) {
		said = true;
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, name, strlen(name)))
			fprintf(stderr, "%s\n", line);
		else
			boot_report(boot, column, status ? "error" : "note",
				    line + strlen(name));
	}
	free(line);
	fclose(output);
	if (!said && status)
		boot_report(boot, column, "error",
			    "'trace on' could not be run");
	boot->failed |= status != 0;
}

static void boot_line(struct boot *boot)
{
	struct boot_word *words = boot->words;
	const char *name = words[0].text;
	bool buffer = !strcmp(name, "buffer"), on = !strcmp(name, "on");
	char **text = buffer ? &boot->buffer : &boot->group;
	struct error err = { 0 };
	uint64_t bytes;

	if (!on && !buffer && strcmp(name, "group-read")) {
		boot_report_word(boot, &words[0],
				 "is no statement: on, buffer or group-read");
	} else if (boot->count < 2) {
		boot_report_word(boot, &words[0], on ?
				 "needs the name of a TDF" : "needs a value");
	} else if (on) {
		boot_arm(boot);
	} else if (boot->count > 2) {
		boot_report_word(boot, &words[2], "is one word too many");
	} else if (buffer && bufmaps_size_parse(words[1].text, &bytes,
						&err) < 0) {
		boot_report(boot, words[1].column, "error", err.text);
	} else {
		/* it replaces an earlier one */
		free(*text);
		*text = strdup(words[1].text);
		if (!*text)
			boot_report(boot, words[1].column, "error",
				    "out of memory");
	}
}

/* The file decides what root arms. */
static int boot_file_check(FILE *file, const char *path, struct error *err)
{
	struct stat st;

	if (fstat(fileno(file), &st))
		return error_set(err, -errno, "cannot read '%s': %s", path,
				 strerror(errno));
	if (S_ISDIR(st.st_mode))
		return error_set(err, -EISDIR, "cannot read '%s': %s", path,
				 strerror(EISDIR));
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EINVAL, "'%s' is no regular file", path);
	if ((st.st_uid && st.st_uid != geteuid()) || st.st_mode & S_IWOTH)
		return error_set(err, -EPERM,
				 "'%s' belongs to user %u or is writable by everybody: not used",
				 path, st.st_uid);
	return 0;
}

static int lines_run(struct boot *boot, FILE *file, struct error *err)
{
	size_t size = 0;
	char *line = NULL;
	int cause;

	while (errno = 0, getline(&line, &size, file) > 0) {
		boot->line++;
		if (!words_split(boot, line) && boot->count)
			boot_line(boot);
	}
	cause = errno;
	free(line);
	if (feof(file))
		return 0;
	return error_set(err, -cause, "cannot read '%s': %s", boot->path,
			 strerror(cause));
}

/*
 * Do what the file requests (NULL: BOOT_CONF), line by line; errors go to
 * stderr as file:line:column, and the other lines are done all the same.
 * Returns the exit status.
 */
static int boot_run(const char *conf)
{
	struct boot boot = { .path = conf ? conf : BOOT_CONF };
	int fd = open(boot.path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *copy = strdup(boot.path);
	struct error err = { 0 };
	int code;

	if (!file || !copy)
		code = error_set(&err, -errno, "cannot open '%s': %s",
				 boot.path, strerror(errno));
	else
		code = boot_file_check(file, boot.path, &err);
	if (!code) {
		boot.directory = dirname(copy);
		code = lines_run(&boot, file, &err);
	}
	if (file)
		fclose(file);
	free(copy);
	free(boot.buffer);
	free(boot.group);
	return code ? command_end(code, &err) :
	       boot.failed ? COMMAND_FAILED : COMMAND_DONE;
}

struct on_settings {
	struct job_settings job;	/* first: its options take this struct */
	bool dry, boot;
	const char *expr;
};

static const struct option_def options[] = {
	SETTINGS_OPTIONS("with --pid: also record the processes it starts from now on"),
	{ "max-cpu", 0, "PERCENT",
	  "disarm the most expensive tracepoints if all use more of a CPU (50; off)",
	  settings_take_cpu },
	{ "for", 0, "TIME",
	  "disarm after this time: 90 (seconds), 5m or 2h; the records stay",
	  settings_take_for },
	{ "snapshot-on", 0, "POINT",
	  "when this is hit, write the records of the buffer to a file, and go on",
	  settings_take_snapshot },
	{ "snapshot-file", 0, "FILE.ras", "that file: FILE.1.ras, FILE.2.ras ...",
	  OPTION_PLACE(struct job_settings, snapshot_file) },
	{ "run-on", 0, "POINT", "when this is hit, run a command",
	  settings_take_run },
	{ "run-command", 0, "COMMAND", "that command, for sh -c",
	  OPTION_PLACE(struct job_settings, run_command) },
	{ "at-most", 0, "N/TIME",
	  "so many files, and commands, in that time (1/m)",
	  settings_take_most },
	{ "group-read", 0, "GROUP",
	  "let members of this group read the buffer",
	  OPTION_PLACE(struct job_settings, group_read) },
	{ "expr", 'e', "EXPR",
	  "trace this without a TDF, as trace run does, until ^C",
	  OPTION_PLACE(struct on_settings, expr) },
	{ "dry-run", 'n', NULL,
	  "print what would be armed and the cost of a hit; arm nothing",
	  OPTION_PLACE(struct on_settings, dry) },
	{ "boot", 0, NULL,
	  "carry out the statements of the operand, or of " BOOT_CONF,
	  OPTION_PLACE(struct on_settings, boot) },
	{ NULL }
};

/* What the operands come to. */
struct on {
	const struct on_settings *settings;
	char **options;			/* as given, with their values */
	int option_count;
	struct job_list jobs;
	bool majors[RAS_STATIC_MAJORS];
	bool any_major;
	struct keep_begun keeper;
};

static void operand_take(struct on *on, const char *operand)
{
	struct error err = { 0 };
	int code = static_majors_parse(operand, on->majors, &err);

	if (code > 0) {
		on->any_major = true;
	} else if (code < 0) {
		error_print("trace", &err);
		on->jobs.failures++;
	} else {
		job_list_add(&on->jobs, operand);
	}
}

/* What records them, a program and the kernel module, is one for all majors and
 * has none of these. */
static int majors_check(const struct on *on, struct error *err)
{
	const struct job_settings *settings = &on->settings->job;

	if (!on->any_major ||
	    (!settings->cgroups.count && !settings->filter.comm_count &&
	     !settings->filter.uid_count && !settings->context &&
	     !settings->max_rate && !settings->max_hits && !settings->duration &&
	     !settings->selection.count))
		return 0;
	error_set(err, -EINVAL,
		  "static majors can be filtered by --pid only, and have no context, rate or end");
	error_hint(err, "switch them by a command of their own: trace on 100");
	return -EINVAL;
}

/* `trace on` with the same options and the job's operands, later. */
static int job_wait(const struct on *on, const struct job *job,
		    const struct run_dir *run, struct error *err)
{
	char **argv = calloc(on->option_count + job->operand_count + 1,
			     sizeof(*argv));
	int code;

	if (!argv)
		return error_no_memory(err);
	if (on->settings->job.runs.count) {
		free(argv);
		return error_set(err, -EINVAL,
				 "'%s' waits for the kernel module '%s': with --run-on it can't",
				 job->operands[0], job->waits);
	}
	memcpy(argv, on->options, on->option_count * sizeof(*argv));
	memcpy(argv + on->option_count, job->operands,
	       job->operand_count * sizeof(*argv));
	code = keep_wait(run, job->path, job->waits, argv, err);
	free(argv);
	if (!code)
		fprintf(stderr, "trace: '%s' is armed when the kernel module '%s' is loaded\n",
			job->operands[0], job->waits);
	return code;
}

static void jobs_wait(struct on *on, const struct run_dir *run)
{
	for (size_t i = 0; i < on->jobs.count; i++) {
		const struct job *job = &on->jobs.items[i];
		struct error err = { 0 };

		if (job->failed || !job->waits[0] ||
		    !job_wait(on, job, run, &err))
			continue;
		error_print("trace", &err);
		on->jobs.failures++;
	}
}

static int on_arm(struct on *on, const struct run_dir *run, struct error *err)
{
	const struct job_settings *settings = &on->settings->job;
	struct features features;
	struct buffer buffer;
	int code;

	attach_announce();
	code = job_buffer_open(&buffer, &features, run, settings, err);
	if (code)
		return code;
	/* it starts while the kernel verifies */
	if (buffer.control->max_cpu && !keeper_process_id(run->path))
		keep_begin(&on->keeper, run, NULL);
	code = job_list_check_armed(&on->jobs, &buffer, run, err);
	if (!code)
		job_list_arm(&on->jobs, run, &buffer, &features, false);
	if (!code && on->any_major)
		code = static_majors_on(run, &buffer, &features,
					settings, on->majors, err);
	if (!code && buffer.trigger->state == RAS_TRIGGER_FROZEN)
		fputs("trace: a trigger has stopped the recording: 'trace resume' goes on\n",
		      stderr);
	buffer_close(&buffer);
	return code;
}

static int on_keep(const struct on *on, const struct run_dir *run,
		   struct error *err)
{
	if (!on->keeper.child)
		return keep_start(run, err);
	if (keep_is_needed(run->path))
		keep_go(&on->keeper, run);
	else
		keep_cancel(&on->keeper);
	return 0;
}

/* The keeper looks at it four times a second. A terminal can wait for that. */
static void on_warn_use(const struct run_dir *run)
{
	const struct timespec tick = { .tv_nsec = 100000000 };
	uint64_t end = buffer_time() + USE_NS;
	struct buffer buffer;
	uint32_t used = 0;

	if (!isatty(STDERR_FILENO) || !keeper_process_id(run->path) ||
	    buffer_open(&buffer, run->path, false, NULL))
		return;
	while (buffer.control->max_cpu && buffer_time() < end) {
		nanosleep(&tick, NULL);
		used = buffer.control->used_cpu;
	}
	buffer_close(&buffer);
	keep_usage_warn(used);
}

static int on_run_dir(struct on *on, struct error *err)
{
	struct error keep = { 0 }, kmod = { 0 };
	struct run_dir run;
	int code = run_dir_open(&run, true, err);
	bool was_there;
	char path[PATH_MAX];

	if (code)
		return code;
	snprintf(path, sizeof(path), "%s/control", run.path);
	was_there = !access(path, F_OK);
	jobs_wait(on, &run);
	if (job_list_ready(&on->jobs) || on->any_major)
		code = on_arm(on, &run, err);
	/* what was refused leaves no buffer */
	if (!was_there)
		retire_unused(&run);
	/* where the majors are refused for it, that is reported already */
	if (kmod_hand_over(&run, &kmod) && !code)
		error_print("trace", &kmod);
	if (on_keep(on, &run, &keep))
		error_print("trace", &keep);
	run_dir_close(&run);
	if (!code && job_list_ready(&on->jobs))
		on_warn_use(&run);
	return code;
}

static int on_operands(struct on *on, int count, char **operands,
		       struct error *err)
{
	int code;

	for (int i = 0; i < count; i++)
		operand_take(on, operands[i]);
	code = majors_check(on, err);
	if (!code)
		code = job_list_verify(&on->jobs, err);
	if (code)
		return code;
	if (on->settings->dry) {
		for (int i = 0; i < RAS_STATIC_MAJORS; i++)
			if (on->majors[i])
				printf("static major %d (0x%02x) would be recorded\n",
				       i, i);
		return dry_run(&on->jobs, err);
	}
	for (size_t i = 0; i < on->jobs.count; i++)
		if (!on->jobs.items[i].failed)
			return on_run_dir(on, err);
	return on->any_major ? on_run_dir(on, err) : 0;
}

/* What `trace on --boot` does is in the file alone. */
static const char *usage_check(const struct on_settings *settings,
			       int option_count, char **option, int operands)
{
	unsigned int words = 0;

	if (!settings->boot)
		return operands ? settings_triggers_check(&settings->job) :
				  "an operand is missing";
	for (int i = 0; i < option_count; i++)
		words += strcmp(option[i], "--") != 0;
	if (words > 1)
		return "--boot goes with no other option";
	return operands > 1 ? "--boot takes one file" : NULL;
}

static int on_run(int argc, char **argv)
{
	struct on_settings settings = {
		.job.filter.pids_fd = -1, .job.max_cpu_new = MAX_CPU_DEFAULT,
	};
	struct on on = {
		.settings = &settings, .jobs.settings = &settings.job,
	};
	struct error err = { 0 };
	int status, first = command_parse(&command_on, argc, argv, 0, -1,
					  &settings, &status);
	const char *wrong;

	if (first < 0)
		return status;
	if (settings.expr)
		return command_run.run(argc, argv);
	wrong = usage_check(&settings, first - 1, argv + 1, argc - first);
	if (wrong)
		return command_misuse(&command_on, wrong);
	if (settings.boot)
		return boot_run(argv[first]);
	on.options = argv + 1;
	on.option_count = first - 1;
	status = command_end(on_operands(&on, argc - first, argv + first,
					 &err), &err);
	status = on.jobs.failures ? COMMAND_FAILED : status;
	job_list_free(&on.jobs);
	selection_free(&settings.job.selection);
	return status;
}

const struct command command_on = {
	.def = {
		.program = "trace", .name = "on",
		.operands = "APP|APP(MINOR|GROUP|TYPE,...)|MAJORS...",
		.help = "arm tracepoints", .options = options,
	},
	.run = on_run,
};
