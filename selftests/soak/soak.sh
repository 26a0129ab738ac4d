#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In a guest, started by scripts/soak: for $SOAK_SECONDS, steps that are
# chosen at random, one after the other, while programs are traced; after each
# step the reader looks at the buffer. Prints the steps, and "not ok" where
# something isn't as it should be. In between the machine panics, and the next
# boot looks at what was kept. $SOAK_SEED makes the choices the same again.
#
# Everything is in $SOAK: programs, modules, TDFs. The words at $NOTES in memory
# outlive a panic: which boot this is, how many failures there were, how many
# seconds of steps.
SOAK=${SOAK:-/soak}
NOTES=${NOTES:-0x10100000}
PATH=$SOAK/bin:$PATH
RASTRACE_RUN=/run/rastrace
TRACE_PATH=$SOAK
export PATH RASTRACE_RUN TRACE_PATH
S=/tmp/soak
mkdir -p $S /run
cd $S || exit 1

# note N [VALUE]: a word that outlives a panic
note() {
	devmem $((NOTES + 4 * $1)) 32 ${2:+"$2"}
}

failures=$(($(note 1)))
step=0 obeyed=0 refused=0 objects='' kib=0

not_ok() {
	failures=$((failures + 1))
	note 1 $failures
	echo "not ok - boot $boot, step $step: $*"
}

# of a file
quote() {
	sed 's/^/# /' "$@" | tail -n 40
}

# random N: sets `chosen` to a number below it
random() {
	state=$(((state * 1103515245 + 12345) & 0x7fffffff))
	chosen=$(((state >> 12) % $1))
}

# chance N: once in N times
chance() {
	random "$1"
	[ "$chosen" -eq 0 ]
}

# one_of WORD...: sets `chosen` to one of them
one_of() {
	random $#
	shift "$chosen"
	chosen=$1
}

seconds_now() {
	read -r up _ </proc/uptime
	echo "${up%.*}"
}

# --- what runs beside the steps

# beside NAME COMMAND...: in the background, its number in $S/pid.NAME
beside() {
	name=$1
	shift
	"$@" >"$S/$name.out" 2>&1 &
	echo $! >"$S/pid.$name"
}

# ended NAME SIGNAL: ends it if it runs; `ended` is its exit status
# shellcheck disable=SC2034
ended() {
	[ -e "$S/pid.$1" ] || return 1
	read -r pid <"$S/pid.$1"
	rm "$S/pid.$1"
	kill "-$2" "$pid" 2>/dev/null
	ended=0
	wait "$pid" 2>/dev/null || ended=$?
}

# runs NAME: is it still there?
runs() {
	[ -e "$S/pid.$1" ] && read -r pid <"$S/pid.$1" && kill -0 "$pid" 2>/dev/null
}

# Also what memory pressure has ended begins again.
load_begin() {
	for n in 1 2; do
		runs bursts$n || beside bursts$n "$SOAK/victim" bursts
	done
	runs static || beside static sh -c "while :; do
		$SOAK/caller 100 1 count 20; usleep 50000; done"
}

load_end() {
	for n in bursts1 bursts2 static; do ended $n KILL; done
}

# --- one command

# did NAME COMMAND...: it may refuse, but neither crash nor hang
did() {
	what=$1
	shift
	status=0
	timeout 300 "$@" >"$S/did" 2>&1 || status=$?
	case $status in
	0)	obeyed=$((obeyed + 1)) ;;
	1)	refused=$((refused + 1))
		echo "#   $what is refused: $(head -n 1 "$S/did")" ;;
	137)	# the hog may have taken it along
		[ -e $S/pid.hog ] || not_ok "$what: killed" ;;
	*)	not_ok "$what: status $status"
		quote "$S/did" ;;
	esac
}

# --- the reader

LAYOUTS="-d 190/1=4,p48,s20 -d 190/2=4 -d 190/3=p900 -d 190/4=8 -d 191/1=4"

# look [OPTION...] PATH: 0 good, 3 no buffer
look() {
	# shellcheck disable=SC2086
	reader $LAYOUTS "$@" >"$S/look" 2>&1
	status=$?
	case $status in
	0|3)	return $status ;;
	esac
	not_ok "reader $*: status $status"
	quote "$S/look"
}

look_live() {
	look -s $S/state $RASTRACE_RUN
}

