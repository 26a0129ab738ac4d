// SPDX-License-Identifier: GPL-2.0
#include "filters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <bpf/bpf.h>
#include "lib/arm/select/unit.h"
#include "lib/buffer/pin.h"
#include "lib/maps_line.h"

int raw_tracepoint_offsets(const struct btf_want *wants, size_t count,
			   struct error *err)
{
	int code;

	for (size_t i = 0; i < count; i++)
		*wants[i].value = 0;
	code = btf_find(BTF_VMLINUX, wants, count);
	if (code == -ENOMEM)
		return error_no_memory(err);
	for (size_t i = 0; i < count && !code; i++)
		if (!*wants[i].value)
			code = -ENOENT;
	return code ? error_set(err, -EOPNOTSUPP,
				"--follow needs a kernel with type information (CONFIG_DEBUG_INFO_BTF)") : 0;
}

void raw_tracepoint_frame(struct emit *e, int dst, int off)
{
	emit_alu(e, BPF_MOV, dst, BPF_REG_10);
	emit_alu_imm(e, BPF_ADD, dst, off);
}

/* frame[off] = `bytes` bytes of the kernel at r3; uses r0 to r5 */
static void raw_tracepoint_read(struct emit *e, int off, int bytes)
{
	raw_tracepoint_frame(e, BPF_REG_1, off);
	emit_alu_imm(e, BPF_MOV, BPF_REG_2, bytes);
	emit_call(e, BPF_FUNC_probe_read_kernel);
}

void raw_tracepoint_member(struct emit *e, int context, int argument,
			   uint32_t member, int off, int bytes)
{
	emit_load(e, 8, BPF_REG_3, context, 8 * argument);
	emit_alu_imm(e, BPF_ADD, BPF_REG_3, member);
	raw_tracepoint_read(e, off, bytes);
}

void raw_tracepoint_current(struct emit *e, int off)
{
	emit_call(e, BPF_FUNC_get_current_pid_tgid);
	emit_alu_imm(e, BPF_RSH, BPF_REG_0, 32);
	emit_store(e, 4, BPF_REG_10, off, BPF_REG_0);
}

void raw_tracepoint_end(struct emit *e, emit_label end)
{
	emit_label_place(e, end);
	emit_alu_imm(e, BPF_MOV, BPF_REG_0, 0);
	emit_exit(e);
}

static int raw_tracepoint_load(struct emit *e)
{
	int fd = emit_finish(e);

	if (!fd)
		fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "rastrace",
				   "GPL", e->insns, e->count, NULL);
	free(e->insns);
	emit_free(e);
	return fd;
}

int raw_tracepoint_attach(struct emit *e, const char *name, struct error *err)
{
	int program = raw_tracepoint_load(e), link;

	if (program == -EINVAL) {
		/* the helpers that read aren't there */
		error_set(err, program, "cannot load a program for %s", name);
		error_hint(err, "programs may not read the kernel's memory under lockdown=confidentiality (/sys/kernel/security/lockdown)");
		return program;
	}
	if (program < 0)
		return pin_refused(err, program,
				   "cannot load a program for %s", name);
	link = bpf_raw_tracepoint_open(name, program);
	close(program);
	return link < 0 ? pin_refused(err, link, "cannot attach to %s", name) :
			  link;
}

#define FOLLOWED_MAX	16384		/* processes at a time */
#define CGROUP_ROOT	"/sys/fs/cgroup"

bool filters_given(const struct job_settings *settings)
{
	return settings->pid_count || settings->cgroups.count ||
	       settings->filter.comm_count || settings->filter.uid_count;
}

bool filters_can_follow(void)
{
	return process_ids_are_of_host() && !access(BTF_VMLINUX, R_OK);
}

static int pids_check(const struct job_settings *settings, struct error *err)
{
	char path[32];

	if (!process_ids_are_of_host()) {
		error_set(err, -EOPNOTSUPP,
			  "--pid needs the host's process ids, and this is another pid namespace");
		error_hint(err, "run trace on the host, or choose by --comm, --uid or --cgroup");
		return -EOPNOTSUPP;
	}
	for (unsigned int i = 0; i < settings->pid_count; i++) {
		snprintf(path, sizeof(path), "/proc/%u", settings->pids[i]);
		if (access(path, F_OK))
			return error_set(err, -ESRCH,
					 "there is no process %u (%#x)",
					 settings->pids[i], settings->pids[i]);
	}
	return 0;
}

