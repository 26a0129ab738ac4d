// SPDX-License-Identifier: GPL-2.0
#include "features.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/btf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "lib/buffer/pin.h"
#include "lib/sysbpf.h"

/*
 * A BTF file is a header, then types that follow each other (their id is
 * their number, from 1), then strings. Documentation/bpf/btf.rst.
 */

#define BTF_WANTS_MAX	48

struct btf_file {
	const uint8_t *data;
	size_t size;
	bool mapped;
};

static int btf_file_read(struct btf_file *file, int fd)
{
	uint8_t *data = malloc(file->size);
	size_t at = 0;
	ssize_t n = 1;

	if (!data)
		return -ENOMEM;
	while (at < file->size && n > 0) {
		n = read(fd, data + at, file->size - at);
		at += n > 0 ? n : 0;
	}
	file->data = data;
	file->size = at;
	return 0;
}

/* sysfs lets it be mapped since 6.16. */
static int btf_file_open(struct btf_file *file, const char *path)
{
	int code = 0, fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_size <= 0) {
		close(fd);
		return -EINVAL;
	}
	file->size = st.st_size;
	data = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
	file->mapped = data != MAP_FAILED;
	if (file->mapped)
		file->data = data;
	else
		code = btf_file_read(file, fd);
	close(fd);
	return code;
}

static void btf_file_close(struct btf_file *file)
{
	if (file->mapped)
		munmap((void *)file->data, file->size);
	else
		free((void *)file->data);
}

static bool section_valid(const struct btf_file *file, uint32_t header,
			  uint32_t offset, uint32_t length)
{
	return header <= file->size && offset <= file->size - header &&
	       length <= file->size - header - offset;
}

/* Bytes after the common part of a type, and of each of what it has; all kinds that
 * are known. One look at a table: what kinds follow each other can't be foreseen. */
struct btf_kind {
	bool known;
	uint8_t fixed, each;
};

static const struct btf_kind btf_kinds[32] = {
	[BTF_KIND_INT] = { true, 4, 0 },
	[BTF_KIND_PTR] = { true, 0, 0 },
	[BTF_KIND_ARRAY] = { true, sizeof(struct btf_array), 0 },
	[BTF_KIND_STRUCT] = { true, 0, sizeof(struct btf_member) },
	[BTF_KIND_UNION] = { true, 0, sizeof(struct btf_member) },
	[BTF_KIND_ENUM] = { true, 0, sizeof(struct btf_enum) },
	[BTF_KIND_FWD] = { true, 0, 0 },
	[BTF_KIND_TYPEDEF] = { true, 0, 0 },
	[BTF_KIND_VOLATILE] = { true, 0, 0 },
	[BTF_KIND_CONST] = { true, 0, 0 },
	[BTF_KIND_RESTRICT] = { true, 0, 0 },
	[BTF_KIND_FUNC] = { true, 0, 0 },
	[BTF_KIND_FUNC_PROTO] = { true, 0, sizeof(struct btf_param) },
	[BTF_KIND_VAR] = { true, 4, 0 },
	[BTF_KIND_DATASEC] = { true, 0, sizeof(struct btf_var_secinfo) },
	[BTF_KIND_FLOAT] = { true, 0, 0 },
	[BTF_KIND_DECL_TAG] = { true, 4, 0 },
	[BTF_KIND_TYPE_TAG] = { true, 0, 0 },
	[BTF_KIND_ENUM64] = { true, 0, sizeof(struct btf_enum64) },
};

struct btf {
	struct btf_file file;
	const uint8_t *types;
	const char *strings;
	uint32_t types_length, strings_length;
};

static int btf_open(struct btf *btf, const char *path)
{
	const struct btf_header *h;
	int code;

	*btf = (struct btf){ 0 };
	code = btf_file_open(&btf->file, path);
	if (code)
		return code;
	h = (const void *)btf->file.data;
	if (btf->file.size < sizeof(*h) || h->magic != BTF_MAGIC ||
	    h->type_off & 3 || h->hdr_len & 3 ||
	    !section_valid(&btf->file, h->hdr_len, h->type_off, h->type_len) ||
	    !section_valid(&btf->file, h->hdr_len, h->str_off, h->str_len)) {
		btf_file_close(&btf->file);
		return -EINVAL;
	}
	btf->types = btf->file.data + h->hdr_len + h->type_off;
	btf->types_length = h->type_len;
	btf->strings = (const char *)btf->file.data + h->hdr_len + h->str_off;
	btf->strings_length = h->str_len;
	return 0;
}

