#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel and a module of its own are traced, on the newest kernel of the tests,
# with $LONG on each: entries, exits, stacks, static data of the module, of the kernel and of the
# processor that runs. What can't be traced is refused with its name and why:
# functions that aren't there (any more), that probes run through, a module of
# another build, data whose addresses are hidden.
. "$(dirname "$0")/../tap.sh"
need qemu-system-x86_64 busybox cpio
vm=$TOP/scripts/vm

# tsf NAME MODNAME: the tracepoints are on stdin
major=0
tsf() {
	major=$((major + 1))	# each its own TFF
	{
		echo "MODNAME=$2"
		echo "MAJOR=$major"
		cat
	} >"$t/$1.tsf"
}

# compiled NAME MODULE
compiled() {
	ok "$series: $1: compiled" trcust --module "$2" "$t/$1.tsf"
}

make_tsfs() {
	tsf loop /lib/loop.ko <<'END'
TRACE MINOR=1, TP=.lo_ioctl, DESC="entered", FMT="depth %P%D", FMT="part %P%D",
	FMT="stack %P%{stack}", MEM32=(.hw_queue_depth,DIRECT,4),
	MEM32=(.max_part,DIRECT,4), STACK=(8)
TRACE MINOR=2, TP=.lo_ioctl,RETEP, DESC="left", REGS=(RAX)
TRACE MINOR=3, TP=.lo_ioctl,RETEP=CALLER, DESC="returned",
	FMT="stack %P%{stack}", STACK=(8)
END
	compiled loop "$loop"
	tsf other /lib/loop.ko <<'END'
TRACE MINOR=1, TP=.dummy_xmit
END
	compiled other "$dummy"
	tsf absent /lib/dummy.ko <<'END'
TRACE MINOR=1, TP=.dummy_xmit
END
	compiled absent "$dummy"
	tsf gone /lib/loop.ko <<'END'
TRACE MINOR=1, TP=.loop_init
END
	compiled gone "$loop"
	for name in notifier_call_chain no_such_function; do
		tsf $name vmlinux <<END
TRACE MINOR=1, TP=.$name
END
		ok "$series: $name: compiled" trcust "$t/$name.tsf"
	done
	# with the symbols of the running kernel, in the guest
	tsf data vmlinux <<'END'
TRACE MINOR=4, TP=.do_sys_openat2, DESC="opened", FMT="offsets %P%L %L",
	FMT="offset %P%L", FMT="address %P%L",
	MEM32=(.__per_cpu_offset,DIRECT,16), MEM32=(.this_cpu_off,DIRECT,8),
	MEM32=(.this_cpu_off+8-8,DIRECT,8)
END
}

# Runs in the guest
cat >"$TMP/guest" <<'END'
exec 2>&1
PATH=/bin/rastrace:$PATH
RASTRACE_RUN=/run/rastrace
export PATH RASTRACE_RUN
mkdir -p /run
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
for name in other gone notifier_call_chain no_such_function; do
	echo "refused $name:"
	trace on /t/$name.tdf && exit 1
done
echo "refused absent:"
trace on /t/absent.tdf
trace off --all
trace on /t/loop.tdf || exit 1
[ -b /dev/loop0 ] || mknod /dev/loop0 b 7 0
head -c 65536 /dev/zero >/image
losetup /dev/loop0 /image && losetup -d /dev/loop0
trace off /t/loop.tdf
cat /proc/kallsyms >/symbols
tracefmt --tff /t
trace clear

sed 's/\t.*//' /symbols >/System.map
trcust /M=/System.map /t/data.tsf /data.tdf || exit 1
trace on --context=cpu /data.tdf || exit 1
cat /proc/uptime >/dev/null
trace off /data.tdf
tracefmt
echo 2 >/proc/sys/kernel/kptr_restrict
echo "refused hidden:"
trace on /data.tdf && exit 1
echo "refused sections:"
trace on /t/loop.tdf && exit 1
echo "symbols:"
grep -E ' (blkdev_ioctl|do_syscall_64|__x64_sys_ioctl)$' /symbols
END

# refused NAME REGEX: what the guest reported
refused() {
	like "$(sed -n "/^refused $1:/,/^refused/{/^refused/d;p}" "$out")" "$2" \
		"$series: $1: refused"
}

# The functions in the first stack after the line DESC, of those in the list
stack_of() {
	sed -n '/^symbols:/,$p' "$out" | sed 1d >"$TMP/symbols"
	# 32 bits are enough for all of the kernel's text
	sed -n "/^$1\$/,/^\$/s/^  [0-9A-F]\{8\}\([0-9A-F]\{8\}\) .*/\1/p" "$out" |
		while read -r address; do
			while read -r start _ name; do
				distance=$((0x$address - 0x${start#????????}))
				[ $distance -gt 0 ] && [ $distance -lt 1000 ] &&
					echo "$name"
			done <"$TMP/symbols"
		done | tr '\n' ' '
}

traced() {
	entered=$(grep -c '^entered' "$out")
	ok "$series: entered ($entered)" test "$entered" -ge 2
	is "$(grep -c '^left' "$out")" "$entered" "$series: each left by an exit"
	is "$(grep -c '^returned' "$out")" "$entered" "$series: and to its caller"
	is "$(grep -c '^depth 0000 0080' "$out")" "$entered" \
		"$series: the module's .data"
	is "$(grep -c '^part 0000 0000' "$out")" "$entered" \
		"$series: the module's .bss"
	for what in entered returned; do
		like "$(stack_of $what)" \
			'^blkdev_ioctl __x64_sys_ioctl do_syscall_64 ' \
			"$series: $what: who called"
	done
}

# Each record: the offset is that of the processor it was made on.
per_cpu() {
	ok "$series: the processor's data" awk '
		/^offsets / { first = $2; second = $3 }
		/^CPU/ { cpu = $2 == "[1]" }
		/^offset / {
			n++
			if ($2 != (cpu ? second : first) || $2 == 0)
				bad = 1
		}
		END { exit !n || bad }' "$out" || sed -n '/^opened/,/^$/p' "$out" |
		diag_file
}

for series in ${LONG:+6.1} 6.12; do
	kernel=$("$vm" -k $series -n 2>"$TMP/err") || {
		skip "$series" "$(tail -n 1 "$TMP/err")"
		continue
	}
	find "${kernel%/boot/*}/lib/modules" -name '*.ko*' >"$TMP/modules"
	loop=$(grep '/loop\.ko' "$TMP/modules") &&
		dummy=$(grep '/dummy\.ko' "$TMP/modules") || {
		skip "$series" "the kernel's package has not the modules"
		continue
	}
	t=$TMP/$series out=$TMP/$series.out
	mkdir "$t"
	make_tsfs
	cp "$TMP/guest" "$t/guest"
	status 0 "$series: in the guest" "$vm" -k $series -m loop \
		-f "$BIN:/bin/rastrace" -f "$t:/t" -- sh -c '. /t/guest' ||
		diag_file "$TMP/out"
	mv "$TMP/out" "$out"
	refused other "build-id differs .*loaded module"
	refused absent "armed when the kernel module 'dummy' is loaded"
	refused gone "has no function 'loop_init'"
	refused gone 'code for its init is gone'
	refused notifier_call_chain "allows no probes in 'notifier_call_chain'"
	refused no_such_function "the kernel has no function 'no_such_function'"
	refused hidden 'the kernel hides its addresses'
	refused hidden 'kptr_restrict=1'
	refused sections 'the kernel hides its addresses'
	traced
	per_cpu
done
tap_done
