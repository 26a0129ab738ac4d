// SPDX-License-Identifier: GPL-2.0
#include "input.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "lib/debug/arch/arch.h"
#include "lib/debug/btf/btf_open.h"
#include "lib/formats/tdf.h"
#include "lib/guard.h"
#include "lib/path.h"
#include "trcust/write.h"

/* Of the directory before the base name, "" for the current one. */
static int directory_length(const char *path)
{
	return path_base(path) - path;
}

/* Where the extension of the base name begins; NULL: it has none. */
static const char *extension(const char *path)
{
	const char *base = path_base(path);
	const char *dot = strrchr(base, '.');

	return dot && dot != base ? dot : NULL;
}

char *locate_portable(const char *name)
{
	bool drive = name[0] && name[1] == ':';
	char *portable = strdup(name + (drive ? 2 : 0));

	for (char *p = portable; p && *p; p++)
		if (*p == '\\')
			*p = '/';
	return portable;
}

static uint8_t module_kind(const char *name)
{
	const char *base = path_base(name);
	size_t length = strlen(base);

	if (!strcmp(base, "vmlinux") || !strncmp(base, "vmlinux-", 8) ||
	    !strcasecmp(base, "OS2KRNL"))
		return TDF_MODULE_KERNEL;
	for (size_t i = 0; unpack_suffixes[i]; i++) {
		size_t suffix = strlen(unpack_suffixes[i]);

		if (length > suffix &&
		    !strcmp(base + length - suffix, unpack_suffixes[i])) {
			length -= suffix;
			break;
		}
	}
	return length > 3 && !strncmp(base + length - 3, ".ko", 3) ?
	       TDF_MODULE_KMOD : TDF_MODULE_USER;
}

/* The file; NULL: it isn't there, or (errno) no memory. */
static char *module_look(const char *name, const char *tsf, const char *sysroot,
			 const char *suffix)
{
	char *file;

	if (name[0] == '/') {
		file = text_format("%s%s%s", sysroot ? sysroot : "", name,
				   suffix);
	} else {
		file = text_format("%s%s", name, suffix);
		if (file && access(file, F_OK) && directory_length(tsf)) {
			free(file);
			file = text_format("%.*s%s%s", directory_length(tsf),
					   tsf, name, suffix);
		}
	}
	if (file && !access(file, F_OK))
		return file;
	errno = file ? ENOENT : ENOMEM;
	free(file);
	return NULL;
}

/* The same with what may be left out added. */
static char *locate_module_find(const char *name, const char *tsf,
				const char *sysroot, uint8_t kind)
{
	static const char *const extensions[] = { ".so", ".dll", ".DLL", NULL };
	char *file = module_look(name, tsf, sysroot, "");

	for (size_t i = 0; !file && errno != ENOMEM && kind == TDF_MODULE_USER &&
			   !extension(name) && extensions[i]; i++)
		file = module_look(name, tsf, sysroot, extensions[i]);
	for (size_t i = 0; !file && errno != ENOMEM && kind == TDF_MODULE_KMOD &&
			   unpack_suffixes[i]; i++)
		file = module_look(name, tsf, sysroot, unpack_suffixes[i]);
	return file;
}

/*
 * The module that MODNAME means: `module` (--module) when given, else looked
 * for from the current directory, then from the TSF's, then with .so added.
 * An absolute name is taken below sysroot. 0, or -ENOENT, -ENAMETOOLONG
 * (at->file is then the name that was looked for), -ESPIPE (the file can't be
 * read from anywhere but its beginning) or -ENOMEM.
 */
