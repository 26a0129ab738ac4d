#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# heapmon record and trace spool where memory runs out: they say so, leave nothing
# armed, and what is in a file that they leave can be read.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
. "$TOP/selftests/memory/fail_each.sh"
export MOST=6 FAIL_KEEPS=1 FAIL_BEFORE=:
# figures, times and addresses are others each time
export FAIL_FILTER="tr -d '0-9A-F.'"

cat >readable <<'SH'
for file in made/*; do
	[ -e "$file" ] || continue
	"$@" "$file" >read.out 2>&1
	[ $? -le 1 ] || {
		echo "$file: $*"
		cat read.out
		exit 1
	}
done
SH
cat >nothing <<'SH'
find "$RASTRACE_RUN" -mindepth 1 ! -name '*.debug' 2>/dev/null | grep . || exit 0
trace off --all
exit 1
SH
# works NAME COMMAND...: without a failure it ends with status 0, and not before
# it has come to what is looked at here
works() {
	name=$1
	shift
	rm -rf made/*
	(eval "$FAIL_BEFORE") >/dev/null 2>&1
	status 0 "$name: works" "$@"
	(eval "$FAIL_AFTER") || diag "$FAIL_AFTER"
	each "$name" "$@"
}
export FAIL_AFTER="sh ./nothing && sh ./readable heapmon report -s summary"
works "heapmon record" heapmon record -o made/file.ras -- /bin/ls /
works "heapmon record of a choice" heapmon record --sample 100 --min-size 8 \
	--no-types --depth 2 -o made/file.ras -- /bin/ls /
# The name is that of one process at a time; it lives long enough to be found, and
# has its libraries when it sleeps.
cp "$(command -v sleep)" ./sleeps
export FAIL_BEFORE='pkill -x sleeps; ./sleeps 3 &
	until grep -q nanosleep /proc/$!/wchan; do sleep 0.01; done'
works "heapmon record of a process" heapmon record --comm sleeps -o made/file.ras

make_app
trcust app.tsf >/dev/null 2>&1 || bail "app.tsf doesn't compile"
export FAIL_BEFORE='trace on app.tdf && ./target 3 >/dev/null'
export FAIL_AFTER="sh ./readable tracefmt -q && trace off --all >/dev/null &&
	sh ./nothing"
export MOST=1
works "trace spool" trace spool -o made/file.ras -t 1
works "trace spool, compressed" trace spool -o made/file.ras -z \
	-s 64K -t 1
tap_done
