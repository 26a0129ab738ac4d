/* SPDX-License-Identifier: GPL-2.0 */
/* How to arm: the options that `trace on` and `trace run` have in common. */
#ifndef TRACE_SETTINGS_H
#define TRACE_SETTINGS_H

#include "lib/arm/kernel/features.h"
#include "selection.h"

#define MAX_CPU_DEFAULT	50	/* per cent */
#define MAX_CPU_OFF	UINT32_MAX

#define SETTINGS_MOST	64	/* values of an option that may be repeated */

enum stacks_choice { STACKS_AUTO, STACKS_FRAMES };
enum reads_choice { READS_AUTO, READS_HELPER, READS_DIRECT };

struct settings_values {
	const char *items[SETTINGS_MOST];
	unsigned int count;
};

#define STACK_IDS_OFF	UINT32_MAX

struct job_settings {
	uint64_t bytes;			/* --buffer, 0: not given */
	struct settings_values modules;	/* --module */
	enum attach_choice attach;	/* --attach */
	enum reads_choice reads;	/* --reads */
	enum stacks_choice stacks;	/* --stacks */
	struct selection selection;	/* --minor, --group, --type */
	uint32_t pids[SETTINGS_MOST];	/* --pid */
	unsigned int pid_count;
	struct settings_values cgroups;	/* --cgroup */
	struct body_filter filter;	/* --comm, --uid */
	bool follow;			/* --follow */
	uint32_t context;		/* --context, RAS_CONTEXT_* */
	uint32_t context_depth;		/* frames of its stack */
	bool resident_only;		/* --resident-only */
	uint32_t aggregates;		/* --aggregates, 0: as usual */
	uint32_t stack_ids;		/* --stack-ids, STACK_IDS_OFF, or 0: as
					 * usual */
	uint32_t max_rate;		/* --max-rate, 0: no ceiling */
	struct settings_values stops;	/* --stop-on */
	struct settings_values snapshots;	/* --snapshot-on */
	const char *snapshot_file;	/* --snapshot-file, or NULL */
	struct settings_values runs;	/* --run-on */
	const char *run_command;	/* --run-command, or NULL */
	uint32_t at_most;		/* --at-most: so often ... */
	uint64_t at_most_span;		/* ... in so many ns; 0: not given */
	uint64_t duration;		/* --for, ns; 0: with a command */
	uint32_t max_hits;		/* --max-hits; 0: no limit */
	unsigned int max_cpu;		/* --max-cpu, per cent, MAX_CPU_OFF, or 0: not
					 * given */
	unsigned int max_cpu_new;	/* of a buffer that is made; 0: no limit */
	const char *group_read;		/* --group-read, or NULL */
};

/* One more value of an option; 0, or -1 after a message. */
int settings_add(struct settings_values *values, const char *option,
		 const char *value);

/* The values' `take` for options; context is struct job_settings. */
int settings_take_buffer(void *context, const char *value);
int settings_take_module(void *context, const char *value);
int settings_take_attach(void *context, const char *value);
int settings_take_reads(void *context, const char *value);
int settings_take_stacks(void *context, const char *value);
int settings_take_minor(void *context, const char *value);
int settings_take_group(void *context, const char *value);
int settings_take_type(void *context, const char *value);
int settings_take_pid(void *context, const char *value);
int settings_take_comm(void *context, const char *value);
int settings_take_cgroup(void *context, const char *value);
int settings_take_uid(void *context, const char *value);
int settings_take_context(void *context, const char *value);
int settings_take_aggregates(void *context, const char *value);
int settings_take_stack_ids(void *context, const char *value);
int settings_take_rate(void *context, const char *value);
int settings_take_stop(void *context, const char *value);
int settings_take_cpu(void *context, const char *value);
int settings_take_snapshot(void *context, const char *value);
int settings_take_run(void *context, const char *value);
int settings_take_most(void *context, const char *value);
int settings_take_for(void *context, const char *value);
int settings_take_hits(void *context, const char *value);

/* What a trigger does needs the other option of the pair: what is wrong, or
 * NULL. */
const char *settings_triggers_check(const struct job_settings *settings);

#define SETTINGS_SELECTION \
	{ "minor", 0, "LIST", \
	  "select these minor codes of each target: 1,0x10,20-29; may be repeated", \
	  settings_take_minor }, \
	{ "group", 0, "LIST", "select the tracepoints of these groups", \
	  settings_take_group }, \
	{ "type", 0, "LIST", \
	  "select the tracepoints of one of these types; with --group, both must match", \
	  settings_take_type }

/* help = that of --follow */
#define SETTINGS_OPTIONS(help) \
	{ "buffer", 'b', "SIZE", \
	  "bytes of the buffer per CPU, 64K to 256M, a power of two (default 1M)", \
	  settings_take_buffer }, \
	{ "module", 'm', "PATH", \
	  "path of the traced program or library; may be repeated", \
	  settings_take_module }, \
	{ "attach", 0, "KIND", \
	  "attach probes with uprobe_multi or perf_event links: auto|multi|perf", \
	  settings_take_attach }, \
	{ "reads", 0, "HOW", \
	  "read memory of processes by calls or without: auto|helper|direct", \
	  settings_take_reads }, \
	{ "stacks", 0, "HOW", \
	  "find callers by tables of call frame information, or by frame pointers only: auto|frames", \
	  settings_take_stacks }, \
	SETTINGS_SELECTION, \
	{ "pid", 'p', "PID", "record only this process; may be repeated", \
	  settings_take_pid }, \
	{ "comm", 0, "NAME", "record only threads with this name", \
	  settings_take_comm }, \
	{ "cgroup", 0, "NAME", \
	  "record only this cgroup (a path), systemd unit or container, and what is below it", \
	  settings_take_cgroup }, \
	{ "uid", 0, "USER", "record only processes of this user", \
	  settings_take_uid }, \
	{ "follow", 0, NULL, help, \
	  OPTION_PLACE(struct job_settings, follow) }, \
	{ "context", 0, "LIST", \
	  "add these to each record, also stack:DEPTH: comm|uid|cgroup|cpu|ppid|stack", \
	  settings_take_context }, \
	{ "resident-only", 0, NULL, \
	  "do not bring absent memory in; the record marks it", \
	  OPTION_PLACE(struct job_settings, resident_only) }, \
	{ "aggregates", 0, "N", \
	  "room for N keys of aggregates in each TDF (default 16384)", \
	  settings_take_aggregates }, \
	{ "stack-ids", 0, "N", \
	  "room for N stacks that come again in each TDF (default 8192); 0: none", \
	  settings_take_stack_ids }, \
	{ "max-rate", 0, "N", \
	  "limit each tracepoint to N records per second", \
	  settings_take_rate }, \
	{ "max-hits", 0, "N", \
	  "disarm each tracepoint after N records", settings_take_hits }, \
	{ "stop-on", 0, "POINT", \
	  "stop all recording when this is hit: app(5) or app(5):after 100", \
	  settings_take_stop }

#endif
