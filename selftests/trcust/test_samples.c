// SPDX-License-Identifier: GPL-2.0
/* The manual's samples (1.5) parse into the trees of samples/NAME.tree. */
#include "tap.h"
#include "trcust/tsf/parse_point.h"

static char *sample_read(const char *name, const char *ending, size_t *size)
{
	const char *top = getenv("TOP");
	char path[4096], *text;
	FILE *file;

	snprintf(path, sizeof(path), "%s/selftests/trcust/samples/%s.%s",
		 top ? top : "../..", name, ending);
	file = fopen(path, "r");
	text = calloc(1, 1 << 16);
	if (!file || !text)
		tap_bail("cannot read %s", path);
	*size = fread(text, 1, (1 << 16) - 1, file);
	fclose(file);
	return text;
}

/* The messages about the text, then its tree */
static char *tree_dump(const char *name, const char *text, size_t length)
{
	struct diag *diag;
	struct tsf *tsf;
	char *dump;
	size_t size;
	FILE *out = open_memstream(&dump, &size);

	if (!out || diag_open_text(&diag, name, text, length, 2, out))
		tap_bail("no memory");
	if (!tsf_parse(&tsf, diag, NULL, NULL))
		tsf_dump(tsf, out);
	tsf_free(tsf);
	diag_close(diag);
	fclose(out);
	return dump;
}

static char *dos_lines(const char *text, size_t length, size_t *size)
{
	char *dos = malloc(length * 2), *p = dos;

	if (!dos)
		tap_bail("no memory");
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\n')
			*p++ = '\r';
		*p++ = text[i];
	}
	*size = p - dos;
	return dos;
}

int main(void)
{
	static const char *const names[] = {
		"sample-16bit", "sample-32bit", "sample-doscall1",
		"sample-mixed",
	};
	char *text, *dos, *tree, *dump;
	size_t size, tree_size, dos_size;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		text = sample_read(names[i], "tsf", &size);
		tree = sample_read(names[i], "tree", &tree_size);
		dump = tree_dump(names[i], text, size);
		tap_str(dump, tree, "%s", names[i]);
		free(dump);
		dos = dos_lines(text, size, &dos_size);
		dump = tree_dump(names[i], dos, dos_size);
		tap_str(dump, tree, "%s with the line ends of DOS", names[i]);
		free(dump);
		free(dos);
		free(text);
		free(tree);
	}
	return tap_done();
}
