// SPDX-License-Identifier: GPL-2.0
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "features.h"
#include "lib/formats/rpn.h"
#include "lib/hash.h"
#include "lib/identity.h"
#include "lib/path.h"

/* Addresses of the kernel's symbols, many with one reading of /proc/kallsyms */

struct kallsyms_symbol {
	char *name;
	uint64_t address;	/* of the first */
	unsigned int count;	/* symbols of this name; 0: there is none */
};

struct kallsyms {
	const char *module;	/* of which the symbols are; "" the kernel */
	void *tree;
	bool failed;		/* no memory */
	bool hidden;		/* the addresses aren't shown to us */
};

#define LINE_MAX_BYTES	1024	/* KSYM_NAME_LEN is 512 */

static int kallsyms_symbol_compare(const void *a, const void *b)
{
	const struct kallsyms_symbol *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void symbol_free(void *node)
{
	struct kallsyms_symbol *symbol = node;

	free(symbol->name);
	free(symbol);
}

/* Ask for a name; the text is copied. */
static void kallsyms_add(struct kallsyms *kallsyms, const char *name)
{
	struct kallsyms_symbol *symbol = calloc(1, sizeof(*symbol));
	void *found = NULL;

	if (symbol)
		symbol->name = strdup(name);
	if (symbol && symbol->name)
		found = tsearch(symbol, &kallsyms->tree,
				kallsyms_symbol_compare);
	if (!found)
		kallsyms->failed = true;
	if (symbol && (!found || *(void **)found != symbol))
		symbol_free(symbol);
}

static struct kallsyms_symbol *
kallsyms_symbol_find(const struct kallsyms *kallsyms, char *name)
{
	struct kallsyms_symbol key = { .name = name };
	void *found = tfind(&key, &kallsyms->tree, kallsyms_symbol_compare);

	return found ? *(struct kallsyms_symbol **)found : NULL;
}

/* "ffffffffc0a01000 t loop_exit\t[loop]" */
static void line_take(struct kallsyms *kallsyms, char *line)
{
	char *end, *name, *module = "";
	uint64_t address = strtoull(line, &end, 16);
	struct kallsyms_symbol *symbol;

	if (end == line || strlen(end) < 4)
		return;
	if (address)
		kallsyms->hidden = false;
	name = end + 3;		/* " t " */
	name[strcspn(name, "\n")] = '\0';
	end = strchr(name, '\t');
	if (end) {
		*end = '\0';
		module = end + 2;
		module[strcspn(module, "]")] = '\0';
	}
	if (strcmp(module, kallsyms->module))
		return;
	symbol = kallsyms_symbol_find(kallsyms, name);
	if (symbol && !symbol->count++)
		symbol->address = address;
}

/* Find all that was asked for. 0 or a negative errno with err set. */
static int kallsyms_read(struct kallsyms *kallsyms, struct error *err)
{
	char line[LINE_MAX_BYTES];
	FILE *file;

	if (kallsyms->failed)
		return error_no_memory(err);
	file = fopen("/proc/kallsyms", "re");
	if (!file) {
		int code = -errno;

		error_set(err, code, "cannot read /proc/kallsyms: %s",
			  strerror(errno));
		if (code == -ENOENT)
			error_hint(err, "is /proc mounted, and has the kernel CONFIG_KALLSYMS?");
		return code;
	}
	kallsyms->hidden = true;
	while (fgets(line, sizeof(line), file))
		line_take(kallsyms, line);
	fclose(file);
	return 0;
}

/* One of those; NULL: there is none, or it is hidden. */
static const struct kallsyms_symbol *kallsyms_find(const struct kallsyms *kallsyms,
						   const char *name)
{
	const struct kallsyms_symbol *symbol =
		kallsyms_symbol_find(kallsyms, (char *)name);

	return kallsyms->hidden || !symbol || !symbol->count ? NULL : symbol;
}

static void kallsyms_free(struct kallsyms *kallsyms)
{
	tdestroy(kallsyms->tree, symbol_free);
	kallsyms->tree = NULL;
}

/* Sets the error that the kernel doesn't show its addresses. */
static int kallsyms_hidden_error(struct error *err)
{
	FILE *file = fopen("/proc/sys/kernel/kptr_restrict", "re");
	int level = 0;

	if (file && fscanf(file, "%d", &level) != 1)
		level = 0;
	if (file)
		fclose(file);
	error_set(err, -EACCES,
		  "the kernel hides its addresses, by which its data are found");
	if (level >= 2)
		error_hint(err, "it shows them to root with sysctl kernel.kptr_restrict=1");
	else
		error_hint(err, "it shows them to root (CAP_SYSLOG)");
	return -EACCES;
}

#define BLACKLIST	"/sys/kernel/debug/kprobes/blacklist"

/* The hash of the running kernel's BTF; kind TDF_ID_NONE: it has none. */
static void kernel_btf_identity(struct identity *id)
{
	int fd = open(BTF_VMLINUX, O_RDONLY | O_CLOEXEC);
	uint64_t hash = HASH_FNV_START;
	uint8_t buffer[65536];
	ssize_t n = -1;

	while (fd >= 0 && (n = read(fd, buffer, sizeof(buffer))) > 0)
		hash = hash_fnv(hash, buffer, n);
	if (fd >= 0)
		close(fd);
	*id = (struct identity) {0};
	if (!n)
		identity_set_hash(id, hash);
}

/* `what` is running, and has its notes there. */
static int kernel_identity_check(const struct tdf_module *module,
				 const char *what, const char *notes,
				 struct error *err)
{
	char expected[64], found[64];
	struct identity id;

	if (module->id_kind == TDF_ID_NONE)
		return 0;
	if (module->id_kind == TDF_ID_CONTENT &&
	    module->kind == TDF_MODULE_KERNEL)
		kernel_btf_identity(&id);
	else
		identity_read_notes(notes, &id);
	if (id.kind == module->id_kind && id.length == module->id_length &&
	    !memcmp(id.id, module->id, id.length))
		return 0;
	identity_print(id.kind, id.id, id.length, found);
	identity_print(module->id_kind, module->id, module->id_length,
		       expected);
	error_set(err, -ESTALE, "%s differs (TDF %s, %s %s)",
		  module->id_kind == TDF_ID_BUILD ? "build-id" : "BTF",
		  expected, what, found);
	error_hint(err, "compile the TSF for this kernel (trcust)");
	return -ESTALE;
}

/* A place in a module of the TDF: one of the sites of its picked points. */
struct site_walk {
	const struct tdf *tdf;
	const struct tdf_module *module;
	const bool *picked;
	uint32_t point, site;		/* the next ones */
};

/* The index of the next site of the module; false: there are no more. */
static bool site_next(struct site_walk *walk, uint32_t *index)
{
	const struct tdf *tdf = walk->tdf;

	for (; walk->point < tdf->header->points.count; walk->point++) {
		const struct tdf_point *point = &tdf->points[walk->point];

		if (walk->picked[walk->point] &&
		    &tdf->modules[point->module] == walk->module &&
		    walk->site < point->sites) {
			*index = point->first_site + walk->site++;
			return true;
		}
		walk->site = 0;
	}
	return false;
}

static bool in_section(const struct tdf *tdf, uint64_t address)
{
	for (uint32_t i = 0; i < tdf->header->sections.count; i++)
		if (address - tdf->sections[i].address < tdf->sections[i].size)
			return true;
	return false;
}

static bool rpn_has_address(const struct tdf *tdf, uint32_t at, uint32_t size)
{
	struct rpn_op op = { 0 };

	while (rpn_next(tdf->rpn + at, size, &op))
		if (op.code == RPN_addr && !in_section(tdf, op.a))
			return true;
	return false;
}

/* Its statements read static data that moves with the site. */
static bool site_has_address(const struct tdf *tdf, const struct tdf_site *site)
{
	const struct tdf_stmt *stmt = tdf->stmts + site->first_stmt;

	for (uint32_t i = 0; i < site->stmts; i++, stmt++)
		if (rpn_has_address(tdf, stmt->rpn, stmt->rpn_length) ||
		    (stmt->flags & TDF_STMT_LEN &&
		     rpn_has_address(tdf, stmt->len_rpn,
				     stmt->len_rpn_length)))
			return true;
	return false;
}

/* Of several functions with one name the kernel takes one, or none. */
static int symbol_check(const struct tdf_site *site, const char *name,
			const struct kallsyms_symbol *symbol,
			const char *module, struct error *err)
{
	if (!symbol) {
		error_set(err, -ENOENT, "%s%s has no function '%s'",
			  module[0] ? "kernel module " : "the kernel", module,
			  name);
		if (module[0])
			error_hint(err, "code for its init is gone once it runs");
		else
			error_hint(err, "its configuration may leave it out, or the compiler inlines it");
		return -ENOENT;
	}
	if (symbol->count == 1 || site->address)
		return 0;
	error_set(err, -ENOTUNIQ, "the kernel has %u functions '%s'",
		  symbol->count, name);
	error_hint(err, "compile the TSF with the kernel's file (trcust --module vmlinux)");
	return -ENOTUNIQ;
}

/*
 * The biases of the module's sites; a symbol that isn't there is an error. Where
 * the addresses are hidden, the kernel still finds symbols, but no data.
 */
static int sites_locate(struct site_walk walk, const struct kallsyms *kallsyms,
			uint64_t *biases, struct error *err)
{
	const struct tdf *tdf = walk.tdf;
	uint32_t index;

	while (site_next(&walk, &index)) {
		const struct tdf_site *site = &tdf->sites[index];
		const char *name = tdf_string(tdf, site->symbol);
		const struct kallsyms_symbol *symbol =
			kallsyms_find(kallsyms, name);
		int code;

		if (kallsyms->hidden) {
			if (site_has_address(tdf, site))
				return kallsyms_hidden_error(err);
			continue;
		}
		code = symbol_check(site, name, symbol, kallsyms->module, err);
		if (code)
			return code;
		if (!site->address && site_has_address(tdf, site)) {
			error_set(
				err, -ENODATA,
				"the TDF doesn't say how static data move with '%s'",
				name);
			error_hint(
				err,
				"compile the TSF with the kernel's file (trcust --module vmlinux), or a map that has the function");
			return -ENODATA;
		}
		if (site->address)
			biases[index] = symbol->address + site->offset -
					site->address;
	}
	return 0;
}

/* -EPERM when a site of a picked point is where the kernel allows no probes, with
 * its name in the message. biases[i] is 0 where the address isn't known: then the
 * name decides. */
static int blacklist_check(const struct tdf *tdf,
			   const struct tdf_module *module, const bool *picked,
			   const uint64_t *biases, struct error *err)
{
	unsigned long long start, end;
	char line[1024], symbol[512];
	struct site_walk walk;
	uint32_t index;
	int code = 0;
	FILE *file = fopen(BLACKLIST, "re");

	while (file && !code && fgets(line, sizeof(line), file)) {
		/* "0xffffffff81000000-0xffffffff81000050\tname"; 0: hidden */
		if (sscanf(line, "%llx-%llx %511s", &start, &end, symbol) != 3)
			continue;
		walk = (struct site_walk){
			.tdf = tdf, .module = module, .picked = picked,
		};
		while (!code && site_next(&walk, &index)) {
			const struct tdf_site *site = &tdf->sites[index];
			const struct tdf_point *point = &tdf->points[walk.point];
			uint64_t address = site->address + biases[index];

			if (biases[index] && start ?
			    address < start || address >= end :
			    strcmp(tdf_string(tdf, site->symbol), symbol))
				continue;
			code = error_set(err, -EPERM,
					 "tracepoint %u ('%s'): the kernel allows no probes in '%s'",
					 point->minor,
					 tdf_string(tdf, point->name), symbol);
			error_hint(err, "it is on the blacklist of kprobes (%s): probes run through it",
				   BLACKLIST);
		}
	}
	if (file)
		fclose(file);
	return code;
}

static int module_locate(struct site_walk walk, const char *name,
			 uint64_t *biases, struct error *err)
{
	struct kallsyms kallsyms = { .module = name };
	const struct tdf *tdf = walk.tdf;
	struct site_walk asked = walk;
	uint32_t index;
	int code;

	while (site_next(&asked, &index))
		kallsyms_add(&kallsyms, tdf_string(tdf,
						   tdf->sites[index].symbol));
	code = kallsyms_read(&kallsyms, err);
	if (!code)
		code = sites_locate(walk, &kallsyms, biases, err);
	if (!code)
		code = blacklist_check(walk.tdf, walk.module, walk.picked,
				       biases, err);
	kallsyms_free(&kallsyms);
	return code;
}

/* All of the kernel moves by one bias: that of a site whose address as linked
 * is known. */
int kernel_check(const struct tdf *tdf, const struct tdf_module *module,
		 const bool *picked, uint64_t *bias, struct error *err)
{
	struct site_walk walk = {
		.tdf = tdf, .module = module, .picked = picked,
	};
	uint64_t *biases;
	uint32_t index;
	int code = kernel_identity_check(module, "running kernel",
					 "/sys/kernel/notes", err);

	*bias = 0;
	if (code)
		return code;
	biases = calloc(tdf->header->sites.count + 1, sizeof(*biases));
	if (!biases)
		return error_no_memory(err);
	code = module_locate(walk, "", biases, err);
	while (!code && !*bias && site_next(&walk, &index))
		*bias = biases[index];
	free(biases);
	return code;
}

/* "/lib/modules/6.1/kernel/snd-dummy.ko.xz": "snd_dummy" */
int kernel_module_name(const char *path, char name[KERNEL_MODULE_NAME],
		       struct error *err)
{
	const char *base = path_base(path);
	size_t length = strspn(base, "0123456789_-"
			       "abcdefghijklmnopqrstuvwxyz"
			       "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	if (!length || length >= KERNEL_MODULE_NAME ||
	    (base[length] && base[length] != '.'))
		return error_set(err, -EINVAL, "'%s' is no name of a kernel module",
				 base);
	memcpy(name, base, length);
	name[length] = '\0';
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	return 0;
}

int kernel_module_check(const struct tdf *tdf, const struct tdf_module *module,
			const bool *picked, char name[KERNEL_MODULE_NAME],
			uint64_t **biases, struct error *err)
{
	const struct site_walk walk = {
		.tdf = tdf, .module = module, .picked = picked,
	};
	char notes[160];
	int code = kernel_module_name(tdf_string(tdf, module->path), name, err);

	*biases = NULL;
	if (code)
		return code;
	snprintf(notes, sizeof(notes), "/sys/module/%s", name);
	if (access(notes, F_OK)) {
		error_set(err, -ENOENT, "kernel module '%s' is not loaded",
			  name);
		error_hint(err, "modprobe %s loads it", name);
		return -ENOENT;
	}
	snprintf(notes, sizeof(notes), "/sys/module/%s/notes/.note.gnu.build-id",
		 name);
	code = kernel_identity_check(module, "loaded module", notes, err);
	if (code)
		return code;
	*biases = calloc(tdf->header->sites.count + 1, sizeof(**biases));
	if (!*biases)
		return error_no_memory(err);
	code = module_locate(walk, name, *biases, err);
	if (code) {
		free(*biases);
		*biases = NULL;
	}
	return code;
}

/* /sys/module/loop/sections/.data holds "0xffffffffc0a05000". */
static int kernel_section_read(const char *module, const char *name,
			       __u64 *address, struct error *err)
{
	unsigned long long value = 0;
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/%s/sections/%s", module,
		 name);
	file = fopen(path, "re");
	if (!file)
		return error_set(err, -errno,
				 "cannot find section '%s' of kernel module '%s': %s",
				 name, module, strerror(errno));
	if (fscanf(file, "%llx", &value) != 1)
		value = 0;
	fclose(file);
	*address = value;
	return value ? 0 : kallsyms_hidden_error(err);
}

