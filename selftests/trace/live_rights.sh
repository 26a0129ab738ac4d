#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Each cell of the tables of trace(8), RIGHTS: done by whom the column says. What
# is refused says why, and in another line who may, exits with 1 and changes
# nothing. $RASTRACE_KO is the folder of the kernel module, for its cells. Settings
# of the kernel are changed in guests only; $LOCKDOWN is what one was booted with.
# $RIGHTS are the parts that are done: table, settings, module, or all.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
built=${BUILT:-$TOP/build/selftests}
table=$built/trace/rights
[ -s "$table" ] || bail "no table of rights was made of trace.8"
tab=$(printf '\t')
USER_ID=54321 GROUP_ID=54322 OTHER_ID=54323 DEVICE_ID=54324 NEIGHBOUR_ID=54325

# What is in front of a command, by column. Containers have these by default.
subject=$built/trace/subject
contained=0,1,3,4,5,6,7,8,10,13,18,27,29,31
bpf=39,38 syslog=34
# shellcheck disable=SC2034
as_root='' as_group="$subject -u $OTHER_ID -g $GROUP_ID"
as_caps="$subject -u $USER_ID -g $USER_ID -c $bpf"
# shellcheck disable=SC2034
as_device="$subject -u $OTHER_ID -g $DEVICE_ID"
as_other="$subject -u $OTHER_ID -g $OTHER_ID"
as_ns="$as_other -n"
as_cont="$subject -c $contained"
$as_caps true || skip_all "this kernel has no CAP_BPF"

# --- what they work with
make_app
sed 's/ASCIIZ32.*/&, COUNT/' "$TMP/app.tsf" >"$TMP/counts"
make_tdf "$TMP/app.tsf" <"$TMP/counts"
for name in second third; do
	cp "$TARGET" "$TMP/$name"
	sed "s,^MODNAME=.*,MODNAME=$TMP/$name," "$TMP/app.tsf" |
		make_tdf "$TMP/$name.tsf"
done
for major in 9 10; do
	make_tdf "$TMP/kernel$major.tsf" <<TSF
MODNAME=vmlinux
MAJOR=$major
TRACE MINOR=1, TP=.do_sys_openat2, DESC="opened", REGS=($ARG1_32)
TSF
done
kernel=/sys/bus/event_source/devices/kprobe
cat >"$TMP/data.tsf" <<TSF
MODNAME=vmlinux
MAJOR=8
TRACE MINOR=1, TP=.do_sys_openat2, DESC="opened", FMT="%P%L",
	MEM64=(.__per_cpu_offset,DIRECT,8)
TSF
if [ -e $kernel ]; then
	sed 's/\t.*//' /proc/kallsyms >"$TMP/System.map"
	ok "the kernel's data compile" \
		trcust --map "$TMP/System.map" "$TMP/data.tsf"
fi
cp "$built/trace/idle" "$built/static/caller" "$TMP"
chmod 755 "$TMP"
mkdir -m 1777 "$TMP/w"
mkdir "$TMP/bpf"
mount -t bpf -o mode=0755 bpf "$TMP/bpf" || bail "no bpffs"
roots=$RASTRACE_RUN mine=$TMP/bpf/mine
mkdir -m 700 "$mine"
chown $USER_ID:$USER_ID "$mine"
# of a user who is not in the table
"$subject" -u $NEIGHBOUR_ID -g $NEIGHBOUR_ID "$TMP/idle" &
neighbour=$!
own=
multi=yes

cleanup() {
	# shellcheck disable=SC2086
	kill $neighbour $own
	RASTRACE_RUN=$mine $as_caps "$BIN/trace" off --all
	umount -l "$TMP/bpf"
	for run in "$TMP/run" "$roots"; do
		RASTRACE_RUN=$run "$BIN/trace" off --all
		umount -l "$run"
	done
	[ -z "$loaded" ] || rmmod rastrace
} >/dev/null 2>&1
loaded=

# --- whose run directory it is
# roots_own [OPTION...], his_own: whose $RASTRACE_RUN is from now on; options of
# what is armed there
roots_own() {
	RASTRACE_RUN=$roots owner=$as_root options=$* dirty=yes base=$TDF
}

his_own() {
	RASTRACE_RUN=$mine owner=$as_caps options=$* dirty=yes base=$TDF
	[ $multi = yes ] || base=$TMP/kernel10.tdf
}

# shellcheck disable=SC2086
fresh() {
	[ "$dirty" ] || return
	$owner trace off --all >"$TMP/prepared" 2>&1
	$owner trace on $options "$base" >"$TMP/prepared" 2>&1 ||
		bail "cannot prepare: $(cat "$TMP/prepared")"
	"$TMP/target" 3
	dirty=
}

