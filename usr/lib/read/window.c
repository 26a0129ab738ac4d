// SPDX-License-Identifier: GPL-2.0
#include "window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE		4096u

void window_set(struct source_window *window, const struct source_bytes *bytes)
{
	free(window->owned);
	*window = (struct source_window){
		.data = bytes->data, .size = bytes->size,
		.owned = bytes->owned,
		.room = bytes->owned ? bytes->size : 0,
	};
}

void window_open(struct source_window *window, uint64_t offset, uint64_t left)
{
	window->data = NULL;
	window->size = 0;
	window->offset = offset;
	window->left = left;
}

/* Keep the last bytes, and put what follows after them. */
static ssize_t bytes_fetch(struct source_window *window,
			   struct trace_source *source, size_t kept,
			   size_t want)
{
	size_t room = kept + want + 2 * PAGE;
	void *spent = NULL;
	ssize_t got;
	uint8_t *to;
	uintptr_t p;

	if (window->room < room) {
		spent = window->owned;
		window->owned = malloc(room);
		window->room = window->owned ? room : 0;
	}
	if (!window->owned) {
		free(spent);
		return -ENOMEM;
	}
	/*
	 * The new bytes go after the kept ones: copying out of the page cache
	 * is several times as fast when both sides have the same alignment.
	 */
	p = (uintptr_t)window->owned + kept;
	to = (uint8_t *)((p + PAGE - 1) / PAGE * PAGE + window->offset % PAGE);
	if (kept)
		memmove(to - kept, window->data + window->size - kept, kept);
	free(spent);
	got = trace_source_fetch(source, window->offset, want, to);
	window->data = to - kept;
	window->size = kept + (got < 0 ? 0 : got);
	return got;
}

bool window_fill(struct source_window *window, struct trace_source *source,
		 size_t used, size_t most)
{
	size_t want = window->left < most ? window->left : most;
	ssize_t got = bytes_fetch(window, source, window->size - used, want);

	window->offset += want;
	window->left -= want;
	if (got == (ssize_t)want)
		return true;
	window->exhausted = got == -ENOMEM;
	if (window->exhausted)
		window->size = 0;
	window->left = 0;
	return false;
}

void window_free(struct source_window *window)
{
	free(window->owned);
	*window = (struct source_window){ 0 };
}
