# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0
# What is left in the kernel when all is off: pins, BPF programs, maps and links
# (leftover.c), kprobes, memory. not_ok() and quote() are the caller's.
SETTLE_TRIES=${SETTLE_TRIES:-60}

pins_left() {
	find "$RASTRACE_RUN" -type f 2>/dev/null | grep -v '\.debug$'
}

kprobes() {
	cat /sys/kernel/debug/kprobes/list 2>/dev/null
}

# What is there now: sets `objects` to "PROGRAMS MAPS LINKS", `kib`, `probes`
take_stock() {
	leftover >"$S/left"
	read -r programs maps links kib <"$S/left"
	objects="$programs $maps $links"
	probes=$(kprobes)
}

# settled OBJECTS: have they come down to that, and are no probes left? The
# kernel frees all of it some time after it is let go, a link first and then its
# probe.
settled() {
	tries=0
	while take_stock; [ "$objects" != "$1" ] || [ -n "$probes" ]; do
		tries=$((tries + 1))
		[ $tries -lt "$SETTLE_TRIES" ] || return 1
		sleep 0.5
	done
}

# grown_since KIB: how much more memory the kernel has for itself
grown_since() {
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	take_stock
	grown=$((kib - $1))
	echo "# boot $boot: the kernel has $grown KiB more than at its start"
	[ $grown -lt "$SOAK_GROWTH" ] || {
		not_ok "the kernel's memory has grown by $grown KiB"
		quote /proc/meminfo
	}
}

# back_to OBJECTS: as it was, or what is left is reported
back_to() {
	settled "$1" && return
	[ "$objects" = "$1" ] ||
		not_ok "BPF programs, maps, links: $objects, were $1"
	[ -z "$probes" ] || not_ok "kprobes are left: $probes"
}

# all_gone OBJECTS: nothing is left but those
all_gone() {
	pins=$(pins_left)
	[ -z "$pins" ] || not_ok "pins are left: $pins"
	umount "$RASTRACE_RUN" 2>/dev/null
	back_to "$1"
}
