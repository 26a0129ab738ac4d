// SPDX-License-Identifier: GPL-2.0
/*
 * Hits of other processes than those asked for are counted as filtered, and
 * nothing else happens; any of each kind that is given will do, all kinds must.
 */
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include "bed.h"

#define NAME	"filter\0\0\0\0\0\0\0\0\0"
#define OTHER	"filterx\0\0\0\0\0\0\0\0"	/* begins the same */
#define LONG	"filter-and-more"		/* the first word is equal */

static struct body_filter filter;

static void filter_clear(void)
{
	memset(&filter, 0, sizeof(filter));
	filter.pids_fd = -1;
}

static void prepare(struct bed *bed)
{
	bed_clear(bed);
	bed->input.cookie = RAS_COOKIE(0x11, 1, 0);
	bed_input(bed);
	bed_reg(bed, 0, 8);
	bed->target.filter = &filter;
}

/* Is the hit recorded, or filtered as of another process? -1: neither. */
static int recorded(struct bed *bed)
{
	struct bed_counts before = bed_counts(bed, 1), after;
	uint64_t hits;
	int prog;

	prepare(bed);
	prog = bed_load(bed);
	if (prog < 0) {
		tap_diag("%s", bed->log);
		return -1;
	}
	bed_run(prog);
	close(prog);
	after = bed_counts(bed, 1);
	hits = bed_filtered(&after.why) - bed_filtered(&before.why);
	if (bed_slice(bed)->lock)
		return -1;
	if (after.count.recorded == before.count.recorded + 1 && !hits)
		return 1;
	return after.count.recorded == before.count.recorded && hits == 1 &&
	       after.why.filtered[RAS_FILTERED_PROCESS] ==
	       before.why.filtered[RAS_FILTERED_PROCESS] + 1 ? 0 : -1;
}

static void test_uids(struct bed *bed)
{
	static const uint32_t others[BODY_FILTERS] = {
		1, 1000, 65534, 0x7fffffff, 0x80000000, 0xfffffffe, 2, 3,
	};

	filter_clear();
	memcpy(filter.uids, others, sizeof(others));
	filter.uid_count = BODY_FILTERS;
	tap_is(recorded(bed), 0, "other users");
	filter.uids[BODY_FILTERS - 1] = geteuid();
	tap_is(recorded(bed), 1, "the last of them is this one");
	filter.uid_count = BODY_FILTERS - 1;
	if (setresuid(0x80000000u, -1, -1)) {
		tap_skip("user ids above 2^31", strerror(errno));
		return;
	}
	tap_is(recorded(bed), 1, "user ids above 2^31");
	setresuid(0, -1, -1);
}

static void test_comms(struct bed *bed)
{
	filter_clear();
	prctl(PR_SET_NAME, NAME);
	memcpy(filter.comms[0], OTHER, 16);
	memcpy(filter.comms[1], LONG, 16);
	filter.comm_count = 2;
	tap_is(recorded(bed), 0, "other names");
	memcpy(filter.comms[2], NAME, 16);
	filter.comm_count = 3;
	tap_is(recorded(bed), 1, "the last of them is this one");
	prctl(PR_SET_NAME, LONG);
	tap_is(recorded(bed), 1, "a name of fifteen letters");
	filter.comm_count = 1;
	tap_is(recorded(bed), 0, "and not that");
}

static void test_pids(struct bed *bed)
{
	uint32_t pid = getpid(), one = 1;
	uint8_t value = 0;

	filter_clear();
	filter.pids_fd = bed_hash("pids", BPF_MAP_TYPE_HASH, 4, 1, 16);
	tap_is(recorded(bed), 0, "no process");
	bpf_map_update_elem(filter.pids_fd, &one, &value, 0);
	tap_is(recorded(bed), 0, "another process");
	bpf_map_update_elem(filter.pids_fd, &pid, &value, 0);
	tap_is(recorded(bed), 1, "and this one");
}

