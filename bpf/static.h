/* SPDX-License-Identifier: GPL-2.0 */
/* The body of the static tracepoints of user programs. */
#ifndef BPF_STATIC_H
#define BPF_STATIC_H

#include "body.h"

/*
 * The body of the static tracepoints of user programs, at the probe in
 * rastrace_write(major, minor, data, length) with the C calling convention of
 * the program's machine: a record of RAS_STATIC_SESSION when `majors_fd` says
 * that its major is on. sites_fd, limits_fd and of the filter all but pids_fd
 * aren't used.
 */
int body_generate_static(struct body *body, __u16 machine, int majors_fd,
			 const struct body_target *target, struct error *err);

#endif