# Everything that is armed, or half; what goes takes its time on 6.1
listing() {
	find "$TMP/run" "$TMP/run.lock" "$roots" "$roots.lock" "$mine" \
		2>/dev/null | grep -v '\.debug$\|/gone' | sort -u
}

# commands ROW: its commands, one a line
commands() {
	w=$TMP/w other=$TMP/second.tdf
	[ $multi = yes ] || [ "$owner" = "$as_root" ] || other=$TMP/kernel9.tdf
	case $1 in
	compile)	echo "trcust --level 0 -o $w $TMP/app.tsf" ;;
	"print a file")	echo "tracefmt -q $TMP/root.ras"
			echo "heapmon report -o - $TMP/heap.ras" ;;
	show)		echo "trace show $TDF" ;;
	"print the live buffer") echo "tracefmt -q" ;;
	"follow it")	echo followed ;;
	get)		echo "trace get $w/get.ras" ;;
	spool)		echo "trace spool -t 1 -o $w/spool.ras" ;;
	"query, top, explain-loss")
			echo "trace query"
			echo "trace top --rounds 1"
			echo "trace query --json"
			echo "trace query --metrics"
			echo "trace explain-loss $(basename "$base" .tdf)" ;;
	"suspend, resume")
			echo "trace suspend"
			echo "trace resume" ;;
	clear)		echo "trace clear" ;;
	off)		echo "trace off $base" ;;
	"off --all")	echo "trace off --all" ;;
	"on --dry-run")	echo "trace on --dry-run $TMP/second.tdf" ;;
	"on, a program" | "module: hand over")
			echo "trace on $TMP/second.tdf" ;;
	"on, with filters")
			echo "trace on --pid $$ --uid 0 $TMP/third.tdf" ;;
	"on, the kernel") echo "trace on $TMP/kernel9.tdf" ;;
	"on, the kernel's data") echo "trace on $TMP/data.tdf" ;;
	"on, majors")	echo "trace on --module $TMP/caller 100" ;;
	"on --group-read")
			# shellcheck disable=SC2086
			echo "trace on ${options:---group-read 0} $other" ;;
	run)		echo "trace run -o $w/run.ras $TMP/second.tdf -- $TMP/second 2" ;;
	"heapmon, a program")
			echo "heapmon record -o $w/heap.ras -- $TMP/second 2" ;;
	"heapmon, own process")
			echo "heapmon record -t 1 -p $own -o $w/heap.ras" ;;
	"heapmon, another user's")
			echo "heapmon record -t 1 -p $neighbour -o $w/heap.ras" ;;
	"module: get --crash") echo "trace get --crash $w/crash.ras" ;;
	*)		bail "the row '$1' has no command" ;;
	esac
}

# The first record, by following
followed() {
	: >"$TMP/followed"
	# shellcheck disable=SC2086
	$as tracefmt -q --follow >"$TMP/followed" &
	follower=$! n=0
	until grep '^Event' "$TMP/followed" || [ $n -gt 100 ]; do
		kill -0 $follower 2>/dev/null || break
		sleep 0.1
		n=$((n + 1))
	done
	kill -INT $follower 2>/dev/null
	wait $follower
}

# execute COMMAND...: by who is $as
execute() {
	# shellcheck disable=SC2086
	[ "$1" = followed ] || set -- $as "$@"
	"$@" >"$TMP/out" 2>"$TMP/err" </dev/null
}

# may ROW: each of its commands succeeds, and gives what there is
may() {
	[ "$1" != "module: get --crash" ] || {
		# none has left anything
		execute trace get --crash "$TMP/w/crash.ras"
		grep 'no panic has left a trace' "$TMP/err"
		return
	}
	while read -r line; do
		# shellcheck disable=SC2086
		execute $line && continue
		echo "exit status $?: $line"
		cat "$TMP/err"
		return 1
	done <"$TMP/commands"
	case $1 in
	print* | follow* | show | query*) [ -s "$TMP/out" ] ;;
	compile | get | spool | heapmon* | run) [ "$(ls "$TMP/w")" ] ;;
	esac
}

# may_not: each of the commands is refused, and changes nothing
may_not() {
	listing >"$TMP/before"
	while read -r line; do
		# shellcheck disable=SC2086
		execute $line
		status=$?
		echo "exit status $status: $line"
		# a dry run begins with what the buffer is
		sed -i '/^buffer: .* is there/d' "$TMP/out"
		cat "$TMP/out" "$TMP/err"
		[ $status -eq 1 ] && [ ! -s "$TMP/out" ] &&
			[ "$(wc -l <"$TMP/err")" -eq 2 ] &&
			tail -n 1 "$TMP/err" | grep -Eq \
				'as root|even to root|root may|CAP_|sysctl|lockdown' ||
			return 1
	done <"$TMP/commands"
	listing | diff "$TMP/before" - && [ -z "$(ls "$TMP/w")" ]
}

