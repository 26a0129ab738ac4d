// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <linux/capability.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "commands.h"
#include "compile.h"
#include "printer.h"
#include "lib/arm/arm.h"
#include "lib/buffer/picture.h"
#include "lib/buffer/pin.h"
#include "lib/identity.h"
#include "lib/launch.h"
#include "lib/path.h"

static volatile pid_t signalled;

static void signal_pass(int number)
{
	kill(signalled, number);
}

/* While the program runs. The first two come to it from the terminal, the last
 * is for writing to one that has been killed before it ran. */
static const struct {
	int number;
	void (*handler)(int);
} signals[] = {
	{ SIGINT, SIG_IGN }, { SIGQUIT, SIG_IGN },
	{ SIGTERM, signal_pass }, { SIGHUP, signal_pass },
	{ SIGPIPE, SIG_IGN },
};

#define SIGNALS	(sizeof(signals) / sizeof(signals[0]))

typedef void (*signal_handlers[SIGNALS])(int);

/* ms until then, for poll(2): as many as fit; 0: it is over */
static int time_left(uint64_t end)
{
	uint64_t now = buffer_time(), left = end > now ? end - now : 0;

	if (!end)
		return -1;
	left = (left + 999999) / 1000000;
	return left < INT_MAX ? left : INT_MAX;
}

/* Wait a second, if it runs that long, and see what the tracepoints take. */
static void program_warn_use(const struct launch *program,
			     const struct run_dir *private)
{
	struct pollfd end = { syscall(SYS_pidfd_open, program->pid, 0), POLLIN };
	uint64_t until = buffer_time() + USE_NS;
	struct keep_usage usage;

	if (end.fd < 0)
		return;
	keep_usage_begin(&usage, private->path);
	while (poll(&end, 1, time_left(until)) < 0 && errno == EINTR)
		;
	keep_usage_warn(keep_usage_end(&usage, private->path));
	close(end.fd);
}

/* May it be traced from before it is executed? Without this capability that takes
 * the privileges from a set-user-ID program, or one with capabilities. */
static bool may_seize(void)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};

	return !syscall(SYS_capget, &header, data) &&
	       data[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective &
	       CAP_TO_MASK(CAP_SYS_PTRACE);
}

/*
 * Execute the program and wait for its end; meanwhile SIGTERM and SIGHUP are
 * passed on to it. With stacks it stops at its start, until they can be followed
 * from the first hit on; where it can't stop, the first ones end early. Its wait
 * status, or a negative errno with err set.
 */
static int program_execute(struct launch *program, const struct run_dir *private,
			   struct stacks_server *stacks, struct error *err)
{
	struct error ignored = { 0 };
	signal_handlers before;
	int code;

	signalled = program->pid;
	for (size_t i = 0; i < SIGNALS; i++) {
		before[i] = signal(signals[i].number, signals[i].handler);
		if (before[i] == SIG_IGN)
			signal(signals[i].number, SIG_IGN);
	}
	if (stacks && may_seize())
		launch_seize(program, &ignored);
	code = launch_execute(program, err);
	if (!code && program->stopped)
		stacks_server_add(stacks, program->pid);
	if (stacks)
		stacks_server_start(stacks);
	if (!code)
		code = launch_continue(program, err);
	else if (code == -ECHILD)	/* it ended before its first hit */
		code = 0;
	if (!code && !program->ended)
		program_warn_use(program, private);
	if (!code)
		launch_wait(program);
	for (size_t i = 0; i < SIGNALS; i++)
		signal(signals[i].number, before[i]);
	return code ? code : program->status;
}

/* The command line without its options */
struct run_words {
	char **operands;		/* TDFs */
	int operand_count;
	char **program;			/* NULL: processes that are there */
};

struct run_settings {
	struct job_settings job;	/* first: its options take this struct */
	const char *output;
	struct settings_values exprs;
	bool print_tsf;
	bool all;			/* --all */
};

static int take_expr(void *context, const char *value)
{
	struct run_settings *settings = context;

	return settings_add(&settings->exprs, "--expr", value);
}

