// SPDX-License-Identifier: GPL-2.0
#include "btf_open.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "lib/hash.h"

/* libbpf prints what is wrong with a file; the error of the caller is enough. */
static int btf_print_nothing(enum libbpf_print_level level, const char *format,
			     va_list arguments)
{
	(void)level;
	(void)format;
	(void)arguments;
	return 0;
}

static void btf_identity(const struct btf *btf, struct identity *identity)
{
	uint32_t size;
	const void *data = btf__raw_data(btf, &size);

	identity_set_hash(identity, data ? hash_fnv(HASH_FNV_START, data,
						    size) : 0);
}

/*
 * Does the module's BTF continue this kernel's? Nothing in it says so. But its
 * names begin where the kernel's end, so that with another kernel they begin
 * inside of strings, and types are of the wrong kinds.
 */
static bool btf_split_fits(const struct btf *btf, const struct btf *base)
{
	uint32_t size;
	const struct btf_header *header = btf__raw_data(base, &size);

	if (!header || btf__endianness(base) != BTF_LITTLE_ENDIAN)
		return false;
	for (uint32_t id = btf__type_cnt(base); id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id), *of;
		uint32_t name = type->name_off;
		const char *before = "";

		if (name && name != header->str_len)
			before = btf__str_by_offset(btf, name - 1);
		if (!before || *before)
			return false;
		of = btf_is_func(type) ? btf__type_by_id(btf, type->type) : NULL;
		if (btf_is_func(type) && (!of || !btf_is_func_proto(of)))
			return false;
	}
	return true;
}

/* libbpf 1.1 reads BTF that continues another one only from a file. */
static struct btf *btf_split_parse(const struct btf_split *split,
				   struct btf *base)
{
	int fd = memfd_create("btf", MFD_CLOEXEC);
	struct btf *btf = NULL;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	errno = ENOMEM;
	if (fd >= 0 && write(fd, split->data, split->size) ==
			       (ssize_t)split->size)
		btf = btf__parse_raw_split(path, base);
	if (fd >= 0)
		close(fd);
	return btf;
}

int btf_dwarf_open(const char *file, const struct btf_split *split,
		   struct btf_dwarf_source *source,
		   struct bytes *image, struct identity *identity,
		   struct error *err)
{
	int code = 0, fd = open(file, O_RDONLY | O_CLOEXEC);
	struct btf *base, *btf;

	if (fd < 0)
		return error_set(err, -errno, "%s", strerror(errno));
	libbpf_set_print(btf_print_nothing);
	errno = 0;
	btf = base = btf__parse(file, NULL);
	if (base && split)
		btf = btf_split_parse(split, base);
	if (!btf)
		code = errno == ENOENT || errno == ENODATA ?
			error_set(err, -ENOENT, "it has no BTF") :
			errno == ENOMEM ? error_no_memory(err) :
			error_set(err, -EBADMSG, "its BTF is damaged");
	else if (split && !btf_split_fits(btf, base))
		code = error_set(err, -ESTALE, "the kernel module was built "
				 "for another kernel than that of '%s'", file);
	source->btf = btf;
	if (!code)
		code = btf_dwarf(source, image, err);
	if (!code && !strcmp(file, BTF_VMLINUX))
		identity_read_notes("/sys/kernel/notes", identity);
	else if (!code)
		identity_read_build_id(fd, identity);
	if (!code && identity->kind == TDF_ID_NONE)
		btf_identity(base, identity);
	close(fd);
	if (btf != base)
		btf__free(btf);
	btf__free(base);
	source->btf = NULL;
	return code;
}