static int locate_module(struct input *at, const struct settings *s,
			 const char *modname, const char *tsf)
{
	char *name = locate_portable(modname);
	const char *module = s->module, *sysroot = s->sysroot;
	struct stat st;

	if (!name)
		return -ENOMEM;
	at->kind = module_kind(name);
	at->file = module ? strdup(module) :
			    locate_module_find(name, tsf, sysroot, at->kind);
	if (!at->file && errno == ENOMEM) {
		free(name);
		return -ENOMEM;
	}
	if (!at->file && (at->kind != TDF_MODULE_KERNEL || strchr(name, '/'))) {
		at->file = name;
		return strlen(path_base(name)) > NAME_MAX ? -ENAMETOOLONG :
							    -ENOENT;
	}

	/* where the module is on the target, as far as it is known here */
	if (at->kind == TDF_MODULE_KERNEL) {
		at->path = strdup("vmlinux");
	} else if (name[0] == '/') {
		at->path = strdup(module ? name : at->file +
				  (sysroot ? strlen(sysroot) : 0));
	} else {
		at->path = realpath(at->file, NULL);
		if (!at->path && errno != ENOMEM)
			at->path = strdup(at->file);
	}
	free(name);
	if (!at->path || (module && !at->file))
		return -ENOMEM;
	if (at->file && !stat(at->file, &st) && !S_ISREG(st.st_mode) &&
	    !S_ISBLK(st.st_mode) && !S_ISDIR(st.st_mode))
		return -ESPIPE;
	return 0;
}

/* In the directory, with each of the extensions; NULL: none is there. */
static char *input_look(const char *directory, int length, const char *name,
			const char *const *extensions)
{
	for (; *extensions; extensions++) {
		char *path = text_format("%.*s%s%s%s", length, directory,
					 length ? "/" : "", name, *extensions);

		if (!path || !access(path, F_OK))
			return path;
		free(path);
	}
	return NULL;
}

static char *input_find(const char *name, const char *const *extensions)
{
	const char *directory = getenv("TRCUST_PATH");
	char *path = input_look("", 0, name, extensions);

	while (!path && directory && *directory && !strchr(name, '/')) {
		int length = strcspn(directory, ":");

		if (length)
			path = input_look(directory, length, name, extensions);
		directory += length + (directory[length] == ':');
	}
	return path ? path : strdup(name);
}

char *locate_input(const char *name)
{
	static const char *const as_given[] = { "", NULL };

	return input_find(name, as_given);
}

char *locate_tsf(const char *name)
{
	static const char *const extensions[] = { ".tsf", ".TSF", NULL };
	char *path;

	if (extension(name))
		return locate_input(name);
	path = input_find(name, extensions);
	if (!path || strcmp(path, name))
		return path;
	free(path);
	return locate_input(name);
}

char *locate_tdf(const char *tsf, const char *given, const char *directory,
		 bool *replaced)
{
	const char *name = given ? given : tsf;
	const char *dot = extension(name);
	bool keep = given && dot && !strcasecmp(dot, ".tdf");
	int length = dot && !keep ? dot - name : (int)strlen(name);
	const char *end = keep ? "" : ".tdf";

	if (replaced)
		*replaced = given && dot && !keep;
	if (!directory)
		return text_format("%.*s%s", length, name, end);
	length -= directory_length(name);
	return text_format("%s/%.*s%s", directory, length, path_base(name),
			   end);
}

static const char *input_name(const struct input *input)
{
	return input->file ? input->file : "vmlinux";
}

int input_open_map(struct compilation *c, const struct settings *s)
{
	struct srcpos nowhere = { 0 };
	struct error err = { 0 };
	char *path;
	int code;

	if (!s->map)
		return 0;
	if (!map_name_valid(s->map)) {
		diag_report(c->diag, nowhere, TRCERR_MAP_EXTN, s->map);
		diag_hint(c->diag, "it is named *.map or System.map*");
		return -1;
	}
	path = locate_input(s->map);
	code = path ? map_open(&c->map, path, &err) : -ENOMEM;
	if (code)
		diag_report_error(c->diag, nowhere, path ? path : s->map, code,
				  &err);
	free(path);
	return code ? -1 : 0;
}

