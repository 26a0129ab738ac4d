// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a fuzz target without libFuzzer: over its corpus, then over mutations
 * of it for a second. The same seed gives the same inputs.
 *
 *	fuzz_x			TAP; corpus from $TOP/selftests/fuzz/corpus/x
 *	fuzz_x FILE...		only these inputs
 *
 * FUZZ_SECONDS and FUZZ_SEED change the defaults. An input that ends the
 * program or takes 10 seconds is kept as fuzz_x.crash beside it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include <sanitizer/common_interface_defs.h>
#include "tap.h"

#define INPUT_MAX	65536
#define CORPUS_MAX	1024

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	uint8_t *bytes;
	size_t size;
};

static struct input corpus[CORPUS_MAX];
static size_t corpus_count;
static uint8_t current[INPUT_MAX];
static size_t current_size;
static volatile unsigned long runs;
static char crash_path[4096];

static void keep_input(void)
{
	int fd = open(crash_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, current, current_size) < 0)
		return;
	dprintf(STDERR_FILENO, "input kept in %s\n", crash_path);
	close(fd);
}

static void on_alarm(int signal)
{
	static unsigned long seen;

	if (seen == runs)
		abort();
	seen = runs;
	alarm(10);
}

static void on_abort(int signal)
{
	keep_input();
	_exit(1);
}

static void run_current(void)
{
	/* of its exact size, so that reading on is seen */
	uint8_t *copy = malloc(current_size ? current_size : 1);

	if (!copy)
		tap_bail("out of memory");
	memcpy(copy, current, current_size);
	LLVMFuzzerTestOneInput(copy, current_size);
	free(copy);
	runs++;
}

static bool read_input(const char *path, struct input *input)
{
	FILE *file = fopen(path, "rb");

	if (!file)
		return false;
	input->bytes = malloc(INPUT_MAX);
	input->size = input->bytes ? fread(input->bytes, 1, INPUT_MAX, file) : 0;
	fclose(file);
	return input->bytes;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void read_corpus(const char *folder)
{
	struct dirent **names;
	int count = scandir(folder, &names, NULL, by_name);
	char path[4096 + 256];

	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
		if (names[i]->d_name[0] != '.' && corpus_count < CORPUS_MAX)
			corpus_count += read_input(path, &corpus[corpus_count]);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
}

static void load(const struct input *input)
{
	current_size = input->size;
	memcpy(current, input->bytes, input->size);
}

/* xorshift64* */
static uint64_t random_state;

static size_t random_below(size_t limit)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return limit ? (random_state * 0x2545f4914f6cdd1dull >> 32) % limit : 0;
}

static void replace(size_t at, size_t old, const uint8_t *bytes, size_t size)
{
	size_t rest = current_size - at - old;

	if (current_size - old + size > INPUT_MAX)
		return;
	memmove(current + at + size, current + at + old, rest);
	memcpy(current + at, bytes, size);
	current_size += size - old;
}

static void mutate_number(size_t at)
{
	static const uint64_t numbers[] = {
		0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff,
		0x10000, 0x7fffffff, 0x80000000, 0xffffffff,
		0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
	};
	uint64_t number = numbers[random_below(sizeof(numbers) / 8)];
	size_t size = (size_t)1 << random_below(4);

	number += random_below(3) - 1;
	if (at + size <= current_size)
		memcpy(current + at, &number, size);
}

static void mutate(void)
{
	const struct input *other = &corpus[random_below(corpus_count)];
	size_t at = random_below(current_size + 1);
	size_t left = current_size - at;
	uint8_t piece[64];
	size_t size, from;

	switch (random_below(6)) {
	case 0:		/* a bit */
		if (left)
			current[at] ^= 1 << random_below(8);
		break;
	case 1:		/* a byte */
		if (left)
			current[at] = random_below(256);
		break;
	case 2:
		mutate_number(at);
		break;
	case 3:		/* cut out */
		size = random_below(left < 64 ? left + 1 : 64);
		replace(at, size, piece, 0);
		break;
	case 4:		/* a piece of this or of another */
		from = random_below(other->size);
		size = random_below(sizeof(piece));
		if (size > other->size - from)
			size = other->size - from;
		memcpy(piece, other->bytes + from, size);
		replace(at, random_below(2) && left >= size ? size : 0,
			piece, size);
		break;
	case 5:		/* the end */
		if (!random_below(8))
			current_size = at;
		break;
	}
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static double setting(const char *name, double value)
{
	const char *text = getenv(name);

	return text ? strtod(text, NULL) : value;
}

static void run_mutations(double limit)
{
	double end = seconds() + limit;

	while (seconds() < end) {
		load(&corpus[random_below(corpus_count)]);
		for (size_t n = 1 + random_below(8); n; n--)
			mutate();
		run_current();
	}
}

static int run_files(int count, char **paths)
{
	struct input input;

	for (int i = 0; i < count; i++) {
		if (!read_input(paths[i], &input)) {
			perror(paths[i]);
			return 1;
		}
		load(&input);
		run_current();
		free(input.bytes);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *top = getenv("TOP");
	const char *name = strstr(argv[0], "fuzz_");
	char folder[4096];

	while (name && strstr(name + 1, "fuzz_"))
		name = strstr(name + 1, "fuzz_");
	snprintf(crash_path, sizeof(crash_path), "%s.crash", argv[0]);
	__sanitizer_set_death_callback(keep_input);
	signal(SIGABRT, on_abort);
	signal(SIGALRM, on_alarm);
	alarm(10);
	if (argc > 1)
		return run_files(argc - 1, argv + 1);

	snprintf(folder, sizeof(folder), "%s/selftests/fuzz/corpus/%s",
		 top ? top : ".", name ? name + strlen("fuzz_") : "");
	read_corpus(folder);
	if (!corpus_count)
		tap_bail("no corpus in %s", folder);
	for (size_t i = 0; i < corpus_count; i++) {
		load(&corpus[i]);
		run_current();
	}
	tap_ok(true, "corpus");
	tap_diag("%zu files", corpus_count);
	random_state = setting("FUZZ_SEED", 1) * 2 + 1;
	run_mutations(setting("FUZZ_SECONDS", 1));
	tap_ok(runs > corpus_count, "mutations");
	tap_diag("%lu inputs", runs);
	for (size_t i = 0; i < corpus_count; i++)
		free(corpus[i].bytes);
	return tap_done();
}
