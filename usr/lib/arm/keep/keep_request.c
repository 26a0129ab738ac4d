// SPDX-License-Identifier: GPL-2.0
#include "keep_request.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "lib/arm/pinned/sessions.h"
#include "lib/arm/select/select.h"
#include "lib/buffer/pin.h"
#include "link_text.h"

#define PARTS_MAX	LINK_TEXT_MAX	/* empty ones */
#define REQUESTS_MAX	1000

static void request_path(char path[PATH_MAX], const char *run,
			 unsigned int number, const char *more)
{
	snprintf(path, PATH_MAX, "%s/wait/%u%s", run, number, more);
}

/* tdf, module, cwd, argument... */
static int request_parse(struct keep_request *request, char *text)
{
	char *parts[PARTS_MAX];
	size_t count = link_text_split(text, parts, PARTS_MAX);

	if (count < 4 || strlen(parts[0]) >= sizeof(request->tdf) ||
	    strlen(parts[1]) >= sizeof(request->module) ||
	    strchr(parts[1], '/') || parts[1][0] == '.')
		return -EINVAL;
	strcpy(request->tdf, parts[0]);
	strcpy(request->module, parts[1]);
	request->argv = calloc(count - 2, sizeof(*request->argv));
	request->cwd = strdup(parts[2]);
	if (!request->argv || !request->cwd)
		return -ENOMEM;
	for (size_t i = 3; i < count; i++) {
		request->argv[i - 3] = strdup(parts[i]);
		if (!request->argv[i - 3])
			return -ENOMEM;
	}
	return 0;
}

static void request_free(struct keep_request *request)
{
	for (char **arg = request->argv; arg && *arg; arg++)
		free(*arg);
	free(request->argv);
	free(request->cwd);
	free(request->refused);
}

static int request_read(struct keep_request *request, const char *run,
			unsigned int number)
{
	char path[PATH_MAX], *text;
	int code;

	*request = (struct keep_request){ .number = number };
	request_path(path, run, number, "");
	text = link_text_read(path);
	if (!text)
		return -ENOENT;
	code = request_parse(request, text);
	free(text);
	request_path(path, run, number, "_why");
	request->refused = link_text_read(path);
	if (code)
		request_free(request);
	return code;
}

struct request_numbers {
	unsigned int items[REQUESTS_MAX];
	size_t count;
};

static void request_number_take(const char *path, const char *name,
				void *context)
{
	struct request_numbers *numbers = context;

	if (!name[strspn(name, "0123456789")] && numbers->count < REQUESTS_MAX)
		numbers->items[numbers->count++] = strtoul(name, NULL, 10);
}

static int request_number_compare(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return x < y ? -1 : x > y;
}

int keep_requests_read(const char *run, struct keep_request **requests,
		       size_t *count)
{
	struct request_numbers numbers = { .count = 0 };
	char path[PATH_MAX];

	*count = 0;
	snprintf(path, sizeof(path), "%s/wait", run);
	pins_each(path, request_number_take, &numbers);
	qsort(numbers.items, numbers.count, sizeof(numbers.items[0]),
	      request_number_compare);
	*requests = calloc(numbers.count + 1, sizeof(**requests));
	if (!*requests)
		return -ENOMEM;
	for (size_t i = 0; i < numbers.count; i++)
		if (!request_read(&(*requests)[*count], run, numbers.items[i]))
			++*count;
	return 0;
}

void keep_requests_free(struct keep_request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++)
		request_free(&requests[i]);
	free(requests);
}

/* Under the lock of the run directory: */
static void keep_request_drop(const struct run_dir *run, unsigned int number)
{
	char path[PATH_MAX];

	request_path(path, run->path, number, "_why");
	unlink(path);
	request_path(path, run->path, number, "");
	unlink(path);
	snprintf(path, sizeof(path), "%s/wait", run->path);
	rmdir(path);
}

/* why NULL: it waits again. */
static void keep_request_refuse(const struct run_dir *run, unsigned int number,
				const char *why)
{
	char path[PATH_MAX], text[LINK_TEXT_MAX];

	request_path(path, run->path, number, "_why");
	unlink(path);
	if (!why)
		return;
	/* a link can't be empty */
	snprintf(text, sizeof(text), "%s", *why ? why : "refused");
	if (symlink(text, path))
		keep_request_drop(run, number);
}