const struct arch *input_arch(const struct settings *s, const char *modname,
			      const char *tsf)
{
	const struct arch *arch = NULL;
	struct input at = { 0 };

	if (!locate_module(&at, s, modname, tsf))
		arch = at.file ? module_arch(at.file) : s->arch;
	free(at.file);
	free(at.path);
	return arch;
}

static uint64_t input_map_address(void *context, const char *name)
{
	bool others;
	const struct map_symbol *symbol = map_find(context, name, true,
						   &others);

	return symbol && !others ? symbol->address : 0;
}

static uint64_t input_symbol_address(void *context, const char *name)
{
	bool others;
	const struct module_symbol *symbol =
		module_symbol_find(context, name, MODULE_CODE, &others);

	return symbol && symbol->defined && !others ? symbol->address : 0;
}

/* Does the TSF name variables or types? Reading BTF takes 0.3 s. */
static bool input_names_types(const struct tsf *tsf)
{
	for (size_t p = 0; p < tsf->point_count; p++) {
		const struct tsf_point *point = &tsf->points[p];

		if (point->condition || point->by_count ||
		    point->aggregate_count)
			return true;
		for (size_t i = 0; i < point->fmt_count; i++)
			if (strchr(point->fmts[i].text, '{'))
				return true;
		for (size_t i = 0; i < point->stmt_count; i++) {
			const struct tsf_stmt *stmt = &point->stmts[i];

			if (stmt->kind == TSF_VAR || stmt->reg_is_variable ||
			    stmt->address.name || stmt->len_address.name)
				return true;
		}
	}
	return false;
}

/*
 * The types and functions of a kernel that has no DWARF: the BTF of --btf, of
 * its own file, or of the running kernel; of a kernel module its own BTF, which
 * continues the kernel's. 0, also if there is none and --btf isn't given; else a
 * negative errno with err set.
 */
static int input_open_btf(struct compilation *c, const struct settings *s,
			  struct input *input, const char *file,
			  struct error *err)
{
	struct btf_dwarf_source source = { .machine = c->module->machine };
	const struct identity *own = &c->module->identity;
	struct btf_split split = {0};
	struct bytes image = {0};
	Elf_Data *data;
	GElf_Shdr sh;
	int code;

	if (input->kind == TDF_MODULE_KMOD) {
		data = elf_rawdata(elf_section_named(c->module->elf, ".BTF", &sh),
				   NULL);
		if (!data || !data->d_buf)
			return 0;
		split = (struct btf_split) { data->d_buf, data->d_size };
	}
	if (c->module->elf) {
		source.address = input_symbol_address;
		source.context = c->module;
	} else if (c->map) {
		source.address = input_map_address;
		source.context = c->map;
	}
	code = btf_dwarf_open(file, split.data ? &split : NULL, &source, &image,
			      &input->btf, err);
	if (!code && !split.data && own->kind == TDF_ID_BUILD &&
	    input->btf.kind == TDF_ID_BUILD &&
	    (own->length != input->btf.length ||
	     memcmp(own->id, input->btf.id, own->length)))
		code = error_set(err, -ESTALE, "it belongs to another build "
				 "than the kernel");
	if (!code)
		code = dwarf_file_open_image(&c->dwarf, c->module, &image, err);
	bytes_free(&image);
	return code == -ENOMEM || s->btf ? code : 0;
}

#define SHAPES_DIRECTORY	"/etc/rastrace/shapes"

/* Those of the command line come first, then those of the machine. */
static int input_open_shapes(struct compilation *c, const struct settings *s,
			     struct input *input)
{
	struct shapes *shapes = &input->shapes;
	int code = 0;