struct btf_cursor {
	uint32_t id;		/* of the type that was returned last */
	uint32_t at;
};

/* NULL: no more, or one of an unknown kind, after which nothing is found. */
static const struct btf_type *btf_cursor_next(struct btf_cursor *cursor,
					      const struct btf *btf)
{
	const struct btf_type *type = (const void *)(btf->types + cursor->at);
	uint32_t rest = btf->types_length - cursor->at;
	const struct btf_kind *kind;
	uint32_t extra;

	if (rest < sizeof(*type))
		return NULL;
	kind = &btf_kinds[BTF_INFO_KIND(type->info)];
	extra = kind->fixed + kind->each * BTF_INFO_VLEN(type->info);
	if (!kind->known || extra > rest - sizeof(*type))
		return NULL;
	cursor->at += sizeof(*type) + extra;
	cursor->id++;
	return type;
}

/* Ids become places by `at`, filled as far as the types are gone through. */
struct btf_index {
	uint32_t *at;
	uint32_t count;
	uint32_t left;		/* anonymous members to look into: a structure
				 * that is hostile has itself in it */
};

#define MODIFIERS_MAX	8	/* of one type; more are none of the kernel's */

/* The structure or union that a type is, by whatever names; or NULL. */
static const struct btf_type *structure_by_id(const struct btf *btf,
					      const struct btf_index *index,
					      uint32_t id)
{
	for (int i = 0; i < MODIFIERS_MAX && id && id <= index->count; i++) {
		const struct btf_type *type =
			(const void *)(btf->types + index->at[id - 1]);

		switch (BTF_INFO_KIND(type->info)) {
		case BTF_KIND_STRUCT: case BTF_KIND_UNION:
			return type;
		case BTF_KIND_TYPEDEF: case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE: case BTF_KIND_TYPE_TAG:
			id = type->type;
			break;
		default:
			return NULL;
		}
	}
	return NULL;
}

/* Is the string at `offset` the `length` bytes of `name`? */
static bool btf_name_is(const struct btf *btf, uint32_t offset,
			const char *name, size_t length)
{
	const char *string = btf->strings + offset;

	return offset < btf->strings_length &&
	       length < btf->strings_length - offset &&
	       !memcmp(string, name, length) && !string[length];
}

#define ANONYMOUS_DEPTH	4	/* structures in each other, at most */
#define ANONYMOUS_MOST	1024	/* of a name that is looked for */

/* A member of the structure, or of an anonymous one in it; *bits is increased
 * by where it is. NULL: there is none. */
static const struct btf_member *btf_member_find(const struct btf *btf,
						struct btf_index *index,
						const struct btf_type *type,
						const char *name, size_t length,
						uint32_t *bits, int depth)
{
	const struct btf_member *found, *member = (const void *)(type + 1);
	uint32_t count = BTF_INFO_VLEN(type->info);

	for (uint32_t i = 0; i < count; i++, member++) {
		uint32_t at =
			*bits + (BTF_INFO_KFLAG(type->info)
					 ? BTF_MEMBER_BIT_OFFSET(member->offset)
					 : member->offset);

		const struct btf_type *inner = NULL;

		found = NULL;
		if (!member->name_off && depth < ANONYMOUS_DEPTH &&
		    index->left) {
			index->left--;
			inner = structure_by_id(btf, index, member->type);
		}
		if (btf_name_is(btf, member->name_off, name, length))
			found = member;
		else if (inner)
			found = btf_member_find(btf, index, inner, name, length,
						&at, depth + 1);
		if (found) {
			*bits = at;
			return found;
		}
	}
	return NULL;
}

/* `name` is what follows the structure's own name, ".thread.ds". */
static void member_follow(const struct btf *btf, struct btf_index *index,
			  const struct btf_type *type, const char *name,
			  uint32_t *value)
{
	const struct btf_member *member;
	uint32_t bits = 0;

	index->left = ANONYMOUS_MOST;
	while (*name == '.') {
		size_t length = strcspn(++name, ".");

		member = type ? btf_member_find(btf, index, type, name, length,
						&bits, 0) : NULL;
		if (!member)
			return;
		type = structure_by_id(btf, index, member->type);
		name += length;
	}
	if (!(bits % 8))
		*value = bits / 8;
}

