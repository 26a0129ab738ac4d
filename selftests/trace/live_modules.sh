#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Where the traced module lies: at several paths, in another root, replaced
# while it is armed, without a build-id.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
. "$TOP/selftests/trace/caller.sh"
need_root
need mkfifo
make_caller

# Two copies, one session
cp "$TMP/caller" "$TMP/copy"
ln "$TMP/caller" "$TMP/linked"
status 0 "on with two modules" \
	trace on -m "$TMP/caller" -m "$TMP/copy" -m "$TMP/linked" "$TDF"
for program in caller copy linked; do
	echo w | "$TMP/$program" >/dev/null
done
is "$(figure recorded)" 3 "each file's hits are recorded once"
is "$(ls "$RASTRACE_RUN/armed")" "app" "in one session"
status 0 "off" trace off 'app(1)'
echo w | "$TMP/copy" >/dev/null
is "$(figure recorded)" 3 "off is off in both"
trace off --all
if status 0 "with perf_event links" trace on --attach perf -m "$TMP/caller" \
	-m "$TMP/copy" "$TDF"; then
	echo w | "$TMP/copy" >/dev/null
	is "$(figure recorded)" 1 "the same"
fi
trace off --all
cp "$TARGET" "$TMP/copy"
status 1 "one of them is another program" \
	trace on -m "$TMP/caller" -m "$TMP/copy" "$TDF"
like "$(cat "$TMP/err")" "build-id differs|content differs" "is refused"
is "$(ls "$RASTRACE_RUN/armed" 2>/dev/null)" "" "nothing is armed"
cp "$TDF" "$TMP/other.tdf"
status 1 "--module with two TDFs" trace on -m "$TMP/caller" "$TDF" "$TMP/other.tdf"
like "$(cat "$TMP/err")" "names the module of one TDF" "is refused"

# Replaced on disk while it runs: the process has the old one
start_caller
cp "$TARGET" "$TMP/new"
mv "$TMP/new" "$TMP/caller"
status 1 "the file has been replaced" trace on "$TDF"
status 0 "with --pid the one that runs is found" \
	trace on --pid "$CALLER_PID" "$TDF"
call w
is "$(figure recorded)" 1 "and recorded"
stop_caller
trace off --all
cp "$CALLER" "$TMP/caller"

# ... while it is armed: another file, which isn't
trace on "$TDF"
cp "$CALLER" "$TMP/new"
mv "$TMP/new" "$TMP/caller"
echo w | "$TMP/caller" >/dev/null
is "$(figure recorded)" 0 "a file that took its place isn't recorded"
like "$(trace query)" "replaced|another file" "query reports"
trace off --all

# A container: another root, where the recorded path leads to the program
if command -v unshare >/dev/null && command -v chroot >/dev/null &&
	command -v ldd >/dev/null && mkdir -p "$TMP/root$TMP" "$TMP/root/proc" && {
	for file in $(ldd "$TMP/caller" | grep -o '/[^ ]*'); do
		mkdir -p "$TMP/root${file%/*}" && cp "$file" "$TMP/root$file"
	done
	cp "$TMP/caller" "$TMP/root$TMP/caller"
	ln -s "$TMP/caller" "$TMP/root/link"
	rm "$TMP/caller"
	ln -s root/nowhere "$TMP/caller"
} && unshare -m true 2>/dev/null; then
	start_caller unshare -m chroot "$TMP/root"
	call w
	status 1 "in this root it isn't" trace on "$TDF"
	status 0 "in the process's it is" trace on --pid "$CALLER_PID" "$TDF"
	call wt
	is "$(figure recorded)" 2 "and recorded"
	trace off --all
	status 0 "--module /proc/PID/root/..." \
		trace on -m "/proc/$CALLER_PID/root/link" "$TDF"
	call wt
	is "$(figure recorded)" 2 "its symbolic links are followed in there"
	like "$(trace query)" "/proc/$CALLER_PID/root/link" "query names the path"
	stop_caller
	trace off --all
	rm "$TMP/caller"
	cp "$CALLER" "$TMP/caller"
else
	skip "another root" "no unshare, chroot or ldd"
fi

# An overlay: the program is found by either path
mkdir "$TMP/lower" "$TMP/upper" "$TMP/work" "$TMP/merged"
cp "$CALLER" "$TMP/lower/caller"
if mount -t overlay -o \
	"lowerdir=$TMP/lower,upperdir=$TMP/upper,workdir=$TMP/work" none \
	"$TMP/merged" 2>/dev/null; then
	status 0 "on in an overlay" trace on -m "$TMP/merged/caller" "$TDF"
	echo w | "$TMP/merged/caller" >/dev/null
	is "$(figure recorded)" 1 "is recorded"
	trace off --all
	# the probes' hold on it may end later
	umount -l "$TMP/merged"
else
	skip "overlayfs" "it can't be mounted here"
fi

# Without a build-id: by its content
if command -v objcopy >/dev/null &&
	objcopy --remove-section .note.gnu.build-id "$CALLER" "$TMP/caller" &&
	trcust "$TMP/app.tsf" >/dev/null 2>&1; then
	status 0 "without a build-id" trace on "$TDF"
	echo w | "$TMP/caller" >/dev/null
	is "$(figure recorded)" 1 "is recorded"
	trace off --all
	cp "$CALLER" "$TMP/caller"
	status 1 "another one" trace on "$TDF"
	like "$(cat "$TMP/err")" "content differs" "is refused by its content"
else
	skip "without a build-id" "no objcopy"
fi

# Two TDFs with a tracepoint in the same function
cp "$CALLER" "$TMP/caller"
trcust "$TMP/app.tsf" >/dev/null 2>&1
sed 's/MAJOR=196/MAJOR=195/' "$TMP/app.tsf" | make_tdf "$TMP/second.tsf"
status 0 "two TDFs at the same place" trace on "$TDF" "$TMP/second.tdf"
echo w | "$TMP/caller" >/dev/null
is "$(figure recorded 1) $(figure recorded 2)" "1 1" "both are recorded"
trace off "$TDF"
echo w | "$TMP/caller" >/dev/null
is "$(figure recorded 1) $(figure recorded 2)" "1 2" "and one alone"
trace off --all
tap_done