	/* what doesn't fit is tried by from_module, not reported */
	shapes->level = s->mode == RUN_FROM_MODULE ? 0 : s->level;
	for (size_t i = 0; !code && i < s->shapes.count; i++)
		code = shapes_add(shapes, s->shapes.globs[i]);
	if (!code && !access(SHAPES_DIRECTORY, R_OK))
		code = shapes_add(shapes, SHAPES_DIRECTORY);
	if (!code)
		code = shapes_add_own(shapes);
	c->shapes = shapes;
	return code;
}

int input_open(struct compilation *c, const struct settings *s,
	       struct input *input, const char *modname, const char *tsf,
	       bool needed)
{
	struct dwarf_search search = {
		.file = s->debug, .sysroot = s->sysroot,
	};
	int code = locate_module(input, s, modname, tsf);
	const char *file = input->file ? input->file : "";
	struct error err = { 0 };
	bool own_btf;

	if (!needed)
		return 0;
	if (code == -ENOENT) {
		if (file[0] == '/')
			error_set(&err, code, "looked for it below '%s'",
				  s->sysroot ? s->sysroot : "/");
		else
			error_set(&err, code, "looked for it in the current "
				  "directory and beside the TSF");
		error_hint(&err, "--module FILE names it");
	}
	if (!code) {
		file = input_name(input);
		guard_file(file);
		code = input->file ?
		       module_open(&c->module, input->file, input->path,
				   input->kind, &err) :
		       module_open_kernel(&c->module, s->arch, &err);
	}
	if (!code && input->file) {
		file = s->debug ? s->debug : input->file;
		code = dwarf_file_open(&c->dwarf, c->module, input->file,
				       &search, &err);
		if (!code && c->dwarf && c->dwarf->path)
			guard_file(c->dwarf->path);
		if (code == -ENOENT && !s->debug)	/* it may have none */
			code = 0;
	}
	own_btf = input->file && input->kind == TDF_MODULE_KERNEL;
	if (!code && !c->dwarf && input->kind != TDF_MODULE_USER &&
	    (!c->tsf || input_names_types(c->tsf)) &&
	    (s->btf ? strcmp(s->btf, "none") :
		      own_btf || (!s->sysroot &&
				  c->module->arch == arch_own()))) {
		const char *btf = s->btf ? s->btf :
				  own_btf ? input->file : BTF_VMLINUX;

		err = (struct error) {0};
		code = input_open_btf(c, s, input, btf, &err);
		file = code ? btf : file;
	}
	if (code)
		diag_report_error(c->diag, input->pos, file, code, &err);
	if (!code && c->dwarf)
		code = input_open_shapes(c, s, input);
	return code ? -1 : 0;
}

void input_report_damaged(struct diag *diag, const char *file,
			  struct error *err)
{
	error_hint(err, "it is damaged, or holds what the reader of debug "
			"information (libdw) can't read: build it again, or "
			"take what 'strip -g' leaves of it");
	diag_report_error(diag, (struct srcpos){ 0 }, file ? file : "",
			  -EBADMSG, err);
}

int input_check(const struct compilation *c, const struct input *input)
{
	struct error err = { 0 };
	const char *name = input_name(input);
	int code = c->module ? module_check_unchanged(c->module, &err) : 0;

	if (!code && c->dwarf) {
		code = dwarf_check_unchanged(c->dwarf, &err);
		name = c->dwarf->path ? c->dwarf->path : name;
	}
	if (code)
		diag_report_error(c->diag, input->pos, name, code, &err);
	return code ? -1 : 0;
}

void input_close(struct compilation *c, struct input *input)
{
	dwarf_file_close(c->dwarf);
	module_close(c->module);
	map_close(c->map);
	free(input->file);
	free(input->path);
	shapes_free(&input->shapes);
}

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

int output_write(const struct compilation *c, const struct compiled *compiled,
		 const char *tdf, const char *module)
{
	char name[16], *tff;
	int code;

	if (!compiled->point_count)
		return output_remove(c->diag, tdf);
	tff_file_name(name, c->tsf->major);
	tff = text_format("%.*s%s", directory_length(tdf), tdf, name);
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