/* A want with its first part taken off, and the type that has that name. */
struct btf_search {
	const struct btf_want *want;
	size_t length;
	uint32_t kind;
	uint32_t id;		/* 0: not found yet */
};

/* How names begin that are looked for: nearly all of the kernel's many types are
 * passed over by one bit, of two bytes of their names. */
struct btf_filter {
	uint64_t begins[1 << 16 >> 6];
};

static uint16_t name_begin(const char *name, size_t length)
{
	return (uint8_t)name[0] << 8 | (uint8_t)(length > 1 ? name[1] : 0);
}

static void filter_add_name(struct btf_filter *filter, const char *name,
			    size_t length)
{
	uint16_t begin = name_begin(name, length);

	filter->begins[begin / 64] |= 1ull << begin % 64;
}

static bool filter_passes(const struct btf_filter *filter,
			  const struct btf *btf, uint32_t name)
{
	uint16_t begin;

	if (btf->strings_length < 2 || name > btf->strings_length - 2)
		return false;
	begin = name_begin(btf->strings + name, 2);
	return filter->begins[begin / 64] >> begin % 64 & 1;
}

static void type_match(struct btf_search *searches, size_t count,
		       const struct btf_filter *filter, const struct btf *btf,
		       const struct btf_type *type, uint32_t id)
{
	uint32_t kind = BTF_INFO_KIND(type->info);

	if ((kind != BTF_KIND_STRUCT && kind != BTF_KIND_FUNC &&
	     kind != BTF_KIND_VAR) || !filter_passes(filter, btf, type->name_off))
		return;
	for (size_t i = 0; i < count; i++) {
		struct btf_search *search = &searches[i];

		if (!search->id && search->kind == kind &&
		    btf_name_is(btf, type->name_off, search->want->name,
				search->length))
			search->id = id;
	}
}

static bool types_search(const struct btf *btf, struct btf_index *index,
			 struct btf_search *searches, size_t count)
{
	/* of the index only what is used takes memory */
	size_t most = btf->types_length / sizeof(struct btf_type);
	struct btf_filter filter = { 0 };
	const struct btf_type *type;
	struct btf_cursor cursor = { 0 };
	uint32_t at = 0;

	index->at = malloc((most + 1) * sizeof(*index->at));
	if (!index->at)
		return false;
	for (size_t i = 0; i < count; i++)
		filter_add_name(&filter, searches[i].want->name,
				searches[i].length);
	while ((type = btf_cursor_next(&cursor, btf))) {
		index->at[index->count++] = at;
		at = cursor.at;
		type_match(searches, count, &filter, btf, type, cursor.id);
	}
	return true;
}

int btf_find(const char *path, const struct btf_want *wants, size_t count)
{
	struct btf_search searches[BTF_WANTS_MAX];
	struct btf_index index = { 0 };
	struct btf btf;
	int code = count > BTF_WANTS_MAX ? -EINVAL : btf_open(&btf, path);

	if (code)
		return code;
	for (size_t i = 0; i < count; i++) {
		size_t length = strcspn(wants[i].name, ".(:");
		char mark = wants[i].name[length];

		searches[i] = (struct btf_search){
			.want = &wants[i], .length = length,
			.kind = mark == '(' ? BTF_KIND_FUNC :
				mark == ':' ? BTF_KIND_VAR : BTF_KIND_STRUCT,
		};
	}
	if (!types_search(&btf, &index, searches, count))
		code = -ENOMEM;
	for (size_t i = 0; i < count && !code; i++) {
		const struct btf_search *search = &searches[i];
		const char *rest = search->want->name + search->length;

		if (search->id && *rest != '.')
			*search->want->value = search->id;
		else if (search->id)
			member_follow(&btf, &index,
				      structure_by_id(&btf, &index, search->id),
				      rest, search->want->value);
	}
	free(index.at);
	btf_file_close(&btf.file);
	return code;
}

