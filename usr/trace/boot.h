/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `trace on --boot`: what is to be armed when the machine starts
 * (rastrace.conf(5)).
 */
#ifndef TRACE_BOOT_H
#define TRACE_BOOT_H

#define BOOT_CONF	"/etc/rastrace/rastrace.conf"

/*
 * Do what the file requests (NULL: BOOT_CONF), line by line; errors go to
 * stderr as file:line:column, and the other lines are done all the same.
 * Returns the exit status.
 */
int boot_run(const char *conf);

#endif