# cell NAME ROW yes|no
cell() {
	fresh
	rm -rf "$TMP/w"/*
	commands "$2" >"$TMP/commands"
	case $3 in
	no)	ok "$1: $2: no" may_not ;;
	*)	ok "$1: $2: $3" may "$2"
		case $2 in
		suspend* | clear | off* | on* | *hand*) dirty=yes ;;
		esac ;;
	esac
}

# users_cell ROW WANT: not in root's run directory, and in his own
users_cell() {
	roots_own "--group-read $GROUP_ID"
	cell "caps, in root's directory" "$1" no
	his_own "--group-read $USER_ID"
	here="caps, in his directory"
	case $2:$multi in
	own:* | his:* | multi:yes | later:yes)
		cell "$here" "$1" yes ;;
	multi:no | later:no)
		cell "$here" "$1" no
		return ;;
	syslog:*)	cell "$here" "$1" "$hidden"
		as="$subject -u $USER_ID -g $USER_ID -c $bpf,$syslog"
		cell "$here, with CAP_SYSLOG" "$1" yes ;;
	*)	not_ok "$here: $1: what is '$2'?" ;;
	esac
	case $2 in
	his)	$as_caps trace off --all
		options="--group-read $GROUP_ID" dirty=
		cell "$here, another's group" "$1" no
		dirty=yes ;;
	later)	like "$(cat "$TMP/err")" "not all blocks" \
			"  what it had before is missing" ;;
	esac
}

# row NAME CELL...: of all columns but those of the module
row() {
	name=$1
	shift
	case $name in
	"on, the kernel"*) [ -e $kernel ] || {
		skip "$name" "no kprobes"
		return
	} ;;
	esac
	for column in $columns; do
		want=$1
		shift
		[ "$column" = device ] && continue
		eval "as=\$as_$column"
		[ "$name" = "heapmon, own process" ] && own_process
		case $column in
		caps)	case $want in
			yes | no) cell caps "$name" "$want" ;;
			*)	users_cell "$name" "$want"
				roots_own "--group-read $GROUP_ID" ;;
			esac ;;
		*)	cell "$column" "$name" "$want" ;;
		esac
	done
}

# A process of who is $as
own_process() {
	[ -z "$own" ] || kill $own
	# shellcheck disable=SC2086
	$as "$TMP/idle" &
	own=$!
}

# rows TABLE: "NAME<tab>CELL..." of the first or the second one
rows() {
	awk -v want="$1" "/^$tab/ { n++; next } n == want" "$table"
}

columns=$(sed 1q "$table")
is "$(echo "$columns" | tr -s '\t' ' ')" " root caps group device other ns cont" \
	"the columns are those that are known"
is "$(sed -n "/^$tab/p" "$table" | sed -n '2s/^[^-a-z]*//p')" \
	"programs${tab}kernel${tab}group${tab}programs${tab}kernel${tab}heapmon" \
	"of both tables"
$as_ns true 2>"$TMP/err" || {
	diag "no user namespaces: $(cat "$TMP/err")"
	as_ns=$as_other
}
hidden=no
[ "$($as_caps grep -c '^0000000000000000 ' /proc/kallsyms)" -gt 100 ] ||
	hidden=yes

# part NAME: is it to be done?
part() {
	case " ${RIGHTS:-table settings module} " in
	*" $1 "*) return 0 ;;
	esac
	return 1
}

as=
roots_own "--group-read $GROUP_ID"
[ -z "${RASTRACE_GUEST-}" ] || echo 2 >/proc/sys/kernel/perf_event_paranoid
[ "$(cat /proc/sys/kernel/unprivileged_bpf_disabled)" != 0 ] ||
	bail "this kernel takes BPF programs from everybody"
fresh
multi=no
! trace query | grep -q uprobe_multi || multi=yes
ok "a file" trace get "$TMP/root.ras"
[ "${RIGHTS-}" = settings ] ||
	ok "a recording of a heap" heapmon record -o "$TMP/heap.ras" -- \
		"$TMP/second" 2
