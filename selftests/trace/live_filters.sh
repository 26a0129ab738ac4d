#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Which processes are recorded: --pid, --follow, --comm, --uid, --cgroup.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
. "$TOP/selftests/trace/caller.sh"
need_root
need mkfifo
make_caller
start_caller

other() {
	printf 'w\nt\n' | "$TMP/caller" >/dev/null
}

# recorded OPTIONS: how many of the caller's calls, and another process's
recorded() {
	calls=$1
	shift
	trace on "$@" "$TDF" 2>"$TMP/err" || {
		cat "$TMP/err"
		return
	}
	call "$calls"
	other
	figure recorded
	trace off "$TDF"
	trace clear
}

is "$(recorded wtcg)" 6 "all without a filter"
is "$(recorded wtcg --pid $CALLER_PID)" 2 \
	"--pid: both threads, and no child, nor another process"
is "$(recorded wtcg --attach perf --pid $CALLER_PID)" 2 \
	"--pid with perf_event links"
is "$(recorded wt --pid 1 --pid $CALLER_PID)" 2 "several --pid"
is "$(recorded we --pid $CALLER_PID)" 2 "--pid: when it executes another program"
is "$(recorded w --pid $$)" 0 "--pid of another process"
is "$(recorded wtcg --comm caller)" 4 "--comm: threads, not processes"
is "$(recorded wtcg --comm worker)" 2 "--comm of a thread"
is "$(recorded wtcg --comm worker --pid $CALLER_PID)" 1 "--comm and --pid: both"
is "$(recorded wt --comm worker --comm caller)" 4 "--comm or --comm"
is "$(recorded wt --uid 0)" 4 "--uid"
is "$(recorded wt --uid root)" 4 "--uid by name"
is "$(recorded wt --uid 12345)" 0 "--uid of somebody else"

# What is filtered is counted
trace on --pid 1 --pid "$CALLER_PID" "$TDF"
other
is "$(figure hits) $(figure filtered)" "2 2" "filtered hits are counted"
like "$(trace query)" "filtered: 2 process" "and reported"
trace off "$TDF"
trace clear

# Children
if [ -e /sys/kernel/btf/vmlinux ]; then
	is "$(recorded wcg --pid $CALLER_PID --follow)" 3 \
		"--follow: children, and theirs"
	trace on --pid "$CALLER_PID" --follow "$TDF"
	call cgcg
	if command -v bpftool >/dev/null; then
		is "$(bpftool map dump pinned "$RASTRACE_RUN/armed/app/pids" |
			grep -c key:)" 1 "who has ended is out of the set"
	fi
	trace off "$TDF"
	trace clear
	is "$(find "$RASTRACE_RUN" -name 'sched*' | wc -l)" 0 \
		"the links go with the session"
else
	status 1 "--follow without type information" \
		trace on --pid "$CALLER_PID" --follow "$TDF"
	like "$(cat "$TMP/err")" "needs a kernel with type information" "says so"
fi

refused() {
	wanted=$1
	shift
	status 1 "$* is refused" trace on "$@" "$TDF"
	like "$(cat "$TMP/err")" "$wanted" "and says why"
}

# Control groups: the process, and those below
group=
root=$(sed -n 's/^[^ ]* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -1)
if [ -z "$root" ] && mkdir "$TMP/cgroup" &&
	mount -t cgroup2 none "$TMP/cgroup" 2>/dev/null; then
	root=$TMP/cgroup
fi
[ -n "$root" ] && mkdir "$root/rastrace_$$" 2>/dev/null &&
	group=$root/rastrace_$$
if [ -n "$group" ] && mkdir "$group/inner" &&
	echo "$CALLER_PID" >"$group/inner/cgroup.procs"; then
	is "$(recorded wc --cgroup "$group/inner")" 2 "--cgroup"
	is "$(recorded wc --cgroup "$group")" 2 "--cgroup above"
	mkdir "$group/beside"
	is "$(recorded wc --cgroup "$group/beside")" 0 "--cgroup beside"
	is "$(recorded wc --cgroup "$group/beside" --cgroup "$group/inner")" 2 \
		"--cgroup or --cgroup"
	case $root in
	/sys/fs/cgroup | /sys/fs/cgroup/unified)
		id=$(printf '%064d' $$ | tr 0-9 a-f0-3)
		unit=$group/docker-$id.scope
		mkdir "$unit"
		echo "$CALLER_PID" >"$unit/cgroup.procs"
		is "$(recorded wc --cgroup "$id")" 2 "a container by its id"
		is "$(recorded wc --cgroup "${group##*/}")" 2 "a unit by its name"
		mkdir "$group/beside/libpod-$id.scope"
		refused "2 units or containers are named '$id'" --cgroup "$id"
		rmdir "$group/beside/libpod-$id.scope"
		# their names are in files of docker and podman
		mkdir -p "$TMP/lib/docker/containers/$id" \
			"$TMP/lib/containers/storage/overlay-containers"
		echo '{"ID": "x", "Config": {"Name":"/in"}, "Name": "/web"}' \
			>"$TMP/lib/docker/containers/$id/config.v2.json"
		echo "[{\"id\":\"$(printf %064d 0)\",\"names\":[\"no\"]},
			{\"id\":\"$id\",\"names\":[\"a\",\"db\"]}]" \
			>"$TMP/lib/containers/storage/overlay-containers/containers.json"
		for name in web db; do
			status 0 "a container by its name: $name" unshare -m sh -c \
				'mount --bind "$1" /var/lib && trace on -n --cgroup "$2" "$3"' \
				sh "$TMP/lib" $name "$TDF"
		done
		for name in we in; do
			status 1 "no container: $name" unshare -m sh -c \
				'mount --bind "$1" /var/lib && trace on -n --cgroup "$2" "$3"' \
				sh "$TMP/lib" $name "$TDF"
		done
		echo "$CALLER_PID" >"$group/inner/cgroup.procs"
		rmdir "$unit"
		;;
	*) skip "units and containers" "cgroup v2 is not in /sys/fs/cgroup" ;;
	esac
else
	skip "--cgroup" "no cgroup v2 that can be written"
fi
stop_caller
[ -z "$group" ] || rmdir "$group"/*/ "$group" 2>/dev/null
[ "$root" != "$TMP/cgroup" ] || umount "$root"

# What is wrong
refused "no process 4194303 \(0x3fffff\)" --pid 4194303
refused "no cgroup \(v2\), unit or container '$TMP'" --cgroup "$TMP"
refused "children of a --pid" --follow
misused() {
	status 2 "$* is misuse" trace on "$@" "$TDF"
}
misused --pid 0x10
misused --pid 0
misused --uid no-such-user
misused --comm ""
misused --context=tid
misused --context=stack:33
misused --context=comm:2
misused --max-rate 0
misused --max-cpu 101
# what a process is called depends on who looks
if unshare --pid --fork true 2>/dev/null; then
	status 1 "--pid in another pid namespace" \
		unshare --pid --fork trace on "$TDF" --pid 1
	like "$(cat "$TMP/err")" "--pid needs the host's process ids" "  is reported"
	like "$(cat "$TMP/err")" "run trace on the host" "  and what to do"
else
	skip "--pid in another pid namespace" "no unshare"
fi
trace off --all
is "$(pins)" "" "nothing is left"
tap_done
