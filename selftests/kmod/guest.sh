# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Programs of this folder in guests with rastrace.ko and its samples loaded; the
# points that they print become this test's.
. "$(dirname "$0")/../tap.sh"
need qemu-system-x86_64 busybox cpio make
kmod=${BUILT:-$TOP/build/selftests}/kmod

# modules KERNEL: sets `built` to their folder
modules() {
	built=$("$TOP/scripts/kbuild" "$1" 2>"$TMP/build") || {
		tap_status=$?
		[ "$tap_status" -eq 4 ] && skip_all "$(cat "$TMP/build")"
		not_ok "$1: builds"
		diag_file "$TMP/build"
		return 1
	}
}

# points NAME: of the programs' TAP output on stdin, which must be complete
points() {
	program='' planned=none seen=0
	while IFS= read -r line; do
		case $line in
		"program "*)
			[ -z "$program" ] ||
				is "$seen" "$planned" "$1: all of its points"
			program=${line#program }
			planned=none seen=0 ;;
		"ok "*)
			pass "$1: $program: ${line#ok * - }"
			seen=$((seen + 1)) ;;
		"not ok "*)
			not_ok "$1: $program: ${line#not ok * - }"
			seen=$((seen + 1)) ;;
		1..*)	planned=${line#1..} ;;
		"TAP version "*) ;;
		*)	diag "${line#\# }" ;;
		esac
	done
	is "$seen" "$planned" "$1: all of its points"
}

# guest NAME KERNEL 'PROGRAM...' [VM-OPTION...]: one after the other
guest() {
	name=$1 kernel=$2 programs=$3
	shift 3
	for module in storm sample; do
		set -- -m "$built/sample/rastrace_$module.ko" "$@"
	done
	for program in $programs; do
		set -- "$@" -f "$kmod/$program:/bin/$program"
	done
	# the module that the others need comes first
	"$TOP/scripts/vm" -t 300 -k "$kernel" -m "$built/rastrace.ko" "$@" -- \
		sh -c "for p in $programs; do
			echo program \$p; \$p || status=1; done
			exit \$status" >"$TMP/points" 2>"$TMP/kernel"
	status=$?
	points "$name" <"$TMP/points"
	is "$status" 0 "$name: status" || diag_file "$TMP/kernel"
}
