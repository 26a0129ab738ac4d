// SPDX-License-Identifier: GPL-2.0
#include "btf_open.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
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
	uint64_t hash = data ? hash_fnv(HASH_FNV_START, data, size) : 0;

	memset(identity, 0, sizeof(*identity));
	identity->kind = TDF_ID_CONTENT;
	identity->length = sizeof(hash);
	for (size_t i = 0; i < sizeof(hash); i++)
		identity->id[i] = hash >> (56 - 8 * i);
}

int btf_dwarf_open(const char *file, struct btf_dwarf_source *source,
		   struct bytes *image, struct identity *identity,
		   struct error *err)
{
	int code, fd = open(file, O_RDONLY | O_CLOEXEC);
	struct btf *btf;

	if (fd < 0)
		return error_set(err, -errno, "%s", strerror(errno));
	libbpf_set_print(btf_print_nothing);
	errno = 0;
	btf = btf__parse(file, NULL);
	if (!btf) {
		code = errno == ENOENT || errno == ENODATA ?
			error_set(err, -ENOENT, "it has no BTF") :
			errno == ENOMEM ? error_no_memory(err) :
			error_set(err, -EBADMSG, "its BTF is damaged");
		close(fd);
		return code;
	}
	source->btf = btf;
	code = btf_dwarf(source, image, err);
	if (!code && !strcmp(file, BTF_RUNNING))
		identity_read_notes("/sys/kernel/notes", identity);
	else if (!code)
		identity_read_build_id(fd, identity);
	if (!code && identity->kind == TDF_ID_NONE)
		btf_identity(btf, identity);
	close(fd);
	btf__free(btf);
	source->btf = NULL;
	return code;
}
