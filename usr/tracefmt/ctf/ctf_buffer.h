/* SPDX-License-Identifier: GPL-2.0 */
/* Bytes of a CTF stream and text of its metadata, collected in memory. The
 * first failure is kept: nothing is added after it. */
#ifndef TRACEFMT_CTF_BUFFER_H
#define TRACEFMT_CTF_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctf_buffer {
	uint8_t *data;
	size_t used, size;
	bool failed;		/* no memory */
};

void ctf_buffer_add(struct ctf_buffer *buffer, const void *data, size_t n);
/* The low `bytes` bytes, at most 8, little-endian. */
void ctf_buffer_number(struct ctf_buffer *buffer, uint64_t value,
		       unsigned int bytes);
/* All of it is UTF-8 without a zero: what a string of CTF can hold. */
bool ctf_buffer_is_text(const void *bytes, size_t n);
/* A string with its zero; what isn't text becomes \xHH. */
void ctf_buffer_string(struct ctf_buffer *buffer, const void *bytes, size_t n);
/* struct bytes: their number, then the bytes. */
void ctf_buffer_bytes(struct ctf_buffer *buffer, const uint8_t *data, size_t n);
void ctf_buffer_print(struct ctf_buffer *buffer, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Write all to fd and forget it. 0, or a negative errno. */
int ctf_buffer_write(struct ctf_buffer *buffer, int fd);
void ctf_buffer_free(struct ctf_buffer *buffer);

#endif
