# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Programs of this folder in guests with rastrace.ko and its samples loaded; the
# points that they print become this test's. $ARCH is the guests' machine.
. "$(dirname "$0")/../tap.sh"
arch=${ARCH:-$(uname -m)}
need "qemu-system-$arch" busybox cpio make
if [ "$arch" = "$(uname -m)" ]; then
	kmod=${BUILT:-$TOP/build/selftests}/kmod guest_bin=$BIN
else
	folder=$("$TOP/selftests/vm/cross_build.sh" "$arch" all selftests \
		TARGETS='kmod static trace' 2>&1)
	case $? in
	0)	kmod=$folder/selftests/kmod guest_bin=$folder/bin ;;
	4)	skip_all "$(echo "$folder" | tail -n 1)" ;;
	*)	bail "nothing is built for $arch: $(echo "$folder" | tail -n 1)" ;;
	esac
fi

kbuild() {
	"$TOP/scripts/kbuild" --arch "$arch" "$@"
}

vm() {
	"$TOP/scripts/vm" --arch "$arch" "$@"
}

# modules KERNEL: sets `built` to their folder
modules() {
	built=$(kbuild "$1" 2>"$TMP/build") || {
		tap_status=$?
		[ "$tap_status" -eq 4 ] && skip_all "$(cat "$TMP/build")"
		not_ok "$1: builds"
		diag_file "$TMP/build"
		return 1
	}
}

# keep MIB: of a guest with so many, a MiB of memory that its kernel leaves alone:
# sets `kept` to the address, and `keep` to the words of its command line
keep() {
	case $arch in
	aarch64)
		# the last one; the first is at 1 GiB (QEMU's hw/arm/virt.c)
		kept=$(printf 0x%x $((($1 + 1023) << 20)))
		keep="mem=$(($1 - 1))M" ;;
	*)	kept=0x10000000
		keep="memmap=1M\$$kept" ;;
	esac
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
	vm -t "${GUEST_SECONDS:-1200}" -k "$kernel" -m "$built/rastrace.ko" "$@" -- \
		sh -c "for p in $programs; do
			echo program \$p; \$p || status=1; done
			exit \$status" >"$TMP/points" 2>"$TMP/kernel"
	status=$?
	points "$name" <"$TMP/points"
	is "$status" 0 "$name: status" || diag_file "$TMP/kernel"
}
