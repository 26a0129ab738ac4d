/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Static probes of a module (SystemTap's sys/sdt.h): what .note.stapsdt says
 * of them. Addresses are as linked, corrected by .stapsdt.base for a module
 * that was moved afterwards.
 */
#ifndef TRCUST_USDT_H
#define TRCUST_USDT_H

#include "module_elf.h"

struct usdt_probe {
	const char *provider, *name;	/* as long as the module */
	const char *arguments;	/* "8@%rdi -4@$5"; may be "" */
	uint64_t address;
	uint64_t semaphore;	/* 0: none */
};

struct usdt_probes {
	struct usdt_probe *probes;	/* in the order of the notes */
	size_t count, room;
};

/* All of them; notes that are damaged are left out. 0 or -ENOMEM. */
int usdt_load(const struct module *module, struct usdt_probes *probes);
void usdt_free(struct usdt_probes *probes);

#endif