uint32_t btf_find_split(const char *path, const char *base, const char *name)
{
	struct btf_cursor types = { 0 }, cursor = { 0 };
	const struct btf_type *type;
	struct btf whole, split;
	uint32_t strings, id = 0;

	if (btf_open(&split, path))
		return 0;
	if (btf_open(&whole, base)) {
		btf_file_close(&split.file);
		return 0;
	}
	while (btf_cursor_next(&types, &whole))
		;
	strings = whole.strings_length;
	while (!id && (type = btf_cursor_next(&cursor, &split)))
		if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC &&
		    type->name_off >= strings &&
		    btf_name_is(&split, type->name_off - strings, name,
				strlen(name)))
			id = types.id + cursor.id;
	btf_file_close(&whole.file);
	btf_file_close(&split.file);
	return id;
}

#define BTF_MODULE	"/sys/kernel/btf/rastrace"
#define UNKNOWN		UINT32_MAX	/* an offset that may be 0 */

static int pmu_type(const char *name)
{
	char path[64];
	int type = -ENODEV;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type",
		 name);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	if (fscanf(file, "%d", &type) != 1)
		type = -ENODEV;
	fclose(file);
	return type;
}

/* What of the kernel's types anything here needs: one pass over them, which takes
 * a millisecond. */
struct kernel_types {
	bool read;
	int code;
	uint32_t preempt_disable, preempt_enable, is_return;
	struct body_layout layout;
};

static int kernel_types_find(struct kernel_types *types)
{
	struct body_layout *layout = &types->layout;
	char bases[BODY_THREAD_BASES][64];
	uint32_t uffd = UNKNOWN;	/* empty: there is no userfaultfd */
	uint32_t hot = 0, hot_count = UNKNOWN;	/* as of Linux 6.2 to 6.14 */
	struct btf_want wants[] = {
		{ bases[0] }, { bases[1] }, { bases[2] },
		{ "task_struct.thread.ds", &layout->thread_ds },
		{ "task_struct.thread.es", &layout->thread_es },
		{ "task_struct.thread.fsindex", &layout->thread_fsindex },
		{ "task_struct.thread.gsindex", &layout->thread_gsindex },
		{ "task_struct.thread.tls_array", &layout->tls_array },
		{ "task_struct.mm", &layout->task_mm },
		{ "mm_struct.context.ldt", &layout->mm_ldt },
		{ "mm_struct.pgd", &layout->mm_pgd },
		{ "mm_struct.start_stack", &layout->mm_stack },
		{ "mm_struct.exec_vm", &layout->mm_code },
		{ "mm_struct.context.tlb_gen", &layout->mm_flushes },
		{ "bpf_rdonly_cast()", &layout->cast_kfunc },
		{ "pt_regs", &layout->cast_type },
		{ "ldt_struct.entries", &layout->ldt_entries },
		{ "ldt_struct.nr_entries", &layout->ldt_count },
		{ "task_struct.real_parent", &layout->task_parent },
		{ "task_struct.tgid", &layout->task_tgid },
		{ "mm_struct.uprobes_state.xol_area", &layout->mm_xol },
		{ "xol_area.vaddr", &layout->xol_vaddr },
		{ "task_struct.utask", &layout->task_utask },
		{ "uprobe_task.return_instances", &layout->utask_returns },
		{ "return_instance.func", &layout->return_func },
		{ "return_instance.stack", &layout->return_stack },
		{ "return_instance.chained", &layout->return_chained },
		{ "vm_area_struct.vm_flags", &layout->vma_flags },
		{ "vm_area_struct.vm_file", &layout->vma_file },
		{ "vm_area_struct.vm_ops", &layout->vma_ops },
		{ "vm_area_struct.vm_userfaultfd_ctx", &uffd },
		{ "vm_area_struct.vm_userfaultfd_ctx.ctx", &layout->vma_uffd },
		{ "file.f_inode", &layout->file_inode },
		{ "inode.i_mode", &layout->inode_mode },
		{ "inode.i_sb", &layout->inode_sb },
		{ "super_block.s_magic", &layout->sb_magic },
		{ "super_block.s_bdev", &layout->sb_bdev },
		{ "task_struct", &layout->task_btf },
		{ "task_struct.nvcsw", &layout->task_waits },
		{ "task_struct.nivcsw", &layout->task_yields },
		{ "task_struct.thread_info.preempt_count",
		  &layout->task_count },
		{ "__preempt_count:", &layout->cpu_count },
		{ "pcpu_hot:", &hot },
		{ "pcpu_hot.preempt_count", &hot_count },
		{ "bpf_preempt_disable()", &types->preempt_disable },
		{ "bpf_preempt_enable()", &types->preempt_enable },
		{ "bpf_session_is_return()", &types->is_return },
	};
	int code;

	*types = (struct kernel_types){ .layout.inode_mode = UNKNOWN };
	for (int i = 0; i < BODY_THREAD_BASES; i++) {
		const struct body_thread_base *base = &body_thread_bases[i];

		snprintf(bases[i], sizeof(bases[i]), "task_struct.thread.%s",
			 base->member);
		wants[i] = (struct btf_want){
			bases[i], &layout->thread_base[base->index],
		};
	}
	code = btf_find(BTF_VMLINUX, wants, sizeof(wants) / sizeof(wants[0]));
	if (code)
		*layout = (struct body_layout){ 0 };
	if (!layout->cpu_count && hot && hot_count != UNKNOWN) {
		layout->cpu_count = hot;
		layout->cpu_count_at = hot_count;
	}
	layout->vma = layout->vma_flags && layout->vma_file &&
		      layout->vma_ops && uffd != UNKNOWN &&
		      layout->file_inode &&
		      layout->inode_mode != UNKNOWN && layout->inode_sb &&
		      layout->sb_magic && layout->sb_bdev;
	return code;
}

