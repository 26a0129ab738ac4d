/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a program's run time does to stacks that a return probe, which puts an
 * address of the kernel's in the place of the one to return to, gets in the way
 * of.
 */
#ifndef TRCUST_RUNTIME_H
#define TRCUST_RUNTIME_H

#include "module_elf.h"

#define RUNTIME_GO		0x01	/* looks through stacks, and moves them */
#define RUNTIME_SPLITS		0x02	/* goes on on another stack in a call */
#define RUNTIME_SWITCHES	0x04	/* has stacks of its own: coroutines */
#define RUNTIME_SIGNAL_STACK	0x08	/* ... for signals */
#define RUNTIME_UNWINDS		0x10	/* exceptions, or frames are taken off
					 * one by one */
#define RUNTIME_PROGRAM		0x20	/* it is a program, not a library */
#define RUNTIME_MIGRATES	0x40	/* calls may go on in other threads */

/* By names in the module's file; what it loads isn't seen. */
unsigned int runtime_find(const struct module *module);

#endif
