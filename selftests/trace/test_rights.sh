#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Who may do what: root, a user with CAP_BPF and CAP_PERFMON in a directory of
# his own, a member of the group of --group-read, and everybody else.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
need setpriv
make_app
chmod 755 "$TMP" "$TMP/target"
chmod 644 "$TMP"/app.* "$TMP"/*.TFF
USER_ID=54321 GROUP_ID=54322 OTHER_ID=54323

# as UID GID CAPABILITIES COMMAND...: no other's groups
as() {
	uid=$1 gid=$2 caps=-all$3
	shift 3
	setpriv --reuid "$uid" --regid "$gid" --clear-groups \
		--inh-caps "$caps" --ambient-caps "$caps" \
		--bounding-set "$caps" -- "$@"
}

# user COMMAND...: with what tracing needs, and nothing else
user() {
	as $USER_ID $USER_ID ,+bpf,+perfmon "$@"
}

# member COMMAND...: no capability, the group
member() {
	as $OTHER_ID $GROUP_ID "" "$@"
}

# stranger COMMAND...: nothing at all
stranger() {
	as $OTHER_ID $OTHER_ID "" "$@"
}

stranger true 2>/dev/null || skip_all "setpriv can't set what it should"
if ! user true 2>/dev/null; then
	skip_all "this kernel or setpriv has no CAP_BPF"
fi

# modes DIRECTORY: each entry's mode and group; kernels add *.debug
modes() {
	find "$1" -mindepth 1 ! -name '*.debug' -printf '%m %G %P\n' | sort
}

# --- a user with a directory of his own
mkdir "$TMP/bpf"
mount -t bpf -o mode=0755 bpf "$TMP/bpf" || bail "no bpffs"
mkdir "$TMP/bpf/mine"
chmod 700 "$TMP/bpf/mine"
chown $USER_ID:$USER_ID "$TMP/bpf/mine"
cleanup() {
	trace off --all
	user "$BIN/trace" --pin-dir "$TMP/bpf/mine" off --all
	umount -l "$TMP/bpf" "$RASTRACE_RUN" 2>/dev/null
}
mkdir "$TMP/out.d"
chown $USER_ID "$TMP/out.d"
mine="$BIN/trace --pin-dir $TMP/bpf/mine"

# shellcheck disable=SC2086
{
status 0 "a user arms" user $mine on "$TDF"
"$TMP/target" 5
status 0 "  and queries" user $mine query
like "$(cat "$TMP/out")" "^ +1 +on +5 " "  5 hits"
status 0 "  and gets" user $mine get "$TMP/out.d/app.ras"
is "$(tracefmt "$TMP/out.d/app.ras" 2>/dev/null | grep -c '^Event')" 5 \
	"  5 records"
is "$(user env RASTRACE_RUN="$TMP/bpf/mine" "$BIN/tracefmt" 2>/dev/null |
	grep -c '^Event')" 5 "  which tracefmt prints from the live buffer"
is "$(modes "$TMP/bpf/mine" | grep -v '^[67]00 ')" "" \
	"all that was made is 0600 or 0700"
status 0 "  and suspends" user $mine suspend
status 0 "  and clears" user $mine clear
status 0 "  and disarms" user $mine off "$TDF"
status 0 "  and removes everything" user $mine off --all
is "$(modes "$TMP/bpf/mine")" "" "  nothing is left"
status 1 "not in a directory of another user's" \
	as $OTHER_ID $OTHER_ID ,+bpf,+perfmon $mine on "$TDF"
status 1 "nor root there" $mine on "$TDF"
like "$(cat "$TMP/err")" "belongs to user $USER_ID" "  message"
status 1 "without the capabilities not even in his own" \
	as $USER_ID $USER_ID "" $mine on "$TDF"
is "$(modes "$TMP/bpf/mine")" "" "  nothing is left"
}

# --- his keeper: the kernel doesn't measure programs for him
# shellcheck disable=SC2086
{
status 0 "a user arms with --max-cpu" user $mine on --max-cpu 5 "$TDF"
"$TMP/target" 2000000000 &
target=$!
tries=0
until user $mine query --json | grep -q '"state": "muted"' ||
	[ $tries -gt 50 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
like "$(user $mine query --json)" '"state": "muted"' \
	"  the hot tracepoint is muted"
kill $target
wait $target 2>/dev/null
status 0 "  off" user $mine off --all
is "$(modes "$TMP/bpf/mine")" "" "  nothing is left"
}

# --- two at once, in a directory that no lock fits beside
user mkdir "$TMP/bpf/mine/lock"
# shellcheck disable=SC2086
{
user sh -c 'exec 9<"$0" && flock 9 && echo $$ >"$1" && exec sleep 20' \
	"$TMP/bpf/mine/lock" "$TMP/out.d/locked" &
tries=0
until [ -s "$TMP/out.d/locked" ] || [ $tries -gt 50 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
status 1 "two at once: a lock" user $mine on "$TDF"
like "$(cat "$TMP/err")" "another trace \(process [0-9]+\) is at work" \
	"  that reports who has it"
kill "$(cat "$TMP/out.d/locked")"
wait
status 0 "  which goes with its holder" user $mine on "$TDF"
status 0 "  off" user $mine off --all
}

# --- everybody else
status 0 "root arms" trace on "$TDF"
"$TMP/target" 7
like "$(stat -c %a "$RASTRACE_RUN")" "^1?700$" "the run directory is 0700"
is "$(modes "$RASTRACE_RUN" | grep -v '^[67]00 ')" "" "and all in it 0600 or 0700"
secret='197|work|session|app[.]tdf.*armed|[0-9]+ hits'
for command in "on $TDF" "off $TDF" "off --all" query "query --json" \
	"get $TMP/none.ras" suspend resume clear "run $TDF -- true"; do
	# shellcheck disable=SC2086
	status 1 "a stranger can't $command" stranger "$BIN/trace" $command
	unlike "$(cat "$TMP/out" "$TMP/err")" "$secret" \
		"  and learns nothing"
done
# shellcheck disable=SC2086
like "$(stranger "$BIN/trace" query 2>&1)" "cannot look into" "  he may not look"
status 1 "nor tracefmt" stranger "$BIN/tracefmt"
status 1 "nor with the capabilities alone" user "$BIN/trace" query
status 1 "nor arm there with them" user "$BIN/trace" on "$TDF"
is "$(figure recorded)" 7 "nothing has changed"
trace off --all

# --- a group
status 1 "a group that isn't there" trace on --group-read no-such-group "$TDF"
like "$(cat "$TMP/err")" "no group 'no-such-group'" "  message"
if [ "$(cat /proc/sys/kernel/unprivileged_bpf_disabled)" = 0 ]; then
	status 1 "no group where everybody may load programs" \
		trace on --group-read $GROUP_ID "$TDF"
	tap_done
fi
status 0 "on --group-read" trace on --group-read $GROUP_ID "$TDF"
"$TMP/target" 9
is "$(modes "$RASTRACE_RUN" | grep -Ev '^[67]00 0 ' |
	grep -Ev "^(750|640|660) $GROUP_ID ")" "" \
	"what isn't private is the group's"
is "$(modes "$RASTRACE_RUN" | grep '^660' | sed 's/.* //' | tr '\n' ' ')" \
	"buffer nest " "only the frozen maps can be opened for more than reading"
status 0 "a member queries" member "$BIN/trace" query
like "$(cat "$TMP/out")" "^ +1 +on +9 " "  9 hits"
chown $OTHER_ID "$TMP/out.d"
status 0 "  gets" member "$BIN/trace" get "$TMP/out.d/member.ras"
is "$(tracefmt "$TMP/out.d/member.ras" 2>/dev/null | grep -c '^Event')" 9 \
	"  9 records"
is "$(member "$BIN/tracefmt" 2>/dev/null | grep -c '^Event')" 9 \
	"  prints the live buffer"
for command in "on $TDF" "off $TDF" "off --all" suspend resume clear; do
	# shellcheck disable=SC2086
	status 1 "  but not $command" member "$BIN/trace" $command
done
is "$(figure recorded) $(figure state)" '9 "on"' "nothing has changed"
status 1 "a stranger doesn't" stranger "$BIN/trace" query
status 1 "the group can't change while something is armed" \
	trace on --group-read 0 "$TMP/app.tdf"
like "$(cat "$TMP/err")" "group can't change" "  message"
trace off "$TDF"
is "$(member "$BIN/tracefmt" 2>/dev/null | grep -c '^Event')" 9 \
	"after off he prints them, too"
like "$(member "$BIN/trace" query)" "^ +1 +off +9 " "  and queries"
trace off --all
status 2 "after off --all he may not even look" member ls "$RASTRACE_RUN"

# --- files that another user has put where root writes
mkdir "$TMP/all.d"
# without the sticky bit, with which fs.protected_* may refuse them
chmod 777 "$TMP/all.d"
umask 077
trace on "$TDF"
"$TMP/target" 3
# planted NAME: a file there that all may read and write
planted() {
	rm -f "$TMP/all.d/$1"
	stranger sh -c ': >"$0" && chmod 666 "$0"' "$TMP/all.d/$1"
}
# private NAME
private() {
	is "$(stat -c '%u %a' "$TMP/all.d/$1")" "0 600" "  which is root's alone"
}
planted app.ras
status 0 "get writes a file of its own" trace get "$TMP/all.d/app.ras"
private app.ras
planted app.txt
status 0 "tracefmt -o, too" tracefmt -q -o "$TMP/all.d/app.txt"
private app.txt
planted pipe.txt
ok "tracefmt -o of a pipe, too" sh -c 'trace get - | tracefmt -q -o "$0" -' \
	"$TMP/all.d/pipe.txt"
private pipe.txt
planted spool.ras
status 0 "spool, too" trace spool -t 1 -o "$TMP/all.d/spool.ras"
private spool.ras
planted run.ras
status 0 "run, too" trace run -o "$TMP/all.d/run.ras" "$TDF" -- "$TMP/target" 1
private run.ras
stranger mkfifo -m 666 "$TMP/all.d/fifo"
exec 9<>"$TMP/all.d/fifo"
for command in "trace get" "tracefmt -q -o" "trace spool -t 1 -o" \
	"trace run $TDF -o"; do
	case $command in *run*) target="-- $TMP/target 1" ;; *) target= ;; esac
	# shellcheck disable=SC2086
	status 1 "$command FIFO" timeout 60 $command "$TMP/all.d/fifo" $target
	like "$(cat "$TMP/err")" "is a FIFO of another user" "  is refused"
done
exec 9<&-
umask 022
trace off --all

# --- planted pins
status 0 "root arms again" trace on "$TDF"
chown $OTHER_ID "$RASTRACE_RUN/sessions"
status 1 "a pin of another user is refused" trace query
like "$(cat "$TMP/err")" "wrong owner" "  message"
status 1 "  by tracefmt, too" tracefmt
chown 0 "$RASTRACE_RUN/sessions"
mv "$RASTRACE_RUN/control" "$RASTRACE_RUN/other"
mv "$RASTRACE_RUN/processes" "$RASTRACE_RUN/control"
status 1 "a pin of another type is refused" trace query
like "$(cat "$TMP/err")" "not an array" "  message"
status 0 "off --all removes it all" trace off --all
is "$(pins)" "" "  nothing is left"
tap_done