chmod -R a+r "$TMP"/*.ras "$TMP"/*.t*

# --- by whom
table_part() {
	rows 1 | grep -v '^module' | if [ "${RASTRACE_GUEST-}" ]; then
		# what asks its kernel
		grep '^on, [at]'
	else
		cat
	fi >"$TMP/rows"
	while IFS=$tab read -r name cells <&3; do
		# shellcheck disable=SC2086
		row "$name" $cells
	done 3<"$TMP/rows"

	# what nothing was armed before: not even a buffer stays
	his_own
	$as_caps trace off --all
	as=$as_caps dirty=
	echo "trace on --attach perf $TMP/second.tdf" >"$TMP/commands"
	ok "caps, in his empty directory, by perf events: no" may_not
	roots_own

	# a container that has nothing from outside
	as=$as_cont RASTRACE_RUN=$TMP/none dirty=
	cell "cont, of its own" "on, a program" no
	rmdir "$TMP/none" 2>/dev/null
	status 1 "cont, of its own: get: no" trace get "$TMP/w/get.ras"
	like "$(cat "$TMP/err")" "nothing is armed" "  as nothing is armed there"
}

# --- what the kernel gets
# setting NAME VALUE: what it was is $before
setting() {
	file=/proc/sys/kernel/$1
	[ -w "$file" ] && before=$(cat "$file") && echo "$2" >"$file"
}

# users_setting NAME ROW CELL
users_setting() {
	case $3 in
	multi)	cell "$1: caps" "$2" $multi ;;
	*)	cell "$1: caps" "$2" "$3" ;;
	esac
	$as_caps trace off --all
	dirty=
}

# setting_cells NAME CELL...
setting_cells() {
	roots_own
	as=$as_root
	cell "$1: root" "on, a program" "$2"
	[ ! -e $kernel ] || cell "$1: root" "on, the kernel" "$3"
	trace off --all
	options="--group-read $GROUP_ID" dirty=
	cell "$1: root" "on --group-read" "$4"
	# nothing is there yet
	his_own
	as=$as_caps dirty=
	users_setting "$1" "on, a program" "$5"
	[ ! -e $kernel ] || users_setting "$1" "on, the kernel" "$6"
	users_setting "$1" "heapmon, a program" "$7"
	$as trace off --all
	roots_own
	as=$as_other
	cell "$1: other" "on, a program" no
}

# settings_row NAME CELL...
settings_row() {
	case $1 in
	lockdown=*)
		[ "$1" = "lockdown=${LOCKDOWN-}" ] || {
			skip "$1" "this kernel wasn't booted with it"
			return
		}
		setting_cells "$@"
		return ;;
	esac
	if [ -z "${RASTRACE_GUEST-}" ] || [ "${LOCKDOWN-}" ]; then
		skip "$1" "it is set in guests only"
		return
	fi
	setting "${1%=*}" "${1#*=}" || {
		skip "$1" "this kernel can't be set so"
		return
	}
	setting_cells "$@"
	setting "${1%=*}" "$before" || bail "$1 stays"
}

settings_part() {
	rows 2 >"$TMP/rows"
	while IFS=$tab read -r name cells <&3; do
		# shellcheck disable=SC2086
		settings_row "$name" $cells
	done 3<"$TMP/rows"
}

# --- the kernel module's
# handed_over: has the module the buffer of $RASTRACE_RUN?
handed_over() {
	# shellcheck disable=SC2086
	$owner trace query | grep '^kernel module: has the buffer'
}

# users_module: his buffer, while root has none
users_module() {
	trace off --all
	his_own
	as=$as_caps
	cell "caps, in his directory" "on, a program" yes
	ok "  the module isn't his" test -z "$(handed_over)"
	$as_caps trace off --all
	as="$subject -u $USER_ID -g $DEVICE_ID -c $bpf"
	owner=$as dirty=yes
	cell "caps, of the device's group, in his directory" "on, a program" yes
	ok "  the module has his buffer" handed_over
	$as_caps trace off --all
	roots_own
}

# module_row NAME CELL...
module_row() {
	name=$1
	shift
	for column in $columns; do
		want=$1
		shift
		eval "as=\$as_$column"
		case $name in
		module:*) ;;
		*)	[ "$column" = device ] || continue
			[ "$name" = "heapmon, own process" ] && own_process ;;
		esac
		case $want in
		device)	cell "$column" "$name" no
			users_module ;;
		*)	cell "$column" "$name" "$want" ;;
		esac
		case $column:$name in
		"root:module: hand over")
			ok "  it has the buffer" handed_over ;;
		esac
	done
}

module_part() {
	[ -e "${RASTRACE_KO-}/rastrace.ko" ] || {
		skip "the kernel module's cells" "needs RASTRACE_KO"
		return
	}
	trace off --all
	# shellcheck disable=SC2086
	insmod "$RASTRACE_KO/rastrace.ko" ${REGION-} ||
		bail "the module can't be loaded"
	loaded=yes roots=/run/rastrace
	chgrp $DEVICE_ID /dev/rastrace
	roots_own
	rows 1 >"$TMP/rows"
	while IFS=$tab read -r name cells <&3; do
		# shellcheck disable=SC2086
		module_row "$name" $cells
	done 3<"$TMP/rows"
}

for part in table settings module; do
	! part $part || "${part}_part"
done
tap_done