/* Of what every processor has a copy of, the kernel has the symbols: where
 * they would be without the processor's offset. */
static int percpu_read(const char *module, const char *name, __u64 *address,
		       struct error *err)
{
	struct kallsyms kallsyms = { .module = module };
	const struct kallsyms_symbol *symbol;
	int code;

	kallsyms_add(&kallsyms, name);
	code = kallsyms_read(&kallsyms, err);
	symbol = code ? NULL : kallsyms_find(&kallsyms, name);
	if (symbol) {
		*address = symbol->address;
	} else if (!code && kallsyms.hidden) {
		code = kallsyms_hidden_error(err);
	} else if (!code) {
		code = error_set(err, -ENOENT,
				 "the kernel doesn't show where '%s' is", name);
		error_hint(err, "it does when it was built with CONFIG_KALLSYMS_ALL");
	}
	kallsyms_free(&kallsyms);
	return code;
}

static int section_locate(const struct tdf *tdf,
			  const struct tdf_section *section, const char *module,
			  struct kernel_sections *out, struct error *err)
{
	const char *name = tdf_string(tdf, section->name);
	struct body_section *to = &out->list[out->count++];
	bool percpu = section->flags & TDF_SECTION_PERCPU;
	int code = 0;

	*to = (struct body_section) {
		.address = section->address, .size = section->size,
		.percpu = percpu,
	};
	if (!percpu)
		return kernel_section_read(module, name, &to->run, err);
	if (!out->percpu_offsets)
		code = percpu_read("", "__per_cpu_offset",
				   &out->percpu_offsets, err);
	return code ? code : percpu_read(module, name, &to->run, err);
}