/* Its directory, of cgroup v2: absolute, or as in /proc/PID/cgroup; or that of a
 * unit or container. */
static int cgroup_path(const char *name, char path[PATH_MAX],
		       struct error *err)
{
	static const char *const roots[] = {
		"", CGROUP_ROOT "/", CGROUP_ROOT "/unified/",
	};
	char full[PATH_MAX];
	struct statfs fs;
	int code = -ENOENT;

	for (unsigned int i = 0; i < 3; i++)
		if (snprintf(full, sizeof(full), "%s%s", roots[i], name) <
		    (int)sizeof(full) && realpath(full, path) &&
		    !statfs(path, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
			return 0;
	for (unsigned int i = 1; i < 3 && code == -ENOENT; i++) {
		if (!realpath(roots[i], full) || statfs(full, &fs) ||
		    fs.f_type != CGROUP2_SUPER_MAGIC)
			continue;
		code = unit_find(name, full, path, err);
	}
	if (code != -ENOENT)
		return code;
	error_set(err, -ENOENT, "there is no cgroup (v2), unit or container '%s'",
		  name);
	error_hint(err, "name its directory below " CGROUP_ROOT);
	return -ENOENT;
}

/* Its id, and how many levels it is below the root. */
static int cgroup_find(const char *name, __u64 *id, int *level,
		       struct error *err)
{
	char path[PATH_MAX], *slash;
	struct statfs fs;
	struct stat st;
	int code = cgroup_path(name, path, err);

	if (code)
		return code;
	if (stat(path, &st))
		return error_set(err, -errno, "cannot look at '%s': %s", path,
				 strerror(errno));
	*id = st.st_ino;
	*level = -1;
	do {
		++*level;
		slash = strrchr(path, '/');
		if (!slash)
			break;
		*slash = '\0';
	} while (*path && !statfs(path, &fs) &&
		 fs.f_type == CGROUP2_SUPER_MAGIC);
	return 0;
}

int filters_check(const struct job_settings *settings, struct error *err)
{
	int level, code = settings->pid_count ? pids_check(settings, err) : 0;
	__u64 id;

	for (unsigned int i = 0; i < settings->cgroups.count && !code; i++)
		code = cgroup_find(settings->cgroups.items[i], &id, &level,
				   err);
	return code;
}

uint32_t filters_link_pid(const struct job_settings *settings,
			  const struct features *features)
{
	return settings->pid_count == 1 && !settings->follow &&
	       features_multi_pid(features) ? settings->pids[0] : 0;
}

int filters_add_pids(const struct job_settings *settings, int fd,
		     struct error *err)
{
	uint32_t there = 0;
	int code = 0;

	for (unsigned int i = 0; i < settings->pid_count && !code; i++) {
		code = bpf_map_update_elem(fd, &(uint32_t){ settings->pids[i] },
					   &there, BPF_ANY);
		if (code)
			pin_refused(err, code, "cannot fill the map 'pids'");
	}
	return code;
}

/* Frame of both programs, offsets from r10 */
#define FRAME_CHILD	(-4)	/* process id */
#define FRAME_CURRENT	(-8)	/* process id */
#define FRAME_VALUE	(-12)	/* of an entry */
#define FRAME_LIVE	(-16)	/* threads that are alive */
#define FRAME_SIGNAL	(-24)	/* pointer */

struct follow_offsets {
	uint32_t tgid, signal, live;
};

/* sched_process_fork(parent, child): in the one that forks */
static void follow_emit_fork(struct emit *e, int pids,
			     const struct follow_offsets *offsets)
{
	emit_label end = emit_label_new(e);

	raw_tracepoint_member(e, BPF_REG_1, 1, offsets->tgid, FRAME_CHILD, 4);
	raw_tracepoint_current(e, FRAME_CURRENT);
	/* a thread */
	emit_load(e, 4, BPF_REG_1, BPF_REG_10, FRAME_CHILD);
	emit_jump_if(e, BPF_JEQ, BPF_REG_1, BPF_REG_0, end);
	emit_map(e, BPF_REG_1, pids);
	raw_tracepoint_frame(e, BPF_REG_2, FRAME_CURRENT);
	emit_call(e, BPF_FUNC_map_lookup_elem);
	emit_jump_imm(e, BPF_JEQ, BPF_REG_0, 0, end);
	emit_store_imm(e, 4, BPF_REG_10, FRAME_VALUE, 0);
	emit_map(e, BPF_REG_1, pids);
	raw_tracepoint_frame(e, BPF_REG_2, FRAME_CHILD);
	raw_tracepoint_frame(e, BPF_REG_3, FRAME_VALUE);
	emit_alu_imm(e, BPF_MOV, BPF_REG_4, BPF_ANY);
	emit_call(e, BPF_FUNC_map_update_elem);
	raw_tracepoint_end(e, end);
}

/* sched_process_exit(task): in each thread; its number is still taken */
static void follow_emit_exit(struct emit *e, int pids,
			     const struct follow_offsets *offsets)
{
	emit_label end = emit_label_new(e);

	raw_tracepoint_member(e, BPF_REG_1, 0, offsets->signal, FRAME_SIGNAL,
			      8);
	emit_load(e, 8, BPF_REG_3, BPF_REG_10, FRAME_SIGNAL);
	emit_alu_imm(e, BPF_ADD, BPF_REG_3, offsets->live);
	raw_tracepoint_read(e, FRAME_LIVE, 4);
	emit_load(e, 4, BPF_REG_1, BPF_REG_10, FRAME_LIVE);
	emit_jump_imm(e, BPF_JNE, BPF_REG_1, 0, end);
	raw_tracepoint_current(e, FRAME_CURRENT);
	emit_map(e, BPF_REG_1, pids);
	raw_tracepoint_frame(e, BPF_REG_2, FRAME_CURRENT);
	emit_call(e, BPF_FUNC_map_delete_elem);
	raw_tracepoint_end(e, end);
}

static int follow_attach(void (*emit)(struct emit *e, int pids,
				      const struct follow_offsets *offsets),
			 int pids, const struct follow_offsets *offsets,
			 const char *name, const struct run_dir *run,
			 const char *dir, struct error *err)
{
	struct emit e = { 0 };
	char path[PATH_MAX];
	int link, code;

	emit(&e, pids, offsets);
	link = raw_tracepoint_attach(&e, name, err);
	if (link < 0)
		return link;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	code = run_dir_pin(run, path, link, RUN_PIN_PRIVATE, err);
	close(link);
	return code;
}

/*
 * From now on a child of a process in the map `pids` is put there, and what
 * ends is taken out; by two links pinned in `dir`. 0, or a negative errno with
 * err set.
 */
static int follow_start(int pids, const struct run_dir *run, const char *dir,
			struct error *err)
{
	struct follow_offsets offsets;
	const struct btf_want wants[] = {
		{ "task_struct.tgid", &offsets.tgid },
		{ "task_struct.signal", &offsets.signal },
		{ "signal_struct.live", &offsets.live },
	};
	int code = raw_tracepoint_offsets(wants, 3, err);

	if (!code)
		code = follow_attach(follow_emit_exit, pids, &offsets,
				     "sched_process_exit", run, dir, err);
	return code ? code :
	       follow_attach(follow_emit_fork, pids, &offsets,
			     "sched_process_fork", run, dir, err);
}

int filters_make_pids(const struct job_settings *settings,
		      const struct run_dir *run, const char *dir, bool dry,
		      int *fd, struct error *err)
{
	char path[PATH_MAX];
	int code;

	*fd = bpf_map_create(BPF_MAP_TYPE_HASH, "pids", sizeof(uint32_t),
			     sizeof(uint32_t),
			     settings->follow ? FOLLOWED_MAX : SETTINGS_MOST,
			     NULL);
	if (*fd < 0)
		return pin_refused(err, *fd, "cannot make the map 'pids'");
	snprintf(path, sizeof(path), "%s/pids", dir);
	code = run_dir_pin(run, path, *fd, RUN_PIN_SHOWN, err);
	if (!code)
		code = filters_add_pids(settings, *fd, err);
	if (!code && settings->follow && !dry)
		code = follow_start(*fd, run, dir, err);
	return code;
}

int filters_make(struct body_filter *filter,
		 const struct job_settings *settings, uint32_t link_pid,
		 const struct run_dir *run, const char *dir, bool dry,
		 struct error *err)
{
	int code = 0;

	*filter = settings->filter;
	filter->pids_fd = -1;
	filter->cgroup_count = settings->cgroups.count;
	for (unsigned int i = 0; i < filter->cgroup_count && !code; i++)
		code = cgroup_find(settings->cgroups.items[i],
				   &filter->cgroups[i].id,
				   &filter->cgroups[i].level, err);
	if (!code && settings->pid_count && !link_pid)
		code = filters_make_pids(settings, run, dir, dry,
					 &filter->pids_fd, err);
	return code;
}
