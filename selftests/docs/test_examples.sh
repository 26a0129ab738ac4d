#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every man page's EXAMPLES are run: by the test that `elsewhere` names, or here,
# each command as it is printed there, one after the other.
. "$(dirname "$0")/../tap.sh"
need_tree
need cc

# elsewhere PAGE: the test that runs them, - none
elsewhere() {
	case $1 in
	heapmon.1)	echo heapmon/live_man.sh ;;
	nfmt.3)		echo static/test_library.sh ;;
	rastrace.4 | tsf.5) echo docs/test_example.sh ;;
	rastrace_write.3) echo static/test_example.sh ;;
	shapes.5) echo trcust/test_shapes.sh ;;
	tracefmt.5) echo tracefmt/test_sql.sh ;;
	rastrace.conf.5 | trace.8 | tracefmt.1 | trcust.1) echo - ;;
	esac
}

for page in "$TOP"/usr/man/*.[1-8]; do
	page=${page##*/}
	grep -q '^\.Sh EXAMPLES' "$TOP/usr/man/$page" || continue
	test=$(elsewhere "$page")
	case $test in
	-)	;;
	'')	not_ok "$page: no test runs its examples" ;;
	*)	ok "$page: $test takes its examples from it" \
			grep -q "$page" "$TOP/selftests/$test" ;;
	esac
done

# examples PAGE [SECTION]: commands, one a line: those after .Dl, and of literal
# blocks; roff's escapes undone
examples() {
	sed -n "/^\\.Sh ${2:-EXAMPLES}/,\${p;/^\\.Sh/{/^\\.Sh ${2:-EXAMPLES}/!q;};}" \
		"$TOP/usr/man/$1" |
		awk '/^\.Bd -literal/ { inside = 1; next }
		     /^\.Ed/ { inside = 0 }
		     inside { print }
		     sub(/^\.Dl /, "") { print }' |
		sed 's/\\-/-/g; s/\\&//g; s/\\e/\\/g'
}

cd "$TMP" || exit 1
chmod 755 "$TMP"

# What the examples are about: a program `app` that goes on for a while, one with
# functions srv_*, one for another place.
cat >app.c <<'C'
#include <stdio.h>
#include <unistd.h>

__attribute__((noipa)) int app_job(int rc, const char *name)
{
	puts(name);
	return rc;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < (argc > 1 ? 5 : 50); i++) {
		app_job(3 - i, "job");
		usleep(argc > 1 ? 0 : 50000);
	}
	return 0;
}
C
sed 's/app_/srv_/' app.c >srv.c
ok "the programs compile" sh -c 'cc -g -O1 -o app app.c && cc -g -O1 -o srv srv.c'
mkdir -p tffs traces build/rootfs/usr/bin build/aarch64 usr/bin
cp app build/rootfs/usr/bin/app
cp app build/aarch64/app
cp app db1

# app_tsf MODNAME: the trace source file of all the pages
app_tsf() {
	cat >app.tsf <<TSF
MODNAME=$1
MAJOR=5
TYPELIST NAME=PRE,ID=4, NAME=POST,ID=8
TRACE MINOR=1, TP=.app_job, TYPE=(PRE), DESC="job", VARS=(rc, name)
TRACE MINOR=0x8001, TP=.app_job,RETEP, TYPE=(POST), DESC="job done"
TSF
}

# run LINE: an example; what it printed is in out
run() {
	status 0 "$page: $1" sh -c "$1"
}

# --- trcust(1)
page=trcust.1
app_tsf /usr/bin/app
examples $page >commands
is "$(grep -vc '^trcust \|^trace ' commands)" 0 "$page: they are commands"
while read -r line; do
	case $line in
	trace*)	[ "$(id -u)" -eq 0 ] || {
			skip "$page: $line" "needs root"
			continue
		} ;;
	esac
	run "$line"
	case $line in
	*--sysroot* | *--module*)
		ok "  has made it" test -s traces/app.tdf -a -s traces/TRC0005.TFF
		rm -f traces/TRC0005.TFF ;;
	esac
done <commands
like "$(cat srv.tsf)" '^	VARS=\(rc, name\)$' "  with the parameters"
like "$(cat out)" "^module '/usr/bin/app'|/usr/bin/app" "  the dump is of it"
if [ "$(id -u)" -ne 0 ]; then
	skip "trace(8), tracefmt(1), rastrace.conf(5)" "needs root"
	tap_done
fi
like "$(trace query)" "srv.tdf: session 1, on" "  srv is armed"
trace off --all

# --- trace(8)
page=trace.8
app_tsf ./app
ok "the TSF compiles" trcust app.tsf
examples $page >commands
is "$(grep -vc '^trace' commands)" 0 "$page: they are commands"
while read -r line; do
	run "$line"
	case $line in
	*on*16M* | *snapshot-on*) ./app --fast >/dev/null ;;
	*wait*)		ok "  there it is" test -s hit.1.ras ;;
	"trace query")	like "$(cat out)" '16 MiB|16384 KiB' "  the buffer"
			like "$(cat out)" '^ +1 +on +5 ' "  the hits" ;;
	tracefmt)	is "$(grep -c '^Event' out)" 10 "  the records" ;;
	*get*)		ok "  there it is" test -s app.ras ;;
	*run*)		is "$(grep -c '^Event' out)" 10 "  the records" ;;
	esac
