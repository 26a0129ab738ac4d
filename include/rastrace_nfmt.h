/* SPDX-License-Identifier: GPL-2.0 */
/* Memory tracker: a stream of what a program allocates; see nfmt(3). */
#ifndef RASTRACE_NFMT_H
#define RASTRACE_NFMT_H

#ifdef __cplusplus
extern "C" {
#endif

#define NFMT_STREAM_SIZE	16384	/* bytes that wait to be read */
#define NFMT_STRING_BYTES	1624	/* of all strings, with their NULs */
#define NFMT_STRINGS		101

/*
 * The stream: of each record an int32_t, its type, then its data, all in the
 * order of bytes and with the pointers of the program. Records are multiples of
 * 4 bytes and follow each other without gaps: pointers in them aren't aligned.
 *
 *	MALLOC		void *p; int32_t size, tag, file, line;
 *	FREE		void *p;
 *	SYMBOL		int32_t symbol; char text[], with its NUL, and zeros up
 *			to a multiple of 4
 *	OUT_OF_MEMORY	records are missing here
 *
 * tag and file are symbols: numbers of texts, each defined by a SYMBOL before it
 * is used; 0 is "", -1 a text that isn't known. The first one's number is 1,
 * the next one's is greater by the text's length with its NUL.
 */
#define NFMT_MALLOC		0
#define NFMT_FREE		1
#define NFMT_SYMBOL		2
#define NFMT_OUT_OF_MEMORY	3

struct nfmt_Buffer {
	char *start;
	char *end;
};

/* Forget all there is. */
void nfmt_init(void);
/* p has been allocated, `size` bytes, for `tag`, by `line` of `file`. */
void nfmt_record_malloc(void *p, int size, const char *tag, const char *file,
			int line);
/* p is about to be freed. */
void nfmt_record_free(void *p);
/* Some of what was recorded since; it stays until the next call. */
struct nfmt_Buffer nfmt_read(void);

#ifdef __cplusplus
}
#endif

#endif
