#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The module builds for each kernel of the tests without a word of W=1 and of
# sparse (C=2), and a static tracepoint that is off is one nop in what the
# compiler makes of it. $ARCH is the kernels' machine. Without $LONG it is the newest
# kernel only; other tests build the module for 6.1.
. "$(dirname "$0")/../tap.sh"
arch=${ARCH:-$(uname -m)}
[ "$arch" = "$(uname -m)" ] || objdump=$arch-linux-gnu-objdump
need make "${objdump:=objdump}"

kbuild() {
	"$TOP/scripts/kbuild" --arch "$arch" "$@"
}

# Between what the function tracer has in front of a function, and the first jump
# or return
path_off() {
	case $arch in
	aarch64) path_off_a64 "$1" ;;
	*)	path_off_x86 "$1" ;;
	esac
}

# Two nops: -fpatchable-function-entry (arch/arm64/Makefile)
path_off_a64() {
	"$objdump" -d --no-show-raw-insn --disassemble=call_static "$1" | awk '
		/<call_static>:$/ { inside = 1; next }
		inside {
			if ($2 ~ /^(b|ret)/)
				exit
			sub(/^[ \t]*[0-9a-f]+:[ \t]*/, "")
			if (++n > 2)
				print
		}'
}

# A call
path_off_x86() {
	"$objdump" -dr --no-show-raw-insn --disassemble=call_static "$1" | awk '
		/R_X86_64/ {
			inside = inside || (called && /__fentry__/)
			next
		}
		inside {
			if ($2 ~ /^(jmp|ret)/)
				exit
			sub(/^[ \t]*[0-9a-f]+:[ \t]*/, "")
			print
		}
		{ called = $2 ~ /^call/ }'
}

build() {
	sparse=
	command -v sparse >/dev/null && sparse="C=2 CF=-Wsparse-error"
	# what it says of fetching them is no word of the compiler's
	kbuild -n "$1" >/dev/null 2>&1
	# shellcheck disable=SC2086
	built=$(kbuild -o "$TMP/$1" "$1" W=1 $sparse 2>"$TMP/$1.log") || {
		tap_status=$?
		[ "$tap_status" -eq 4 ] && skip_all "$(cat "$TMP/$1.log")"
		not_ok "$1: builds"
		diag_file "$TMP/$1.log"
		return
	}
	# which the headers come without
	grep -v '^Skipping BTF generation' "$TMP/$1.log" >"$TMP/words"
	is "$(cat "$TMP/words")" '' "$1: W=1 has nothing to say"
	if [ -n "$sparse" ]; then
		pass "$1: nor has sparse"
	else
		skip "$1: sparse" "needs sparse"
	fi
	off=$(path_off "$built/sample/rastrace_cost.ko")
	diag "$1: off, it is: $off"
	is "$(echo "$off" | grep -cE '^(nop|xchg +%ax,%ax)')" 1 \
		"$1: a tracepoint that is off is one nop"
	is "$(echo "$off" | grep -c .)" 1 "$1: and nothing else"
}

# sparse would find it
sparse_sees() {
	command -v sparse >/dev/null || return
	cp -r "$TOP/kmod" "$TOP/include" "$TMP" || return
	sed -i 's/get_user(\*given, (const u32 __user \*)arg)/!(*given = *(u32 *)arg)/' \
		"$TMP/kmod/main.c"
	kbuild -s "$TMP/kmod" 6.12 C=2 >"$TMP/out" 2>&1
	like "$(cat "$TMP/out")" "warning: cast removes address space '__user'" \
		"sparse would see user memory read as it is"
}

[ -z "${LONG-}" ] || build 6.1
build 6.12
sparse_sees
tap_done
