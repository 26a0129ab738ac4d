# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Memory dumps of kernels that ended while records were written, and what is
# printed of these.
. "$(dirname "$0")/../kmod/dying.sh"
N=1500
cat >"$TMP/guest" <<'END'
insmod /dying/rastrace.ko || exit 1
trace_all
grep -qw la57 /proc/cpuinfo && echo five levels || echo four levels
grep -qw pti /proc/cpuinfo && echo isolated
# shellcheck disable=SC2086
insmod /dying/rastrace_dying.ko $DYING || exit 1
case $DYING in
*end=*) ;;
*)	echo c >/proc/sysrq-trigger ;;
esac
sleep 60
END

# dump NAME KERNEL FILE PARAMETERS VM-OPTION...: of the dying module
dump() {
	name=$1 kernel=$2 core=$TMP/$3 parameters=$4
	shift 4
	can_nmi && set -- "$@" -a unknown_nmi_panic
	status 0 "$kernel: $name: a dump" dying_vm "$kernel" -D "$core" \
		-l "$TMP/log" -e DYING="$parameters" "$@" || {
		diag_file "$TMP/log"
		return 1
	}
	mv "$TMP/out" "$TMP/said"
	printed "$kernel: $name" "$core"
}

# printed NAME FILE: text in $TMP/text, figures in $TMP/figures
printed() {
	status 0 "$1: printed" tracefmt --tff "$TMP/$kernel" --vmcore "$2" &&
		mv "$TMP/out" "$TMP/text" && mv "$TMP/err" "$TMP/figures"
}

# all_counted NAME
all_counted() {
	whole "$1: records in an interrupt" "$TMP/text" \
		"counted in an interrupt" $N
	whole "$1: records in a process" "$TMP/text" "counted in a process" $N
	of_program "$1" "$TMP/text"
}

# reason TEXT: the reason of the panic
reason() {
	like "$(cat "$TMP/figures")" "^Its kernel panicked: $1" \
		"$kernel: $name: why"
}

# The forms that makedumpfile makes of it. It takes for granted that program
# headers follow the ELF header, where QEMU has section headers.
forms() {
	command -v makedumpfile >/dev/null || {
		skip "$kernel: makedumpfile's forms" "needs makedumpfile"
		return
	}
	set -- "$(od -An -tu8 -j32 -N8 "$core")" "$(od -An -tu2 -j56 -N2 "$core")"
	dd if="$core" of="$TMP/headers" bs=1 skip=$(($1)) count=$(($2 * 56)) \
		2>/dev/null
	{
		head -c 32 "$core"
		printf '\100\0\0\0\0\0\0\0'
		printf '\0\0\0\0\0\0\0\0'
		printf '\0\0\0\0\100\0\070\0'
		dd if="$core" bs=1 skip=56 count=2 2>/dev/null
		printf '\0\0\0\0\0\0'
		cat "$TMP/headers"
	} >"$TMP/head"
	chmod u+w "$core"
	dd if="$TMP/head" of="$core" conv=notrunc 2>/dev/null
	for form in -E -c -l -z; do
		ok "$kernel: makedumpfile $form" \
			makedumpfile "$form" -d 31 "$core" "$TMP/form"
		printed "$kernel: made by $form" "$TMP/form"
		all_counted "$kernel: made by $form"
		rm -f "$TMP/form"
	done
	makedumpfile -F -c -d 31 "$core" >"$TMP/form" 2>/dev/null
	printed "$kernel: flattened" "$TMP/form"
	all_counted "$kernel: flattened"
	rm -f "$TMP/form"
}

# Of a dump that was cut short: what is there, and that it isn't all.
cut_short() {
	for mib in 1 100 400; do
		truncate -s ${mib}M "$core.cut" &&
			head -c ${mib}M "$core" >"$core.cut"
		status 1 "$kernel: cut short at $mib MiB" \
			tracefmt --tff "$TMP/$kernel" --vmcore "$core.cut"
		like "$(cat "$TMP/err")" 'cut|page tables' "  with a message"
	done
	rm -f "$core.cut"
}
