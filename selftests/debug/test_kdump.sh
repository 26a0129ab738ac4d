#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# kdump as in the field: a kernel that was loaded for it boots in the memory of
# the one that panicked, and prints the trace out of /proc/vmcore, and out of what
# makedumpfile makes of that. With crash_kexec_post_notifiers it is in the memory
# that outlives a reboot, too.
. "$(dirname "$0")/../kmod/dying.sh"
need kexec makedumpfile
N=300

# Runs in the kernel that panics, in kdump's, and in the one that boots after
# that when there is a REGION; what is there shows which it is.
cat >"$TMP/guest" <<'END'
# print NAME TRACEFMT FILE...
print() {
	echo "== $1"
	shift
	"$@" >/tmp/text 2>/tmp/figures
	echo "status $?"
	cat /tmp/figures /tmp/text
}

# form MAKEDUMPFILE-OPTION...: what is in it is what was printed last, but for
# names, which may have been left out when the kernel is newer than makedumpfile
form() {
	if makedumpfile "$@" -d 31 /proc/vmcore /tmp/form >/tmp/said 2>&1; then
		tracefmt --tff /dying --vmcore /tmp/form 2>&1 >/tmp/again |
			grep damaged
		sed 's/  Process .*//' /tmp/again >/tmp/form
		sed 's/  Process .*//' /tmp/text | cmp - /tmp/form &&
			echo "form $*: the same"
	else
		tail -n 3 /tmp/said
	fi
	rm /tmp/form
}

if [ -e /proc/vmcore ]; then
	print vmcore /static/tracefmt --tff /dying --vmcore /proc/vmcore
	form -c
	form -l
	[ -n "$REGION" ] || exit 7
	echo b >/proc/sysrq-trigger
	sleep 60
fi
insmod /dying/rastrace.ko || exit 1
if trace get --crash /crash.ras; then
	print region tracefmt --tff /dying /crash.ras
	exit 7
fi
trace_all
insmod /dying/rastrace_dying.ko records="$N" || exit 1
# this file system without what is mounted in it
cd / && find . -xdev ! -path './kernel/*' | cpio -o -H newc >/tmp/initramfs ||
	exit 1
kexec -p /kernel/image --initrd=/tmp/initramfs --append="console=ttyS0 \
loglevel=5 panic=-1 nr_cpus=1 irqpoll reset_devices tsc=reliable \
no_timer_check mitigations=off" || exit 1
echo c >/proc/sysrq-trigger
sleep 60
END

# printed NAME: what `print NAME` did in the guest, into $TMP/text
printed() {
	sed -n "/^== $1\$/,/^== /p" "$TMP/said" >"$TMP/text"
	is "$(sed -n 2p "$TMP/text")" 'status 0' "$kernel: $1: printed"
	whole "$kernel: $1: records in an interrupt" "$TMP/text" \
		"counted in an interrupt" $N
	whole "$kernel: $1: records in a process" "$TMP/text" \
		"counted in a process" $N
	of_program "$kernel: $1" "$TMP/text"
	like "$(cat "$TMP/text")" "^$((4 * N + 5)) records" "  no more"
}

# kdump KERNEL VM-OPTION...
kdump() {
	kernel=$1
	shift
	dying_build "$kernel" || return
	image=$("$TOP/scripts/vm" -n -k "$kernel")
	status 7 "$kernel: a panic, and kdump's kernel" dying_vm "$kernel" -R \
		-M 640 -t 900 -l "$TMP/log" -f "$image:/kernel/image" \
		-f "$(command -v kexec):/bin/kexec" \
		-f "$(command -v makedumpfile):/bin/makedumpfile" \
		-f "$static:/static/tracefmt" -e N=$N \
		-a crashkernel=224M "$@" || diag_file "$TMP/out" "$TMP/log"
	mv "$TMP/out" "$TMP/said"
	printed vmcore
	for form in -c -l; do
		like "$(cat "$TMP/text")" "^form $form: the same" \
			"$kernel: makedumpfile $form"
	done
}

static=$TOP/build/static/tracefmt
ok "a static tracefmt" make -s -C "$TOP" build/static/tracefmt || tap_done

# No notifier has run: kdump's note has the time, and nothing has the reason.
kdump 6.1 -e REGION= && {
	like "$(cat "$TMP/text")" ', taken 20[2-9]' '  when it was'
	unlike "$(cat "$TMP/text")" '^Its kernel panicked' '  not why'
}
kdump 6.12 -e REGION=1 \
	-a 'nokaslr reserve_mem=512K:64M:rastrace crash_kexec_post_notifiers' && {
	like "$(cat "$TMP/text")" '^Its kernel panicked: sysrq' '  why it was'
	printed region
}
tap_done