static const struct option_def options[] = {
	{ "expr", 'e', "EXPR",
	  "trace this without a TDF: 'fn(a, b) -> result if elapsed > 1ms'; may be repeated",
	  take_expr },
	{ "print-tsf", 0, NULL,
	  "print the TSF of each --expr, and exit",
	  OPTION_PLACE(struct run_settings, print_tsf) },
	SETTINGS_OPTIONS("with --pid, also the processes that it starts"),
	{ "all", 'a', NULL,
	  "record all processes, not only the program and those it starts",
	  OPTION_PLACE(struct run_settings, all) },
	{ "for", 0, "TIME",
	  "without a program: end after this time, 90 (seconds), 5m or 2h",
	  settings_take_for },
	{ "output", 'o', "FILE.ras", "write the records to this file instead of printing them",
	  OPTION_PLACE(struct run_settings, output) },
	PRINTER_OPTIONS,
	{ NULL }
};

/* Hits of all tracepoints */
struct run_hits {
	bool any;		/* of the program; also where it can't be read */
	uint64_t others;	/* filtered: of other processes */
};

static void session_hits_add(struct run_hits *hits,
			     const struct session *session,
			     const struct buffer *buffer)
{
	uint32_t points = session->entry->points;
	size_t rows = (size_t)points * buffer->slices;
	struct ras_aggregated *sums = NULL;
	struct ras_count *counts = NULL;
	struct ras_why *why = NULL;

	/* none where no point has aggregates */
	session_aggregated_read(session, buffer->control->cpus, &sums, NULL);
	if (session_counts_read(session, buffer->slices, &counts, NULL) ||
	    session_why_read(session, buffer->control->cpus, &why, NULL)) {
		hits->any = true;
		rows = points = 0;
	}
	for (size_t i = 0; i < rows; i++)
		hits->any |= counts[i].recorded || counts[i].dropped;
	for (uint32_t i = 0; i < points; i++) {
		hits->others += why[i].filtered[RAS_FILTERED_PROCESS];
		hits->any |= session_why_open(&why[i]) ||
			     (sums && sums[i].hits);
		for (int k = 0; k < RAS_FILTERED_KINDS; k++)
			hits->any |= k != RAS_FILTERED_PROCESS &&
				     why[i].filtered[k];
	}
	free(counts);
	free(why);
	free(sums);
}