done <commands
trace off --all

# A user's own directory: RIGHTS. The last one is his command.
page="$page, RIGHTS"
subject=${BUILT:-$TOP/build/selftests}/trace/subject
mkdir bpf
mount -t bpf -o mode=0700 bpf bpf || bail "no bpffs"
cleanup() {
	trace off --all >/dev/null 2>&1
	trace --pin-dir "$TMP/bpf/ann" off --all >/dev/null 2>&1
	umount -l "$TMP/bpf" "$RASTRACE_RUN" 2>/dev/null
}
examples trace.8 RIGHTS | sed "s/^# //; s,/sys/fs/bpf,$TMP/bpf,; s/chown ann/chown 54321/" \
	>commands
is "$(wc -l <commands)" 4 "$page: a directory in three commands"
chmod a+r app.tdf
while read -r line; do
	case $line in
	'$ trace'*)
		if ! trace on app.tdf || ! trace query | grep -q uprobe_multi; then
			skip "$page: $line" "this kernel has no uprobe_multi"
			continue
		fi
		run "$subject -u 54321 -g 54321 -c 38,39 ${line#??}"
		"$subject" -u 54321 -g 54321 -c 38,39 \
			trace --pin-dir bpf/ann off --all ;;
	*)	run "$line" ;;
	esac
done <commands
trace off --all

# --- tracefmt(1)
page=tracefmt.1
cp TRC0005.TFF tffs
mkdir bin
cat >bin/ssh <<'SH'
#!/bin/sh
# ssh target COMMAND...: which is this machine here, and ends some time
shift
exec timeout --foreground -s INT 2 "$@"
SH
chmod +x bin/ssh
PATH=$TMP/bin:$PATH
trace on app.tdf
trace run -o east.ras app.tdf -- ./app --fast >/dev/null 2>&1
trace run -o west.ras app.tdf -- ./app --fast >/dev/null 2>&1
sed 's,^MODNAME=.*,MODNAME=./db1,' app.tsf >db.tsf
ok "the database's TSF compiles" trcust db.tsf
trace run -o db.ras db.tdf -- ./db1 --fast >/dev/null 2>&1
cp app.ras old.ras
./app --fast >/dev/null
examples $page >commands
is "$(grep -vc '^tracefmt \|^ssh ' commands)" 0 "$page: they are commands"
while read -r line; do
	case $line in
	*"'db*'"*)	cp db.ras app.ras ;;
	*app.ras*)	cp old.ras app.ras ;;
	*--follow)	line="timeout --foreground -s INT 2 $line" ;;
	esac
	case $line in
	*--follow*)	./app >/dev/null & ;;
	esac
	status=0
	sh -c "$line" >out 2>err || status=$?
	# what ends only by a signal
	case $line in timeout*) [ $status -ne 124 ] || status=0 ;; esac
	is "$status" 0 "$page: $line" || diag_file err
	case $line in
	*" -e "*)	like "$(cat out)" '^rc = -1$' "  an error" ;;
	*--folded*)	ok "  stacks" test -s app.folded ;;
	*--pair*)	like "$(cat out)" '^ +5 .*job$' "  the calls" ;;
	*html*)		like "$(cat app.html)" '^<!DOCTYPE html>' "  a page" ;;
	*json*)		like "$(head -n 1 out)" '^\{.*"rc"' "  objects" ;;
	*)		like "$(cat out)" '^Event' "  records" ;;
	esac
	wait
done <commands
trace off --all

# --- rastrace.conf(5)
page=rastrace.conf.5
mkdir -p orders
sed 's,^MODNAME=.*,MODNAME=app,' app.tsf >orders/orders.tsf
cp app orders
ok "the TSF of the orders compiles" trcust orders/orders.tsf
examples $page | sed "s,/usr/lib/orders,$TMP/orders," >rastrace.conf
[ -e /sys/bus/event_source/devices/kprobe ] || {
	skip "$page: on snd_dummy.tdf" "this kernel has no kprobes"
	sed -i '/snd_dummy/d' rastrace.conf
}
if [ "$(cat /proc/sys/kernel/unprivileged_bpf_disabled)" = 0 ]; then
	skip "$page: group-read" "this kernel takes BPF programs from everybody"
	sed -i '/group-read/d' rastrace.conf
fi
status 0 "$page: the example" trace on --boot rastrace.conf
like "$(trace query)" "^buffer: 4 MiB|^buffer: 4096 KiB" "  the buffer is as it says"
like "$(trace query)" "orders.tdf: session 1, on" "  the orders are armed"
tap_done
