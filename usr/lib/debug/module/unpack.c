// SPDX-License-Identifier: GPL-2.0
#include "unpack.h"

#include <errno.h>
#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define UNPACKED_MAX	(256u << 20)	/* bytes of a module */
#define MEMORY_MAX	(128u << 20)	/* that unpacking may need */
#define WINDOW_LOG_MAX	27		/* the same for zstd */
#define CHUNK		(64u << 10)
#define GZIP_WINDOW	(15 + 16)	/* of inflateInit2: gzip, no zlib */

const char *const unpack_suffixes[] = { ".xz", ".zst", ".gz", NULL };

struct unpack {
	int from, to;
	off_t at;		/* in `from` */
	uint64_t written;
	uint8_t in[CHUNK], out[CHUNK];
	size_t have;		/* bytes of in */
	struct error *err;
};

/* All methods: the next bytes from u->in, into u->out. *used and *made are how
 * many. 0 goes on, 1 the end of what is compressed, negative: damaged. */
struct unpack_method {
	const char *name, *magic;
	size_t magic_length;
	void *(*begin)(void);
	int (*step)(void *state, struct unpack *u, size_t from, bool last,
		    size_t *used, size_t *made);
	void (*end)(void *state);
};

static void *xz_begin(void)
{
	lzma_stream *s = calloc(1, sizeof(*s));

	if (s && !lzma_stream_decoder(s, MEMORY_MAX, 0))
		return s;
	free(s);
	return NULL;
}

static int xz_step(void *state, struct unpack *u, size_t from, bool last,
		   size_t *used, size_t *made)
{
	lzma_stream *s = state;
	lzma_ret ret;

	s->next_in = u->in + from;
	s->avail_in = u->have - from;
	s->next_out = u->out;
	s->avail_out = sizeof(u->out);
	ret = lzma_code(s, last ? LZMA_FINISH : LZMA_RUN);
	*used = u->have - from - s->avail_in;
	*made = sizeof(u->out) - s->avail_out;
	if (ret == LZMA_STREAM_END)
		return 1;
	return ret == LZMA_OK || ret == LZMA_BUF_ERROR ? 0 : -EINVAL;
}

static void xz_end(void *state)
{
	lzma_end(state);
	free(state);
}

static void *gzip_begin(void)
{
	z_stream *s = calloc(1, sizeof(*s));

	if (s && !inflateInit2(s, GZIP_WINDOW))
		return s;
	free(s);
	return NULL;
}

static int gzip_step(void *state, struct unpack *u, size_t from, bool last,
		     size_t *used, size_t *made)
{
	z_stream *s = state;
	int ret;

	s->next_in = u->in + from;
	s->avail_in = u->have - from;
	s->next_out = u->out;
	s->avail_out = sizeof(u->out);
	ret = inflate(s, Z_NO_FLUSH);
	*used = u->have - from - s->avail_in;
	*made = sizeof(u->out) - s->avail_out;
	if (ret == Z_STREAM_END)
		return 1;
	return ret == Z_OK || ret == Z_BUF_ERROR ? 0 : -EINVAL;
}

static void gzip_end(void *state)
{
	inflateEnd(state);
	free(state);
}

static void *zstd_begin(void)
{
	ZSTD_DStream *s = ZSTD_createDStream();

	if (s)
		ZSTD_DCtx_setParameter(s, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	return s;
}

static int zstd_step(void *state, struct unpack *u, size_t from, bool last,
		     size_t *used, size_t *made)
{
	ZSTD_inBuffer in = { u->in + from, u->have - from, 0 };
	ZSTD_outBuffer out = { u->out, sizeof(u->out), 0 };
	size_t ret = ZSTD_decompressStream(state, &out, &in);

	*used = in.pos;
	*made = out.pos;
	return ZSTD_isError(ret) ? -EINVAL : !ret;
}

static void zstd_end(void *state)
{
	ZSTD_freeDStream(state);
}

static const struct unpack_method methods[] = {
	{ "xz", "\xfd" "7zXZ\0", 6, xz_begin, xz_step, xz_end },
	{ "zstd", "\x28\xb5\x2f\xfd", 4, zstd_begin, zstd_step, zstd_end },
	{ "gzip", "\x1f\x8b", 2, gzip_begin, gzip_step, gzip_end },
};

static int unpack_write(struct unpack *u, size_t size)
{
	const uint8_t *from = u->out;

	u->written += size;
	if (u->written > UNPACKED_MAX)
		return error_set(u->err, -EFBIG,
				 "it has more than %u MiB when it is unpacked",
				 UNPACKED_MAX >> 20);
	while (size) {
		ssize_t n = write(u->to, from, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_no_memory(u->err);
		from += n;
		size -= n;
	}
	return 0;
}

static int stream_unpack(struct unpack *u, const struct unpack_method *method)
{
	void *state = method->begin();
	ssize_t n = 1;
	int end = 0;

	if (!state)
		return error_no_memory(u->err);
	while (!end && n > 0) {
		size_t from = 0, used, made;

		n = pread(u->from, u->in, sizeof(u->in), u->at);
		u->have = n > 0 ? n : 0;
		u->at += u->have;

		/* A step that neither uses nor makes anything waits for more. */
		do {
			end = n < 0 ? -EIO : method->step(state, u, from, !n,
							  &used, &made);
			if (end >= 0 && made && unpack_write(u, made))
				end = -EFBIG;
			from += end ? 0 : used;
		} while (!end && (from < u->have ? used || made :
						   made == sizeof(u->out)));
	}
	method->end(state);
	if (end == 1)
		return 0;
	if (end != -EFBIG)
		error_set(u->err, -EIO, "it is compressed (%s), and damaged or cut short",
			  method->name);
	return -EIO;
}

int unpack_file(int fd, int *unpacked, struct error *err)
{
	const struct unpack_method *method = NULL;
	uint8_t head[8];
	ssize_t n = pread(fd, head, sizeof(head), 0);
	struct unpack *u;
	int code;

	*unpacked = -1;
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (n >= (ssize_t)methods[i].magic_length &&
		    !memcmp(head, methods[i].magic, methods[i].magic_length))
			method = &methods[i];
	if (!method)
		return 0;
	u = calloc(1, sizeof(*u));
	if (!u)
		return error_no_memory(err);
	u->from = fd;
	u->err = err;
	u->to = memfd_create("module", MFD_CLOEXEC);
	code = u->to < 0 ? error_set(err, -errno, "%s", strerror(errno)) :
			   stream_unpack(u, method);
	if (!code)
		*unpacked = u->to;
	else if (u->to >= 0)
		close(u->to);
	free(u);
	return code;
}