/* The program's file, opened, and its path; -1: it isn't found. */
static int program_open(const char *program, char path[PATH_MAX])
{
	if (strchr(program, '/'))
		snprintf(path, PATH_MAX, "%s", program);
	else if (!compile_path_search(program, path))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool program_is_traced(const struct job *job, const struct stat *st)
{
	for (uint32_t i = 0; i < job->tdf->header->modules.count; i++) {
		const struct target *target = &job->targets[i];

		for (uint32_t k = 0; k < target->file_count; k++)
			if (target->files[k].device == st->st_dev &&
			    target->files[k].inode == st->st_ino)
				return true;
	}
	return false;
}

static void path_warn(const char *before, const char *path, const char *after)
{
	fputs(before, stderr);
	safe_text_print(stderr, path, true);
	fputs(after, stderr);
}

/* No tracepoint was hit: report it when the program isn't a traced file. */
static void program_explain_no_hit(const struct job *job, const char *program)
{
	char path[PATH_MAX];
	int fd = program_open(program, path);
	struct identity id;
	struct stat st;

	if (fd < 0)
		return;
	for (uint32_t i = 0; i < job->tdf->header->modules.count; i++) {
		const struct tdf_module *module = &job->tdf->modules[i];
		const char *traced = job->targets[i].file_count ?
			job->targets[i].files[0].path : NULL;

		if (!traced || fstat(fd, &st) || program_is_traced(job, &st))
			continue;
		path_warn("trace: no tracepoint was hit: '", path,
			  "' isn't the file that is traced, '");
		path_warn("", traced, "'\n");
		if (identity_read(fd, path, &id, NULL))
			continue;
		if (id.kind == module->id_kind &&
		    id.length == module->id_length &&
		    !memcmp(id.id, module->id, id.length))
			path_warn("trace: it is the same build, so name it: --module '",
				  path, "'\n");
		else if (!strcmp(path_base(traced), path_base(path)))
			fputs("trace: it is another build: compile the TSF for it (trcust)\n",
			      stderr);
	}
	close(fd);
}

/* Disarm all that is armed in the private directory. */
static int private_off(const struct run_dir *private, struct run_hits *hits,
		       struct error *err)
{
	struct session_list list;
	struct buffer buffer;
	int code = buffer_open(&buffer, private->path, true, err);

	if (code)
		return code;
	code = session_list_read(&list, &buffer, private->path, err);
	if (!code) {
		for (size_t i = 0; i < list.count; i++)
			session_hits_add(hits, &list.items[i], &buffer);
		for (size_t i = 0; i < list.count && !code; i++)
			if (list.items[i].armed)
				code = retire_session(private, &buffer,
						      &list.items[i], err);
		session_list_free(&list);
	}
	buffer_close(&buffer);
	return code;
}

/*
 * tracefmt of the private buffer. While the program runs it follows, unless it
 * prints what needs all events.
 */
static pid_t private_print(const struct run_dir *private,
			   const struct expr_tdfs *compiled, bool follow,
			   struct error *err)
{
	const struct printer_input input = {
		.tff = compiled->count ? compiled->directory : NULL,
		.condition = compiled->condition, .follow = follow,
	};

	if (setenv(PIN_RUN_VARIABLE, private->path, 1))
		return error_no_memory(err);
	return printer_start(&input, err);
}

static int private_arm(struct job_list *jobs, const struct run_dir *private,
		       struct error *err)
{
	struct features features;
	struct buffer buffer;
	int code = job_buffer_open(&buffer, &features, private, jobs->settings,
				   err);

	if (code)
		return code;
	job_list_arm(jobs, private, &buffer, &features, false);
	buffer_close(&buffer);
	return jobs->failures ? -EINVAL : 0;
}

/* Until a signal says so, all the processes have ended, or the time is over. */
static int processes_wait(const struct job_settings *settings,
			  const struct run_dir *private, struct error *err)
{
	struct pollfd ends[SETTINGS_MOST + 1];
	uint64_t end = settings->duration ?
		       buffer_time() + settings->duration : 0;
	uint64_t first = buffer_time() + USE_NS;
	struct keep_usage usage;
	bool warned = false;
	unsigned int count = 0;
	sigset_t set;
	int ready;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	ends[count++] = (struct pollfd){ signalfd(-1, &set, SFD_CLOEXEC),
					 POLLIN };
	if (ends[0].fd < 0)
		return error_set(err, -errno, "cannot wait for a signal: %s",
				 strerror(errno));
	for (unsigned int i = 0; i < settings->pid_count; i++) {
		ends[count] = (struct pollfd){
			syscall(SYS_pidfd_open, settings->pids[i], 0), POLLIN,
		};
		count += ends[count].fd >= 0;
	}
	fputs("trace: armed; Ctrl-C ends it\n", stderr);
	keep_usage_begin(&usage, private->path);
	if (end && end < first)
		first = end;
	for (unsigned int left = count - 1;;) {
		ready = poll(ends, count, time_left(warned ? end : first));
		if (!warned && buffer_time() >= first) {
			keep_usage_warn(keep_usage_end(&usage, private->path));
			warned = true;
			if (!ready && (!end || buffer_time() < end))
				continue;
		}
		if (!ready || (ready < 0 && errno != EINTR))
			break;
		for (unsigned int i = 1; i < count; i++)
			if (ends[i].fd >= 0 && ends[i].revents) {
				close(ends[i].fd);
				ends[i].fd = -1;
				left--;
			}
		if (ends[0].revents || (count > 1 && !left))
			break;
	}
	for (unsigned int i = 0; i < count; i++)
		if (ends[i].fd >= 0)
			close(ends[i].fd);
	if (!warned)
		keep_usage_end(&usage, private->path);
	/* the one that came is not taken a second time */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return 0;
}

/* What is traced: a program that is run, or processes that are there. */
static int subject_run(const struct job_settings *settings,
		       const struct run_dir *private,
		       struct stacks_server *stacks, struct launch *program,
		       struct error *err)
{
	int status;

	if (!program->argv) {
		if (stacks)
			stacks_server_start(stacks);
		return processes_wait(settings, private, err);
	}
	status = program_execute(program, private, stacks, err);
	if (status < 0)
		return status;
	if (WIFSIGNALED(status))
		fprintf(stderr, "trace: '%s' was ended by signal %d (%s)\n",
			program->argv[0], WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else
		fprintf(stderr, "trace: '%s' exited with status %d\n",
			program->argv[0], WEXITSTATUS(status));
	return 0;
}

/* In the private directory: arm, run, disarm, give out. Records of expressions,
 * and those on a terminal, are printed while the program runs, if the form of
 * output allows that. */
static int run_private(struct job_list *jobs, const struct run_dir *private,
		       const struct run_settings *settings,
		       const struct expr_tdfs *compiled, struct launch *program,
		       struct error *err)
{
	const struct snapshot_settings bundled = { .bundle = true };
	bool follow = (compiled->count || isatty(STDOUT_FILENO)) &&
		      !settings->output && !printer_is_whole();
	struct stacks_server *stacks = NULL;
	struct outfile *out = NULL;
	pid_t printer = 0;
	struct run_hits hits = { 0 };
	int code = 0;

	/* first, so that no run is in vain */
	if (settings->output)
		code = outfile_open(&out, settings->output, err);
	if (!code)
		code = private_arm(jobs, private, err);
	if (!code)
		stacks = stacks_server_open(private->path);
	if (!code && follow)
		printer = private_print(private, compiled, true, err);
	if (!code)
		code = printer < 0 ? printer :
		       subject_run(&settings->job, private, stacks, program,
				   err);
	stacks_server_close(stacks);
	if (!code)
		code = private_off(private, &hits, err);
	if (printer > 0)
		kill(printer, SIGTERM);
	if (code) {
		outfile_abort(out);
		return code;
	}
	if (!hits.any && !hits.others && program->argv && !compiled->count)
		program_explain_no_hit(&jobs->items[0], program->argv[0]);
	if (!hits.any && hits.others)
		fprintf(stderr,
			"trace: all %" PRIu64 " hits were of other processes: record those with --all\n",
			hits.others);
	if (out)
		return snapshot_save(private->path, out, &bundled, err);
	if (!follow)
		printer = private_print(private, compiled, false, err);
	return printer < 0 ? printer : printer_wait(printer, err);
}

/*
 * The records go to a buffer of their own, which nothing else writes and which
 * goes with this process.
 */
static int run_jobs(struct job_list *jobs, const struct run_settings *settings,
		    const struct expr_tdfs *compiled, struct launch *program,
		    struct error *err)
{
	struct run_dir common, private;
	int code = run_dir_open(&common, true, err);

	if (code)
		return code;
	code = run_dir_open_private(&private, &common, err);
	run_dir_close(&common);
	if (code)
		return code;
	code = run_private(jobs, &private, settings, compiled, program, err);
	retire_everything(&private);
	pins_remove(common.path, private.path);
	return code;
}

static int run_operands(const struct run_words *words,
			const struct run_settings *settings,
			const struct expr_tdfs *compiled, struct launch *program,
			struct error *err)
{
	struct job_list jobs = { .settings = &settings->job };
	int code;

	for (int i = 0; i < words->operand_count; i++)
		job_list_add(&jobs, words->operands[i]);
	for (unsigned int i = 0; i < compiled->count; i++)
		job_list_add(&jobs, compiled->tdfs[i]);
	code = jobs.failures ? -EINVAL : job_list_verify(&jobs, err);
	for (size_t i = 0; i < jobs.count && !code; i++)
		if (jobs.items[i].waits[0])
			code = error_set(err, -ENOENT,
					 "cannot arm '%s': the kernel module '%s' is not loaded",
					 jobs.items[i].path,
					 jobs.items[i].waits);
	/* what a target lacks has been reported */
	if (!code)
		code = jobs.failures ? -EINVAL :
		       run_jobs(&jobs, settings, compiled, program, err);
	job_list_free(&jobs);
	return code;
}

/* Unless other processes are chosen, those are the program and what it starts. */
static void program_choose(struct run_settings *settings, pid_t program)
{
	struct job_settings *job = &settings->job;
	bool chosen = settings->all || filters_given(job);

	if (chosen && !job->follow)
		return;
	if (!job->follow && !filters_can_follow()) {
		fputs("trace: records of all processes: only the host's processes, on a kernel with type information (CONFIG_DEBUG_INFO_BTF), can be followed\n",
		      stderr);
		return;
	}
	job->follow = true;
	if (!job->pid_count)
		job->pids[job->pid_count++] = program;
}

static int run_program(const struct run_words *words,
		       struct run_settings *settings,
		       const struct expr_tdfs *compiled, struct error *err)
{
	struct launch program = { .go = -1, .why = -1 };
	int code = words->program ?
		   launch_make(&program, words->program, err) : 0;

	if (code)
		return code;
	if (words->program)
		program_choose(settings, program.pid);
	code = run_operands(words, settings, compiled, &program, err);
	launch_drop(&program);
	return code;
}

/* There are records of calls that the condition of an expression excludes. */
static void excluded_report(const struct run_settings *settings,
			    const char *condition)
{
	if (!settings->output) {
		fputs("trace: all calls are recorded, and tracefmt leaves out the others\n",
		      stderr);
		return;
	}
	fputs("trace: all calls are recorded; to leave out the others: ",
	      stderr);
	compile_field_print(condition, stderr);
	fprintf(stderr, " %s\n", settings->output);
}

static int run_compiled(const struct run_words *words,
			struct run_settings *settings, struct error *err)
{
	const struct compile_subject subject = {
		.program = words->program ? words->program[0] : NULL,
		.pid = settings->job.pid_count ? settings->job.pids[0] : 0,
	};
	struct expr_tdfs compiled = { "" };
	int code = 0;

	if (settings->print_tsf)
		return compile_print(settings->exprs.items,
				     settings->exprs.count, &subject, err);
	if (settings->exprs.count)
		code = compiled_make(&compiled, settings->exprs.items,
				     settings->exprs.count, &subject, err);
	if (!code && compiled.condition)
		excluded_report(settings, compiled.condition);
	/* --stop-on names them e1, e2 ... */
	if (!code && compiled.count)
		setenv("TRACE_PATH", compiled.directory, 1);
	if (!code)
		code = run_program(words, settings, &compiled, err);
	compiled_remove(&compiled);
	return code;
}

/* "APP... -- PROGRAM", or "APP PROGRAM" */
static const char *words_check(struct run_words *words,
			       const struct run_settings *settings)
{
	if (!words->program && !settings->exprs.count &&
	    words->operand_count > 1) {
		words->program = words->operands + 1;
		words->operand_count = 1;
	}
	if (!words->operand_count && !settings->exprs.count)
		return "a TDF is missing, or --expr";
	if (words->program && settings->job.duration)
		return "--for is without a program: that ends by itself";
	if (settings->print_tsf && !settings->exprs.count)
		return "--print-tsf needs --expr";
	if (!words->program && !settings->job.pid_count &&
	    !settings->print_tsf && !settings->exprs.count)
		return "a program to run is missing";
	return NULL;
}

static int run_run(int argc, char **argv)
{
	struct run_settings settings = { 0 };
	struct run_words words = { 0 };
	struct error err = { 0 };
	int status, first, end = 1;
	const char *wrong;

	while (end < argc && strcmp(argv[end], "--"))
		end++;
	if (end + 1 < argc)
		words.program = argv + end + 1;
	first = command_parse(&command_run, end, argv, 0, -1, &settings,
			      &status);
	if (first < 0)
		return status;
	words.operands = argv + first;
	words.operand_count = end - first;
	wrong = words_check(&words, &settings);
	if (wrong)
		return command_misuse(&command_run, wrong);
	status = run_compiled(&words, &settings, &err);
	selection_free(&settings.job.selection);
	return status && !err.text[0] ? COMMAND_FAILED :
	       command_end(status, &err);
}

const struct command command_run = {
	.def = {
		.program = "trace", .name = "run",
		.operands = "[APP...] -- PROGRAM [ARGUMENT...]",
		.help = "arm, run a program, disarm, and print the records",
		.options = options,
	},
	.run = run_run,
};