/* Each kind holds or doesn't. */
static void test_kinds(struct bed *bed)
{
	int pids = bed_hash("pids", BPF_MAP_TYPE_HASH, 4, 1, 16);
	uint32_t pid = getpid(), wrong = 0;
	uint8_t value = 0;

	prctl(PR_SET_NAME, NAME);
	for (int kinds = 1; kinds < 16; kinds++)
		for (int holds = 0; holds < 16; holds++) {
			filter_clear();
			filter.uid_count = kinds & 1;
			filter.uids[0] = holds & 1 ? geteuid() : 4711;
			filter.comm_count = kinds >> 1 & 1;
			memcpy(filter.comms[0], holds & 2 ? NAME : OTHER, 16);
			filter.cgroup_count = kinds >> 2 & 1;
			filter.cgroups[0].id = holds & 4 ? 1 : 2;
			if (kinds & 8)
				filter.pids_fd = pids;
			if (holds & 8)
				bpf_map_update_elem(pids, &pid, &value, 0);
			else
				bpf_map_delete_elem(pids, &pid);
			wrong += recorded(bed) != ((kinds & ~holds) == 0);
		}
	tap_is(wrong, 0, "all kinds that are given must hold");
	close(pids);
}

static void write_pid(const char *folder)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	f = fopen(path, "w");
	if (f)
		fprintf(f, "%d\n", getpid());
	if (!f || fclose(f))
		tap_diag("cannot write '%s'", path);
}

static void cgroup_rows(struct bed *bed, const char *outer, const char *inner)
{
	struct stat st[2];

	stat(outer, &st[0]);
	stat(inner, &st[1]);
	filter_clear();
	filter.cgroup_count = 3;
	filter.cgroups[0].id = 0x100000001;
	filter.cgroups[1].id = st[0].st_ino;
	filter.cgroups[1].level = filter.cgroups[2].level = 1;
	filter.cgroups[2].id = st[1].st_ino;
	tap_is(recorded(bed), 0, "other cgroups");
	write_pid(inner);
	tap_is(recorded(bed), 1, "a cgroup below one of them");
	filter.cgroups[1].level = 2;
	tap_is(recorded(bed), 0, "it isn't that at another level");
	filter.cgroups[2].level = 2;
	tap_is(recorded(bed), 1, "the inner one itself");
	filter.cgroups[2].level = 9;
	tap_is(recorded(bed), 0, "a level that there isn't");
}

static void test_cgroups(struct bed *bed)
{
	char root[] = "/tmp/rastrace.XXXXXX", outer[64], inner[96];

	if (!mkdtemp(root))
		tap_bail("cannot make a folder");
	snprintf(outer, sizeof(outer), "%s/rastrace-%d", root, getpid());
	snprintf(inner, sizeof(inner), "%s/inner", outer);
	if (mount("cgroup2", root, "cgroup2", 0, NULL) || mkdir(outer, 0700) ||
	    mkdir(inner, 0700)) {
		tap_skip("cgroups", strerror(errno));
	} else {
		cgroup_rows(bed, outer, inner);
		write_pid(root);
		rmdir(inner);
	}
	rmdir(outer);
	umount2(root, MNT_DETACH);
	rmdir(root);
}

/* Whose hits aren't wanted doesn't reach IF, PASSCOUNT and what they read. */
static void test_order(struct bed *bed)
{
	struct ras_why before = *bed_why(bed, 1), *why = bed_why(bed, 1);
	int prog;

	filter_clear();
	filter.uid_count = 1;
	filter.uids[0] = 4711;
	bed_clear(bed);
	bed->point.passcount = 5;
	bed_memory(bed, TDF_STMT_IF, 0, RPN(OP_lit, OP_deref));
	prog = bed_load(bed);
	bed_run(prog);
	close(prog);
	tap_ok(!bed->limits[1].passed && bed_faults(why) == bed_faults(&before)
	       && bed_filtered(why) == bed_filtered(&before) + 1,
	       "processes are looked at first");
}

int main(void)
{
	static struct bed bed;

	bed_open(&bed, BODY_TEST);
	test_uids(&bed);
	test_comms(&bed);
	test_pids(&bed);
	test_kinds(&bed);
	test_cgroups(&bed);
	test_order(&bed);
	return tap_done();
}
