# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
# What soak.sh does at random: each step is a function step_NAME, which says
# not_ok when something isn't as it should be. Commands may refuse.

step_arm() {
	set --
	one_of comm cpu,ppid comm,uid,cgroup,cpu,ppid,stack stack:4 none none
	[ "$chosen" = none ] || set -- "$@" "--context=$chosen"
	chance 6 && set -- "$@" --max-rate 50
	chance 6 && set -- "$@" --resident-only
	chance 6 && set -- "$@" --attach perf
	chance 12 && set -- "$@" --stop-on 'victim(2):after 500'
	one_of 'victim' 'victim(1,3)' 'victim(2)' 'victim(3-4)' 'victim(5)'
	did arm trace on --max-cpu=off "$@" "$chosen"
}

step_disarm() {
	one_of 'victim' 'victim' 'victim(1)' 'victim(2,4)'
	did disarm trace off "$chosen"
}

step_kernel() {
	one_of on on off
	did "$chosen KERNEL" trace "$chosen" KERNEL
}

step_majors() {
	one_of on on off
	verb=$chosen
	one_of 100 200,201 201 100,200-203
	if [ $verb = on ]; then
		did majors trace on --max-cpu=off --module "$SOAK/caller" "$chosen"
	else
		did majors trace off "$chosen"
	fi
}

loaded() {
	grep -q "^$1 " /proc/modules
}

load_module() {
	insmod "$SOAK/rastrace.ko" $SOAK_REGION 2>$S/insmod || {
		not_ok "insmod: $(cat $S/insmod)"
		return
	}
	chance 2 && {
		insmod "$SOAK/rastrace_sample.ko"
		insmod "$SOAK/rastrace_storm.ko"
	}
	did hand-over trace clear
}

step_module() {
	storm_end
	if loaded rastrace; then
		chance 3 && did "off --all" trace off --all
		loaded rastrace_storm && rmmod rastrace_storm
		loaded rastrace_sample && rmmod rastrace_sample
		# a reader may have the device open
		rmmod rastrace 2>/dev/null
	else
		load_module
	fi
}

storm_end() {
	ended storm TERM
}

step_storm() {
	loaded rastrace_storm || return
	[ -e $S/pid.storm ] && { storm_end; return; }
	random 200
	beside storm sh -c "for n in 1 2 3 4; do
		echo $((chosen + 50)) >/sys/module/rastrace_storm/parameters/run
		done"
}

step_hotplug() {
	random $((cpus - 1))
	cpu=/sys/devices/system/cpu/cpu$((chosen + 1))/online
	[ -e "$cpu" ] || return
	read -r online <"$cpu"
	echo $((1 - online)) >"$cpu" 2>/dev/null
}

step_pressure() {
	dmesg -n 1
	if chance 2 && [ -e $S/cgroup/hog/memory.max ]; then
		beside hog sh -c "echo 0 >$S/cgroup/hog/cgroup.procs
			exec $SOAK/victim hog 200"
	else
		beside hog "$SOAK/victim" hog 4000
	fi
	did "arm under pressure" trace on 'victim(1)'
	did "get under pressure" trace get $S/pressure.ras
	rm -f $S/pressure.ras
	read -r pid <$S/pid.hog
	wait "$pid" 2>/dev/null
	rm -f $S/pid.hog
	dmesg -n 5
}

# A command is killed at a random moment; the next one finds what it left.
step_kill() {
	one_of 'on victim' 'on KERNEL' 'off victim' 'on 100,200' 'off 100,200' \
		clear 'off --all' query suspend resume 'get killed.ras' keep \
		"spool --follow" 'spool -o killed.ras'
	echo "#   $chosen"
	rm -f killed.ras
	# shellcheck disable=SC2086
	beside killed trace $chosen
	random 900
	usleep $((chosen * 1000))
	ended killed KILL
	[ ! -s killed.ras ] || look -c killed.ras
	rm -f killed.ras*
	did "query after it" trace query
}

step_follow() {
	if [ -e $S/pid.follow ]; then
		one_of KILL TERM INT
		ended follow "$chosen"
		case $ended in
		0|1|130|137|143)	;;
		*)	not_ok "tracefmt --follow: status $ended"
			quote $S/follow.err ;;
		esac
	else
		beside follow sh -c "exec tracefmt -q --follow --tff $SOAK \
			>/dev/null 2>$S/follow.err"
	fi
}

step_print() {
	did print tracefmt --tff "$SOAK" --last 50
}

step_forks() {
	if chance 2; then
		random 6
		did bomb "$SOAK/victim" bomb $((chosen + 1))
	else
		random 30
		did forks "$SOAK/victim" forks "$chosen"
	fi
}

# A file of what is armed now, by `get` and by a spool that ends in order
step_get() {
	one_of --compress=zlib --compress=zstd --no-bundle
	did get trace get "$chosen" $S/get.ras
	[ $status -ne 0 ] || look $S/get.ras
	rm -f $S/get.ras
}

step_spool() {
	one_of '' '--size 64K --files 20' --compress=zstd
	# shellcheck disable=SC2086
	did spool trace spool -o $S/spool.ras --duration 2s $chosen
	for file in $S/spool.ras*; do
		[ ! -s "$file" ] || look "$file"
	done
	rm -f $S/spool.ras*
}

step_full_disk() {
	mkdir -p full
	mount -t tmpfs -o size=256k full full || return
	one_of '' '' '--size 64K --files 9'
	# shellcheck disable=SC2086
	did "spool to a full disk" trace spool -o full/spool.ras -t 8s $chosen
	for file in full/spool.ras*; do
		[ ! -s "$file" ] || look -c "$file"
	done
	rm -f full/*
	did "get to a full disk" trace get full/get.ras
	if [ $status -eq 0 ]; then
		look full/get.ras
	elif [ -e full/get.ras ]; then
		not_ok "get left a file on a full disk"
	fi
	umount full
}

step_ask() {
	one_of query 'query --metrics' 'query --json' 'explain-loss victim' \
		suspend resume resume clear
	# shellcheck disable=SC2086
	did "$chosen" trace $chosen
	grep -q damaged $S/did && [ "${chosen%% *}" = query ] &&
		! grep -q '"damaged": 0\|damaged 0$' $S/did && {
		not_ok "query reports damage"
		quote $S/did
	}
	return 0
}

# However much goes on: each hit of this one is counted once.
step_exact() {
	did "arm exact" trace on exact
	[ $status -eq 0 ] || return
	random 200
	wanted=$(((chosen + 20) * 3))
	if timeout 300 "$SOAK/exact" calls $((wanted / 3)) 3; then
		# shellcheck disable=SC2086
		reader -p $LAYOUTS $RASTRACE_RUN >$S/exact.out 2>&1
		hits=$(awk '$1 == "point" && $3 == 191 { hits = $5 }
			END { print hits }' $S/exact.out)
		[ "$hits" = $wanted ] ||
			not_ok "exact: $hits hits of $wanted"
	fi
	did "disarm exact" trace off exact
}

step_all_off() {
	did "off --all" trace off --all
	rm -f $S/state
	one_of 64K 64K 256K 1M
	did "a new buffer" trace on --max-cpu=off --buffer "$chosen" victim
}

# The weights
STEPS="arm arm arm disarm disarm kernel kernel majors majors module module
storm storm hotplug hotplug hotplug pressure kill kill kill kill follow follow
print forks forks get spool full_disk ask ask ask exact exact all_off quiet"

step_quiet() {
	look_quiet
}
