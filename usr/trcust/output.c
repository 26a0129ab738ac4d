// SPDX-License-Identifier: GPL-2.0
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/outfile.h"
#include "lib/formats/tdf.h"
#include "locate.h"
#include "trcust/write/tdf_write.h"
#include "trcust/write/tff_write.h"

static enum diag_id output_failure(int code)
{
	switch (code) {
	case -EEXIST:
		return TRCERR_DIF_MAJOR;
	case -EINVAL:		/* something else is there */
		return TRCERR_FILE_ACCESS;
	case -ENOENT:
	case -ENOTDIR:
	case -EACCES:
	case -EPERM:
	case -EROFS:
	case -ELOOP:
		return TRCERR_FILE_OPEN;
	case -ENAMETOOLONG:
		return TRCERR_FILENAME;
	case -ENOMEM:
		return TRCERR_NO_MEM;
	default:
		return TRCERR_FILE_WRITE;
	}
}

void output_report(struct diag *diag, const char *path, int code,
		   const struct error *err)
{
	diag_report(diag, (struct srcpos){ 0 }, output_failure(code), path);
	if (err->text[0])
		diag_hint(diag, "%s", err->text);
	if (err->hint[0])
		diag_hint(diag, "%s", err->hint);
}

/* One that the TSF was compiled to before must not be armed by mistake. */
static int remove_tdf(struct diag *diag, const char *path, struct error *err)
{
	struct tdf *tdf;
	bool own;

	if (tdf_open(&tdf, path, NULL))
		return 0;
	own = outfile_is_same(tdf_string(tdf, tdf->header->tsf), diag_path(diag));
	tdf_close(tdf);
	if (own && unlink(path))
		return error_set(err, -errno, "cannot remove '%s': %s", path,
				 strerror(errno));
	if (!own)
		fprintf(stderr, "trcust: '%s' is of another TSF and is left as it is\n",
			path);
	return 0;
}

/* Both are written before either is put in place. */
static int write_files(const struct compilation *c,
		       const struct compiled *compiled, const char *tdf,
		       const char *tff, const char *module)
{
	struct outfile *tdf_out = NULL, *tff_out = NULL;
	int lock = outfile_lock_directory(tff);
	const char *path = tff;
	struct error err = { 0 };
	int code = tff_write(&tff_out, tff, c, compiled, module, &err);

	if (!code)
		code = outfile_sync(tff_out, &err);
	if (!code && compiled->dynamic_count) {
		path = tdf;
		code = tdf_write(&tdf_out, tdf, c, compiled, &err);
	}
	if (!code && tdf_out)
		code = outfile_sync(tdf_out, &err);
	if (!code) {
		path = tff;
		code = outfile_commit(tff_out, &err);
		tff_out = NULL;
	}
	if (!code && tdf_out) {
		path = tdf;
		code = outfile_commit(tdf_out, &err);
		tdf_out = NULL;
	} else if (!code) {
		path = tdf;
		code = remove_tdf(c->diag, tdf, &err);
	}
	outfile_abort(tff_out);
	outfile_abort(tdf_out);
	if (lock >= 0)
		close(lock);
	if (code)
		output_report(c->diag, path, code, &err);
	return code;
}

int output_remove(struct diag *diag, const char *tdf)
{
	struct error err = { 0 };
	int code = remove_tdf(diag, tdf, &err);

	if (code)
		output_report(diag, tdf, code, &err);
	return code;
}

int output_write(const struct compilation *c,
		 const struct compiled *compiled, const char *tdf,
		 const char *module)
{
	char *tff;
	int code;

	if (!compiled->point_count)
		return output_remove(c->diag, tdf);
	tff = locate_tff(tdf, c->tsf->major);
	if (!tff)
		diag_no_memory(c->diag, (struct srcpos){ 0 });
	code = tff ? write_files(c, compiled, tdf, tff, module) : -ENOMEM;
	free(tff);
	return code;
}

int output_print(const struct settings *s, char *text, size_t size)
{
	struct outfile *out;
	struct error err = { 0 };
	int code = 0;

	if (s->output) {
		code = outfile_open(&out, s->output, &err);
		if (!code) {
			outfile_write(out, text, size);
			code = outfile_commit(out, &err);
		}
	} else {
		fwrite(text, 1, size, stdout);	/* main() checks */
	}
	if (code)
		error_print("trcust", &err);
	free(text);
	return code ? 1 : 0;
}

int stdout_check(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	fprintf(stderr, "trcust: cannot write: %s\n", strerror(errno));
	return 1;
}
