// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as rastrace.conf, of which nothing is armed, and as what `trace on`
 * keeps: until a module is loaded, or for the keeper.
 */
#include <unistd.h>
#define fork() (-1)
#include "trace/on.c"
#undef fork
#include "lib/arm/keep/keep_request.c"
#include "lib/arm/keep/keep_task.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void conf_take(const uint8_t *data, size_t size)
{
	struct boot *boot = calloc(1, sizeof(*boot));
	FILE *file = fmemopen((void *)data, size, "r");

	if (!boot)
		abort();
	boot->path = "fuzz.conf";
	boot->directory = ".";
	if (file)
		lines_run(boot, file, NULL);
	if (file)
		fclose(file);
	free(boot->buffer);
	free(boot->group);
	free(boot);
}

/* What was kept is what is read. */
static void again_check(const struct keep_request *request)
{
	struct keep_request again = { 0 };
	struct link_text text = { .length = 0 };

	link_text_add(&text, request->tdf);
	link_text_add(&text, request->module);
	link_text_add(&text, request->cwd);
	for (char **arg = request->argv; *arg; arg++)
		link_text_add(&text, *arg);
	if (text.full)
		return;
	if (request_parse(&again, text.bytes) ||
	    strcmp(again.cwd, request->cwd) ||
	    !same_request(&again, request->tdf, request->argv))
		abort();
	request_free(&again);
}

static void request_take(const uint8_t *data, size_t size)
{
	struct keep_request request = { 0 };
	char text[LINK_TEXT_MAX];

	if (size >= sizeof(text))
		return;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!request_parse(&request, text))
		again_check(&request);
	request_free(&request);
}

static void trigger_take_bytes(const uint8_t *data, size_t size)
{
	struct keep_trigger trigger, again;
	struct link_text text = { .length = 0 };
	struct keep_did did;

	if (size >= sizeof(text.bytes))
		return;
	memcpy(text.bytes, data, size);
	text.bytes[size] = '\0';
	did_text_take(&did, text.bytes);
	memcpy(text.bytes, data, size);
	text.bytes[size] = '\0';
	trigger_text_take(&trigger, text.bytes);
	trigger_text_make(&text, &trigger);
	if (!text.full && trigger.count) {
		trigger_text_take(&again, text.bytes);
		if (again.count != trigger.count ||
		    again.most != trigger.most ||
		    again.span != trigger.span ||
		    memcmp(again.points, trigger.points,
			   again.count * sizeof(again.points[0])) ||
		    strcmp(again.text, trigger.text) ||
		    strcmp(again.directory, trigger.directory))
			abort();
		free(again.text);
		free(again.directory);
	}
	free(trigger.text);
	free(trigger.directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *out = fopen("/dev/null", "w"), *kept = stderr;

	if (!out)
		abort();
	stderr = out;
	conf_take(data, size);
	stderr = kept;
	fclose(out);
	request_take(data, size);
	trigger_take_bytes(data, size);
	return 0;
}
