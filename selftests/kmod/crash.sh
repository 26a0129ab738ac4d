# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# After a panic the newest records are in memory that the next boot of the same
# machine finds again: one boot after the other, each ends in another way, and
# what the last one left is saved once and counted.
. "$(dirname "$0")/../kmod/dying.sh"
N=300
LARGE=2000

# Runs in every boot; what the one before left shows which it is.
cat >"$TMP/guest" <<'END'
# die PARAMETERS
die() {
	trace_all
	# shellcheck disable=SC2086
	insmod /dying/rastrace_dying.ko $1 || exit 1
	echo c >/proc/sysrq-trigger
	sleep 60
}

refused() {
	echo "refused: $1"
	insmod /dying/rastrace.ko crash_mem="$1" && exit 1
}

# shellcheck disable=SC2086
insmod /dying/rastrace.ko $REGION || exit 1
trace get --crash /crash.ras >/said 2>&1
saved=$?
last=$(tracefmt -s /crash.ras 2>/dev/null | sed -n 's/^Its kernel panicked: //p')
echo "== after: ${last:-nothing}"
cat /said
if [ "$saved" -eq 0 ]; then
	tracefmt -s /crash.ras 2>/dev/null | cat
	wc -c </crash.ras
	tracefmt -q --tff /dying /crash.ras | grep -v '^Event'
	echo "again:"
	trace get --crash /again.ras && exit 1
fi
case $last in
sysrq*)	last=sysrq ;;
*interrupt*)
	last=bug ;;
NMI*)	last=lockup ;;
of*)	last=running ;;
'')	rmmod rastrace
	for wrong in $WRONG; do refused "$wrong"; done
	insmod /dying/rastrace.ko $REGION || exit 1 ;;
*)	exit 1 ;;
esac
# the one after that, or the first
# shellcheck disable=SC2086
set -- ${ENDS#*"$last"}
case $1 in
sysrq)	die records=$N ;;
bug)	die "records=$N end=bug" ;;
lockup)	die "records=$LARGE end=lockup" ;;
running)
	die "records=10 running=1 end=panic" ;;
esac
exit 7
END

# after REASON: what was printed in the boot after that
after() {
	sed -n "/^== after: $1/,/^== after/p" "$TMP/said" >"$TMP/text"
	ok "$kernel: after $1" test -s "$TMP/text"
}

# exact REASON: all records, saved once
exact() {
	after "$1"
	whole "$kernel: $1: in an interrupt" "$TMP/text" \
		"counted in an interrupt" $N
	whole "$kernel: $1: in a process" "$TMP/text" "counted in a process" $N
	of_program "$kernel: $1" "$TMP/text"
	like "$(cat "$TMP/text")" "^$((4 * N + 5)) records" "  no more"
	like "$(cat "$TMP/text")" '^Complete from its start' "  all of it"
	like "$(sed -n '/^again:/,$p' "$TMP/text")" 'saved already' \
		"  saved once"
}

# ended HOW: what was found of that end
ended() {
	case $1 in
	sysrq)	exact 'sysrq triggered crash' ;;
	bug)	exact "$bug_reason" ;;
	lockup)	after NMI
		newest "$kernel: hard lockup, more than fits" "$TMP/text" \
			"counted in a process" $((LARGE - 1))
		# a record takes 48 + 96 bytes, and the room is 256 KiB
		found=$(sed -n 's/^\([0-9]*\) records.*/\1/p' "$TMP/text")
		ok "$kernel: hard lockup: the room is used ($found records)" \
			test $((found * 144)) -gt $((240 << 10)) ;;
	running)
		# and not of the panic in the panic
		after 'of rastrace_dying'
		newest "$kernel: with writers under way" "$TMP/text" "running" - ;;
	esac
}

# crashes KERNEL 'END...' REGION 'WRONG...' VM-OPTION...: ends one after the
# other, each in a boot; parameters that don't name memory to be used
crashes() {
	kernel=$1 ends=$2 region=$3 wrong=$4
	shift 4
	dying_build "$kernel" || return
	can_nmi && set -- -N 'CPU 0 is stuck' -a unknown_nmi_panic "$@"
	status 7 "$kernel: one boot after the other" dying_vm "$kernel" -R \
		-t 1200 -l "$TMP/log" \
		-e ENDS="$ends" -e REGION="$region" -e WRONG="$wrong" -e N=$N \
		-e LARGE=$LARGE "$@" || diag_file "$TMP/log"
	mv "$TMP/out" "$TMP/said"
	after nothing
	like "$(cat "$TMP/text")" 'no panic has left a trace' "  with a message"
	is "$(grep -c "can't insert" "$TMP/text")" "$(echo "$wrong" | wc -w)" \
		"$kernel: memory that isn't kept from the kernel is refused"
	for end in $ends; do ended "$end"; done
}

# ends_here 'END...': those that guests of this machine have
ends_here() {
	for end in $1; do
		[ "$end" = lockup ] && ! can_nmi || printf '%s ' "$end"
	done
}

# In memory that is kept from the kernel by its address; not to be used: in the
# middle of the kernel's own, too small, not at a page, at its end, none
crashes_address() {
	keep 512
	case $arch in
	aarch64) own=1M@0x48000000 end=1M@0x5fe80000 ;;
	*)	own=1M@0x8000000 end=1M@0x1ff80000 ;;
	esac
	crashes 6.1 "$(ends_here "$1")" crash_mem=256K@"$kept" \
		"$own 64K@$kept 128K@${kept%000}800 $end 1M@ nothing" -a "$keep"
}

# In memory that has a name, at the alignment that rastrace(4) names
crashes_name() {
	case $arch in
	aarch64) own=1M@0x48000000 ;;
	*)	own=1M@0x8000000 ;;
	esac
	crashes 6.12 "$(ends_here "$1")" '' "$own nothing" \
		-a 'nokaslr reserve_mem=256K:64M:rastrace'
}
