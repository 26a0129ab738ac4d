// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
#include "commands.h"
#include "lib/arm/arm.h"
#include "lib/buffer/picture.h"
#include "lib/buffer/pin.h"
#include "lib/identity.h"
#include "lib/path.h"

struct child {
	pid_t pid;
	char **argv;
	int go, why;		/* pipes: a byte to it, an errno from it */
};

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

static int child_refused(struct error *err, const char *what)
{
	return error_set(err, -errno, "cannot %s: %s", what, strerror(errno));
}

/* It isn't needed after all; nothing when it has run. */
static void child_drop(struct child *child)
{
	if (child->go >= 0)
		close(child->go);
	if (child->why >= 0)
		close(child->why);
	child->go = child->why = -1;
	if (child->pid > 0)
		waitpid(child->pid, NULL, 0);
	child->pid = -1;
}

/* Make its process, which waits. 0, or a negative errno with err set. */
static int child_make(struct child *child, char **argv, struct error *err)
{
	int go[2], why[2], code = 0;
	int cause;
	char byte;

	*child = (struct child){ .argv = argv, .go = -1, .why = -1 };
	if (pipe2(go, O_CLOEXEC))
		return child_refused(err, "make a pipe");
	if (pipe2(why, O_CLOEXEC)) {
		code = child_refused(err, "make a pipe");
		close(go[0]);
		close(go[1]);
		return code;
	}
	child->pid = fork();
	if (!child->pid) {
		close(go[1]);

		/* In the new process; without a byte to read, its parent is
		 * gone. */
		if (read(go[0], &byte, 1) != 1)
			_exit(0);
		execvp(argv[0], argv);
		cause = errno;
		_exit(write(why[1], &cause, sizeof(cause)) < 0);
	}
	if (child->pid < 0)
		code = child_refused(err, "fork");
	close(go[0]);
	close(why[1]);
	child->go = go[1];
	child->why = why[0];
	if (code)
		child_drop(child);
	return code;
}

/*
 * Execute the program and wait for its end; meanwhile SIGTERM and SIGHUP are
 * passed on to it. Its wait status, or a negative errno with err set.
 */
static int child_run(struct child *child, struct error *err)
{
	signal_handlers before;
	int status = 0, cause = 0;

	signalled = child->pid;
	for (size_t i = 0; i < SIGNALS; i++) {
		before[i] = signal(signals[i].number, signals[i].handler);
		if (before[i] == SIG_IGN)
			signal(signals[i].number, SIG_IGN);
	}
	if (write(child->go, "", 1) != 1)
		cause = errno;
	else if (read(child->why, &cause, sizeof(cause)) != sizeof(cause))
		cause = 0;
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	for (size_t i = 0; i < SIGNALS; i++)
		signal(signals[i].number, before[i]);
	child->pid = -1;
	return cause ? error_set(err, -cause, "cannot run '%s': %s",
				 child->argv[0], strerror(cause)) : status;
}

struct run_settings {
	struct job_settings job;	/* first: its options take this struct */
	const char *output;
};

static const struct option_def options[] = {
	SETTINGS_OPTIONS("record only the program, or --pid, and the processes it starts"),
	{ "output", 'o', "FILE.ras", "write the records to this file instead of printing them",
	  OPTION_PLACE(struct run_settings, output) },
	{ NULL }
};

/* Has any tracepoint of the session been hit? Yes where that can't be read. */
static bool session_was_hit(const struct session *session,
			    const struct buffer *buffer)
{
	uint32_t points = session->entry->points;
	size_t rows = (size_t)points * buffer->slices;
	struct ras_count *counts = NULL;
	struct ras_why *why = NULL;
	bool hit = session_counts_read(session, buffer->slices, &counts,
				       NULL) ||
		   session_why_read(session, buffer->control->cpus, &why, NULL);

	for (size_t i = 0; i < rows && !hit; i++)
		hit = counts[i].recorded || counts[i].dropped;
	for (uint32_t i = 0; i < points && !hit; i++)
		for (int k = 0; k < RAS_FILTERED_KINDS; k++)
			hit |= why[i].filtered[k] != 0;
	free(counts);
	free(why);
	return hit;
}

/* The program's file, opened, and its path; -1: it isn't found. */
static int program_open(const char *program, char path[PATH_MAX])
{
	const char *dirs = strchr(program, '/') ? NULL : getenv("PATH");
	int fd = -1;

	snprintf(path, PATH_MAX, "%s", program);
	if (!dirs)
		return open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && *dirs) {
		int n = strcspn(dirs, ":");

		snprintf(path, PATH_MAX, "%.*s%s%s", n, dirs, n ? "/" : "",
			 program);
		if (!access(path, X_OK))
			fd = open(path, O_RDONLY | O_CLOEXEC);
		dirs += n + (dirs[n] == ':');
	}
	return fd;
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
static int private_off(const struct run_dir *private, bool *hit,
		       struct error *err)
{
	struct session_list list;
	struct buffer buffer;
	int code = buffer_open(&buffer, private->path, true, err);