int kernel_sections_read(const struct tdf *tdf, const struct tdf_module *module,
			 const char *name, struct kernel_sections *sections,
			 struct error *err)
{
	uint32_t count = tdf->header->sections.count;
	int code = 0;

	*sections = (struct kernel_sections) { 0 };
	if (!count || &tdf->modules[tdf->sections->module] != module)
		return 0;
	sections->list = calloc(count, sizeof(*sections->list));
	if (!sections->list)
		return error_no_memory(err);
	for (uint32_t i = 0; i < count && !code; i++)
		code = section_locate(tdf, &tdf->sections[i], name, sections,
				      err);
	if (code) {
		free(sections->list);
		sections->list = NULL;
	}
	return code;
}

/* Is the function among those that ftrace can trace? True when that isn't
 * known. */
static bool symbol_traceable(const char *symbol)
{
	FILE *file = fopen("/sys/kernel/tracing/available_filter_functions",
			   "re");
	size_t length = strlen(symbol);
	bool found = !file, any = false;
	char line[1024];

	while (file && !found && fgets(line, sizeof(line), file)) {
		any = true;
		found = !strncmp(line, symbol, length) &&
			strchr(" \n", line[length]);
	}
	if (file)
		fclose(file);
	return found || !any;
}

void kernel_refusal_explain(const char *symbol, int code, struct error *err)
{
	if (code == -EADDRNOTAVAIL)
		error_hint(err, "several functions have this name: compile the TSF with the kernel's file");
	else if (code == -EINVAL && !symbol_traceable(symbol))
		error_hint(err, "'%s' is marked notrace, and this kernel has no CONFIG_KPROBE_EVENTS_ON_NOTRACE",
			   symbol);
	else if (code == -EINVAL)
		error_hint(err, "the kernel takes none on an instruction that it changes itself (ftrace's, static keys), that it expects to fault (on AArch64), that probes run through, or that is gone (__init)");
}