/* They stay what they are. */
static const struct kernel_types *kernel_types(void)
{
	static struct kernel_types types;

	if (!types.read) {
		types.code = kernel_types_find(&types);
		types.read = types.code != -ENOMEM;
	}
	return &types;
}

int features_read_btf(struct features *features)
{
	const struct kernel_types *types = kernel_types();

	if (types->code || !types->preempt_disable || !types->preempt_enable)
		return types->code == -ENOMEM ? types->code : 0;
	features->preempt_disable = types->preempt_disable;
	features->preempt_enable = types->preempt_enable;
	return 0;
}

/* fds: BTF of the modules whose kfuncs are called, from 1 on; or NULL */
static bool can_load(const struct bpf_insn *insns, size_t count, const int *fds)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .fd_array = fds);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "rastrace", "GPL", insns,
			       count, &opts);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* A kernel without CONFIG_KALLSYMS_ALL has types of its variables and doesn't find
 * them. */
static bool variable_works(uint32_t id)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_BTF_ID, .imm = id },
		{ 0 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_this_cpu_ptr },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return can_load(insns, 5, NULL);
}

int features_read_layout(struct body_layout *layout)
{
	const struct kernel_types *types = kernel_types();

	*layout = types->layout;
	if (layout->cpu_count && !variable_works(layout->cpu_count))
		layout->cpu_count = 0;
	return types->code;
}

static int load_empty(const struct features *features, uint32_t attach_type,
		      bool sleepable)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL,
		  .imm = features->preempt_disable },
		{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL,
		  .imm = features->preempt_enable },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	size_t skip = features->preempt_disable ? 0 : 2;
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = attach_type,
		    .prog_flags = sleepable ? BPF_F_SLEEPABLE : 0);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "rastrace", "GPL",
			     insns + skip, 4 - skip, &opts);
}

/* May programs at probes call it? Its arguments, if any, are 8 bytes and 0. */
static bool kfunc_works(int module, uint32_t kfunc)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10,
		  .off = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1,
		  .imm = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2 },
		{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL,
		  .off = BODY_MODULE_PLACE, .imm = kfunc },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const int fds[] = { [BODY_MODULE_PLACE] = module };

	return can_load(insns, sizeof(insns) / sizeof(insns[0]), fds);
}

/* The BTF of a kernel module; -ENOENT: there is none. */
static int module_btf_find(const char *module)
{
	uint32_t id = 0;
	int code, fd;

	while (!(code = bpf_btf_get_next_id(id, &id))) {
		char name[64] = "";
		struct bpf_btf_info info = {
			.name = (uintptr_t)name, .name_len = sizeof(name),
		};
		uint32_t size = sizeof(info);

		fd = bpf_btf_get_fd_by_id(id);
		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &size) &&
		    info.kernel_btf && !strcmp(name, module))
			return fd;
		close(fd);
	}
	return code;
}