# Lines "SESSION MINOR RECORDED DROPPED" of all points with records
figures_of_query() {
	trace query --json 2>/dev/null | awk '
		/"tracepoints"/ { points = 1 }
		!points { next }
		{ gsub(/[",:]/, "") }
		$1 == "session" { session = $2 }
		$1 == "minor" { minor = $2 }
		$1 == "recorded" { recorded = $2 }
		$1 == "dropped" && session && recorded > 0 {
			print session, minor, recorded, $2
			recorded = 0
		}' | sort
}

# There is no writer for a moment: the figures have to be exact, and those of trace
# the same. What has begun when it is suspended may still be recorded.
look_quiet() {
	did suspend trace suspend
	grep -q 'another trace' "$S/did" && return
	tries=0
	until sleep 0.3
		# shellcheck disable=SC2086
		reader -q -p $LAYOUTS $RASTRACE_RUN >"$S/look" 2>&1
		quiet=$?
		[ $quiet -ne 1 ]
	do
		tries=$((tries + 1))
		[ $tries -lt 10 ] || break
	done
	if [ $quiet -eq 0 ]; then
		awk '$1 == "point" && $6 > 0 { print $2, $4, $6, $8 }' $S/look |
			sort >"$S/figures"
		figures_of_query >"$S/query"
		cmp -s $S/figures $S/query || {
			not_ok "trace query has other figures"
			diff $S/figures $S/query | quote
		}
	elif [ $quiet -ne 3 ]; then
		not_ok "reader: quiet: status $quiet"
		quote "$S/look"
	fi
	did resume trace resume
}

# --- the kernel's log: what isn't the report of a hog's end

splats() {
	dmesg | awk '
		/invoked oom-killer| victim: page allocation failure/ { oom = 1 }
		!oom { print }
		/Killed process|oom_reaper|pages hwpoisoned/ { oom = 0 }' |
		grep -E -A 20 -f "$SOAK/splats"
}

look_log() {
	splats >$S/splats && {
		not_ok "the kernel's log"
		sed 's/^/# /' $S/splats
		dmesg -c >/dev/null
	}
	return 0
}

# --- steps

. "$SOAK/steps.sh"

# steps_until SECONDS: by the clock since boot
steps_until() {
	while [ "$(seconds_now)" -lt "$1" ]; do
		step=$((step + 1))
		# shellcheck disable=SC2086
		one_of $STEPS
		name=$chosen
		echo "# $boot.$step $(seconds_now) s: $name"
		"step_$name"
		load_begin
		look_live
		look_log
	done
}

# --- the end: nothing is left

all_off() {
	for name in follow killed storm; do ended $name KILL; done
	load_end
	did "off --all" trace off --all
	for module in storm sample; do
		loaded rastrace_$module && rmmod rastrace_$module
	done
	loaded rastrace && { rmmod rastrace || not_ok "rmmod"; }
	for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do
		echo 1 >"$cpu"
	done
	# a keeper ends by itself
	tries=0
	while pidof trace >/dev/null && [ $tries -lt 100 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
}

. "$SOAK/left.sh"

# --- a panic, and what is found after it

check_crash() {
	insmod "$SOAK/rastrace.ko" $SOAK_REGION ||
		not_ok "insmod: $(dmesg | tail -n 3)"
	if trace get --crash crash.ras >$S/did 2>&1; then
		look crash.ras && grep -q '^crash.ras: [1-9]' $S/look ||
			not_ok "nothing in the file of the panic"
		echo "# $(tail -n 1 $S/look)"
		rm crash.ras
	else
		not_ok "no file of the panic"
		quote $S/did
	fi
	rmmod rastrace
}

# Everything is on, and all CPUs write.
panic() {
	load_begin
	loaded rastrace || insmod "$SOAK/rastrace.ko" $SOAK_REGION
	loaded rastrace_storm || insmod "$SOAK/rastrace_storm.ko"
	did "on" trace on --max-cpu=off --buffer 256K --module "$SOAK/caller" 100,201
	did "on" trace on --max-cpu=off victim
	did "hand-over" trace resume
	beside storm sh -c "while :; do
		echo 200 >/sys/module/rastrace_storm/parameters/run; done"
	random 20
	usleep $((chosen * 100000 + 500000))
	look_live
	look_log
	echo "# boot $boot: panics"
	sync
	echo c >/proc/sysrq-trigger
	sleep 60
	not_ok "it didn't panic"
}

# --- all of it

cgroup_make() {
	mkdir -p $S/cgroup
	mount -t cgroup2 cgroup $S/cgroup || return
	echo +memory >$S/cgroup/cgroup.subtree_control
	mkdir $S/cgroup/hog && echo 48M >$S/cgroup/hog/memory.max
}

# What costs memory once: a buffer, a module, links of each kind
warm_up() {
	load_begin
	trace on --max-cpu=off --buffer 64K victim >$S/did 2>&1 &&
		trace on KERNEL >>$S/did 2>&1 &&
		trace on --module "$SOAK/caller" 100 >>$S/did 2>&1 || {
		not_ok "it can't be armed"
		quote $S/did
	}
	[ -n "$(kprobes)" ] || not_ok "the kernel lists no kprobe of KERNEL"
	load_module
	all_off
	umount $RASTRACE_RUN 2>/dev/null
}

boot=$(($(note 0) + 1))
note 0 $boot
cpus=$(nproc)
left=$((SOAK_SECONDS - $(note 2)))
state=$((SOAK_SEED + boot))
echo "# boot $boot: seed $SOAK_SEED, $(uname -r), $cpus CPUs, $left s left"
[ $boot -eq 1 ] || check_crash
cgroup_make
take_stock
before=$objects
warm_up
back_to "$before"
begin=$kib
random "$SOAK_BOOT"
wanted=$((SOAK_BOOT / 2 + chosen))
[ $wanted -lt $left ] || wanted=$left
load_begin
chance 2 || load_module
did "the first buffer" trace on --max-cpu=off --buffer 64K victim
began=$(seconds_now)
steps_until $((began + wanted))
left=$((left - $(seconds_now) + began))
note 2 $((SOAK_SECONDS - left))
all_off
echo "# boot $boot: $obeyed commands did their work, $refused refused"
[ $obeyed -gt $refused ] || not_ok "most commands refuse"
all_gone "$before"
look_log
grown_since "$begin"
[ $left -le 0 ] || panic
echo "# $boot boots, $failures failures"
[ "$failures" -eq 0 ]
