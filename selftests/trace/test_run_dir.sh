#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The run directory: under what names it is found, and where trace must not
# mount one.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
make_app
run=$RASTRACE_RUN

# mounted DIRECTORY: a bpffs is mounted there
mounted() {
	grep -q " $1 bpf " /proc/mounts
}

# --- slashes at the end
export RASTRACE_RUN="$run//"
status 0 "on, with slashes at the end" trace on "$TDF"
ok "the lock is beside the directory" test -e "$run.lock"
ok "and not in it" test ! -e "$run/.lock"
status 0 "off, with slashes at the end" trace off "$TDF"
export RASTRACE_RUN="$run"
status 0 "on, without" trace on "$TDF"
status 0 "off --all" trace off --all

# --- what isn't ours is not covered
mkdir "$TMP/full"
: >"$TMP/full/file"
status 1 "a directory with files in it" \
	env RASTRACE_RUN="$TMP/full" "$BIN/trace" on "$TDF"
like "$(cat "$TMP/err")" "isn't empty" "  message"
ok "  nothing is mounted there" test -e "$TMP/full/file"
mkdir "$TMP/empty"
ln -s "$TMP/empty" "$TMP/link"
for command in "on $TDF" query "off --all"; do
	# shellcheck disable=SC2086
	status 1 "$command through a symbolic link" \
		env RASTRACE_RUN="$TMP/link" "$BIN/trace" $command
	like "$(cat "$TMP/err")" "symbolic link" "  message"
done
ok "  nothing is mounted after it" sh -c "! grep -q ' $TMP/empty ' /proc/mounts"
ln -s "$run" "$TMP/other"
status 1 "a symbolic link to a run directory" \
	env RASTRACE_RUN="$TMP/other" "$BIN/trace" on "$TDF"
ok "the one it leads to is still there" mounted "$run"

# --- what is no directory of ours gets no lock beside it
mkdir "$TMP/place"
: >"$TMP/place/file"
status 1 "a file" env RASTRACE_RUN="$TMP/place/file" "$BIN/trace" on "$TDF"
like "$(cat "$TMP/err")" "'$TMP/place/file' is no directory" "  message"
mkdir "$TMP/place/full"
: >"$TMP/place/full/file"
status 1 "a directory that isn't empty" \
	env RASTRACE_RUN="$TMP/place/full" "$BIN/trace" on "$TDF"
is "$(ls "$TMP/place")" "file
full" "  nothing is left beside them"
if command -v setpriv >/dev/null; then
	chmod 755 "$TMP"
	chmod 777 "$TMP/place"
	status 1 "who may not mount" setpriv --reuid 54321 --regid 54321 \
		--clear-groups --inh-caps -all --bounding-set -all -- \
		env RASTRACE_RUN="$TMP/place/run" "$BIN/trace" on "$TDF"
	is "$(ls "$TMP/place")" "file
full" "  neither lock nor directory are left"
else
	skip "who may not mount" "no setpriv"
fi

# --- without /proc, through which probes are placed
if command -v unshare >/dev/null; then
	# shellcheck disable=SC2016
	status 1 "on without /proc" unshare -m sh -c \
		'umount -l /proc && exec "$0" on "$1"' "$BIN/trace" "$TDF"
	like "$(cat "$TMP/err")" "is /proc mounted" "  hint"
	like "$(trace query)" "nothing is armed" "  nothing is armed"
else
	skip "on without /proc" "no unshare"
fi
tap_done