int features_read_kfuncs(uint32_t *segments_save, uint32_t *vector_read)
{
	struct { const char *name; uint32_t *id; } kfuncs[] = {
		{ "rastrace_segments_save", segments_save },
		{ "rastrace_vector_read", vector_read },
	};
	int module = module_btf_find("rastrace");
	bool any = false;

	for (size_t i = 0; i < sizeof(kfuncs) / sizeof(kfuncs[0]); i++) {
		uint32_t *id = kfuncs[i].id;

		*id = module < 0 ? 0 :
		      btf_find_split(BTF_MODULE, BTF_VMLINUX, kfuncs[i].name);
		if (*id && !kfunc_works(module, *id))
			*id = 0;
		any |= *id;
	}
	if (any)
		return module;
	if (module >= 0)
		close(module);
	return -1;
}

/* What a link that can't be is refused with. */
static int link_refusal(int program, uint32_t pid, bool session)
{
	uint64_t offset = 0;
	struct sysbpf_multi multi = {
		.offsets = &offset, .cookies = &offset, .count = 1,
		.session = session, .pid = pid,
	};
	int link;

	if (program < 0)
		return program;
	link = sysbpf_multi_link(program, "/", &multi);
	if (link >= 0)
		close(link);
	close(program);
	return link;
}

static int multi_refusal(const struct features *features, uint32_t pid)
{
	return link_refusal(load_empty(features, SYSBPF_UPROBE_MULTI, false),
			    pid, false);
}

/* Kernels after 6.19 give it the context, which the others don't look at. */
uint32_t features_session(const struct features *features)
{
	uint32_t is_return = kernel_types()->is_return;
	struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = SYSBPF_UPROBE_SESSION);
	int program;

	if (!features->multi || !is_return)
		return 0;
	insns[0].imm = is_return;
	program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "rastrace", "GPL", insns,
				sizeof(insns) / sizeof(*insns), &opts);
	return link_refusal(program, 0, true) == -EBADF ? is_return : 0;
}

/* Before 6.10 they are of one thread, and -ESRCH is the answer: the same change
 * has made this -EINVAL. */
bool features_multi_pid(const struct features *features)
{
	return features->multi &&
	       multi_refusal(features, UINT32_MAX) == -EINVAL;
}

/* Loads the kind of program that will be loaded; without the kfuncs where
 * this kind may not call them. */
static int program_check(struct features *features, struct error *err)
{
	int program = load_empty(features, 0, false);

	if (program < 0 && features->preempt_disable) {
		features->preempt_disable = features->preempt_enable = 0;
		program = load_empty(features, 0, false);
	}
	if (program < 0)
		return pin_refused(err, program, "cannot load a BPF program");
	close(program);
	return 0;
}

/* Of the kind that the links take: kernels before 6.0 refuse it. */
bool features_sleepable(const struct features *features)
{
	int program = load_empty(features, features->multi ?
				 SYSBPF_UPROBE_MULTI : 0, true);

	if (program >= 0)
		close(program);
	return program >= 0;
}

/* A stack lies at the upper end. */
static int address_bits(void)
{
	return 64 - __builtin_clzll((uintptr_t)__builtin_frame_address(0));
}

int features_uprobe_type(void)
{
	return pmu_type("uprobe");
}

int features_probe(struct features *features, enum attach_choice choice,
		   struct error *err)
{
	int code;

	*features = (struct features){
		.uprobe_type = features_uprobe_type(),
		.kprobe_type = pmu_type("kprobe"),
		.address_bits = address_bits(),
	};
	if (features->uprobe_type == -ENOMEM ||
	    features->kprobe_type == -ENOMEM || features_read_btf(features))
		return error_no_memory(err);
	code = program_check(features, err);
	if (code)
		return code;
	/* -EBADF: the path is looked at, which is no regular file */
	features->multi = choice != ATTACH_PERF &&
			  multi_refusal(features, 0) == -EBADF;
	if (choice == ATTACH_MULTI && !features->multi)
		return error_set(err, -EOPNOTSUPP,
				 "this kernel has no uprobe_multi links");
	/* Nothing serialises the programs of uprobe_multi links: without the
	 * kfuncs they would be preempted while they hold a slice. */
	if (choice == ATTACH_AUTO && !features->preempt_disable)
		features->multi = false;
	return 0;
}