	if (code)
		return code;
	code = session_list_read(&list, &buffer, private->path, err);
	if (!code) {
		*hit = false;
		for (size_t i = 0; i < list.count && !*hit; i++)
			*hit = session_was_hit(&list.items[i], &buffer);
		for (size_t i = 0; i < list.count && !code; i++)
			if (list.items[i].armed)
				code = retire_session(private, &buffer,
						      &list.items[i], err);
		session_list_free(&list);
	}
	buffer_close(&buffer);
	return code;
}

/* tracefmt beside this program, else the one in PATH */
static void tracefmt_exec(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 10);
	char *slash;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash) {
		strcpy(slash + 1, "tracefmt");
		execl(path, "tracefmt", (char *)NULL);
	}
	execlp("tracefmt", "tracefmt", (char *)NULL);
	_exit(127);
}

static int run_print_records(const struct run_dir *private, struct error *err)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		setenv(PIN_RUN_VARIABLE, private->path, 1);
		tracefmt_exec();
	}
	if (child < 0)
		return error_set(err, -errno, "cannot fork: %s",
				 strerror(errno));
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return error_set(err, -ENOENT, "there is no tracefmt beside trace, nor in PATH");
	return error_set(err, -EIO, "tracefmt could not print all records");
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

/* In the private directory: arm, run, disarm, give out. */
static int run_private(struct job_list *jobs, const struct run_dir *private,
		       const struct run_settings *settings,
		       struct child *child, struct error *err)
{
	const struct snapshot_settings plain = { 0 };
	struct outfile *out = NULL;
	int status = 0, code = 0;
	bool hit = true;

	/* first, so that no run is in vain */
	if (settings->output)
		code = outfile_open(&out, settings->output, err);
	if (!code)
		code = private_arm(jobs, private, err);
	if (!code) {
		status = child_run(child, err);
		code = status < 0 ? status : 0;
	}
	if (!code) {
		if (WIFSIGNALED(status))
			fprintf(stderr, "trace: '%s' was ended by signal %d (%s)\n",
				child->argv[0], WTERMSIG(status),
				strsignal(WTERMSIG(status)));
		else
			fprintf(stderr, "trace: '%s' exited with status %d\n",
				child->argv[0], WEXITSTATUS(status));
		code = private_off(private, &hit, err);
	}
	if (code) {
		outfile_abort(out);
		return code;
	}
	if (!hit)
		program_explain_no_hit(&jobs->items[0], child->argv[0]);
	return out ? snapshot_save(private->path, out, &plain, err) :
	       run_print_records(private, err);
}

/*
 * The records go to a buffer of their own, which nothing else writes and which
 * goes with this process.
 */
static int run_jobs(struct job_list *jobs, const struct run_settings *settings,
		    struct child *child, struct error *err)
{
	struct run_dir common, private;
	int code = run_dir_open(&common, true, err);

	if (code)
		return code;
	code = run_dir_open_private(&private, &common, err);
	run_dir_close(&common);
	if (code)
		return code;
	code = run_private(jobs, &private, settings, child, err);
	retire_everything(&private);
	pins_remove(common.path, private.path);
	return code;
}

static int run_operand(const char *operand, const struct run_settings *settings,
		       struct child *child, struct error *err)
{
	struct job_list jobs = { .settings = &settings->job };
	int code;

	job_list_add(&jobs, operand);
	code = jobs.failures ? -EINVAL : job_list_verify(&jobs, err);
	if (!code && jobs.items[0].waits[0])
		code = error_set(err, -ENOENT,
				 "cannot arm '%s': the kernel module '%s' is not loaded",
				 operand, jobs.items[0].waits);
	/* what a target lacks has been reported */
	if (!code)
		code = jobs.failures ? -EINVAL :
		       run_jobs(&jobs, settings, child, err);
	job_list_free(&jobs);
	return code;
}

/* --follow alone is for the program itself. */
static int run_program(const char *operand, char **argv,
		       struct run_settings *settings, struct error *err)
{
	struct child child;
	int code = child_make(&child, argv, err);

	if (code)
		return code;
	if (settings->job.follow && !settings->job.pid_count)
		settings->job.pids[settings->job.pid_count++] = child.pid;
	code = run_operand(operand, settings, &child, err);
	child_drop(&child);
	return code;
}

static int run_run(int argc, char **argv)
{
	struct run_settings settings = { 0 };
	struct error err = { 0 };
	int status, first = command_parse(&command_run, argc, argv, 2, -1,
					  &settings, &status);

	if (first < 0)
		return status;
	status = run_program(argv[first], argv + first + 1, &settings, &err);
	selection_free(&settings.job.selection);
	return status && !err.text[0] ? COMMAND_FAILED :
	       command_end(status, &err);
}

const struct command command_run = {
	.def = {
		.program = "trace", .name = "run",
		.operands = "APP -- PROGRAM [ARGUMENT...]",
		.help = "arm, run a program, disarm, and print the records",
		.options = options,
	},
	.run = run_run,
};