/* Is the module there, with its init done? */
static bool keep_module_is_live(const char *module)
{
	char path[KERNEL_MODULE_NAME + 32], state[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/%s", module);
	if (access(path, F_OK))
		return false;
	strcat(path, "/initstate");
	file = fopen(path, "re");
	/* what is built in has no such file */
	if (!file)
		return true;
	if (!fgets(state, sizeof(state), file))
		state[0] = '\0';
	fclose(file);
	return !strncmp(state, "live", 4);
}

bool keep_module_absent(const struct tdf *tdf, char name[KERNEL_MODULE_NAME])
{
	for (uint32_t i = 0; i < tdf->header->modules.count; i++) {
		const struct tdf_module *module = &tdf->modules[i];

		if (module->kind == TDF_MODULE_KMOD &&
		    !kernel_module_name(tdf_string(tdf, module->path), name,
					NULL) &&
		    !keep_module_is_live(name))
			return true;
	}
	return false;
}

static bool same_request(const struct keep_request *request, const char *tdf,
			 char *const *argv)
{
	size_t i = 0;

	if (strcmp(request->tdf, tdf))
		return false;
	while (argv[i] && request->argv[i] &&
	       !strcmp(argv[i], request->argv[i]))
		i++;
	return !argv[i] && !request->argv[i];
}

/* Its number when it is there already, else one that is free. */
static int number_choose(const struct run_dir *run, const char *tdf,
			 char *const *argv, unsigned int *number,
			 struct error *err)
{
	struct keep_request *requests;
	size_t count;

	if (keep_requests_read(run->path, &requests, &count))
		return error_no_memory(err);
	*number = 1;
	for (size_t i = 0; i < count; i++) {
		if (requests[i].number >= *number)
			*number = requests[i].number + 1;
		if (same_request(&requests[i], tdf, argv)) {
			*number = requests[i].number;
			break;
		}
	}
	keep_requests_free(requests, count);
	return count < REQUESTS_MAX ? 0 :
		error_set(err, -ENOSPC, "%zu TDFs wait already", count);
}

int keep_wait(const struct run_dir *run, const char *tdf, const char *module,
	      char *const *argv, struct error *err)
{
	struct link_text text = { .length = 0 };
	char path[PATH_MAX], *cwd = getcwd(NULL, 0);
	unsigned int number = 0;
	int code;

	link_text_add(&text, tdf);
	link_text_add(&text, module);
	link_text_add(&text, cwd ? cwd : "/");
	free(cwd);
	for (char *const *arg = argv; *arg; arg++)
		link_text_add(&text, *arg);
	if (text.full)
		return error_set(err, -E2BIG, "these arguments are too long to be kept until module '%s' is loaded",
				 module);
	code = number_choose(run, tdf, argv, &number, err);
	if (!code)
		code = run_dir_make(run, "wait", err);
	if (code)
		return code;
	keep_request_refuse(run, number, NULL);
	request_path(path, run->path, number, "");
	return link_text_write(&text, path, err);
}

unsigned int keep_forget(const struct run_dir *run, const char *name)
{
	struct keep_request *requests;
	unsigned int forgotten = 0;
	char path[PATH_MAX];
	size_t count;

	if (keep_requests_read(run->path, &requests, &count))
		return 0;
	select_path(name, path);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(requests[i].tdf, path) &&
		    !select_is_called(requests[i].tdf, name))
			continue;
		keep_request_drop(run, requests[i].number);
		forgotten++;
	}
	keep_requests_free(requests, count);
	return forgotten;
}

static void self_execute(char *const *argv, const char *directory,
			 bool detached, int output)
{
	int null = detached ? open("/dev/null", O_RDWR) : -1;
	sigset_t none;

	if ((detached && null < 0) || chdir(directory))
		_exit(127);
	if (detached) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	dup2(output, STDERR_FILENO);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv("/proc/self/exe", argv);
	_exit(127);
}

int self_rerun(char *const *argv, const char *directory, bool detached,
	       FILE **output)
{
	int status = 0, fd = memfd_create("output", MFD_CLOEXEC);
	pid_t child;

	*output = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!*output)
		return -1;
	child = fork();
	if (!child)
		self_execute(argv, directory, detached, fd);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	rewind(*output);
	return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define WHY_MAX		1024

/* The first line of its output, without the program's own name. */
static void why_read(FILE *output, char why[WHY_MAX])
{
	static const char name[] = "trace: ";

	if (!fgets(why, WHY_MAX, output))
		why[0] = '\0';
	why[strcspn(why, "\n")] = '\0';
	if (!strncmp(why, name, sizeof(name) - 1))
		memmove(why, why + sizeof(name) - 1,
			strlen(why + sizeof(name) - 1) + 1);
}

/* By `trace on` with the request's arguments: 0, or another exit status. */
static int request_arm(const struct keep_request *request, char why[WHY_MAX])
{
	size_t count = 0;
	FILE *output;
	char **argv;
	int status;

	why[0] = '\0';
	while (request->argv[count])
		count++;
	argv = calloc(count + 3, sizeof(*argv));
	if (!argv)
		return -1;
	argv[0] = "trace";
	argv[1] = "on";
	memcpy(argv + 2, request->argv, count * sizeof(*argv));
	status = self_rerun(argv, request->cwd, true, &output);
	free(argv);
	if (output) {
		why_read(output, why);
		fclose(output);
	}
	return status;
}

/* Nothing is done where the request was given up in the meantime. */
static void request_settle(const struct keep_request *request, bool armed,
			   const char *why)
{
	struct keep_request *requests;
	struct run_dir run;
	size_t count;

	if (run_dir_open(&run, false, NULL))
		return;
	if (!keep_requests_read(run.path, &requests, &count)) {
		for (size_t i = 0; i < count; i++) {
			if (requests[i].number != request->number ||
			    strcmp(requests[i].tdf, request->tdf))
				continue;
			if (armed)
				keep_request_drop(&run, request->number);
			else
				keep_request_refuse(&run, request->number,
						    why);
		}
		keep_requests_free(requests, count);
	}
	run_dir_close(&run);
}

static void request_try(const struct keep_request *request)
{
	bool there = keep_module_is_live(request->module);
	char why[WHY_MAX];
	int status;

	if (!there && request->refused)
		request_settle(request, false, NULL);
	if (!there || request->refused)
		return;
	status = request_arm(request, why);
	/* a module that is gone again: the request goes on waiting */
	if (!status || keep_module_is_live(request->module))
		request_settle(request, !status, why);
}

bool keep_arm_requests(const char *path)
{
	struct keep_request *requests;
	size_t count;

	if (keep_requests_read(path, &requests, &count))
		return true;
	for (size_t i = 0; i < count; i++)
		request_try(&requests[i]);
	keep_requests_free(requests, count);
	return count > 0;
}
