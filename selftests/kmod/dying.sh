# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Kernels that end while records are written, and what is found of these.
. "$(dirname "$0")/../kmod/guest.sh"
need tracefmt trcust
. "$TOP/selftests/registers.sh"

# dying_build KERNEL: sets `modules` to a folder with rastrace.ko and
# rastrace_dying.ko, and the records' TFF
dying_build() {
	kernel=$1 modules=$TMP/$1
	modules "$kernel" || return
	mkdir "$modules"
	cp -r "$TOP/selftests/kmod/dying" "$modules/source"
	ok "$kernel: the dying module builds" \
		kbuild -s "$modules/source" "$kernel" INCLUDE="$TOP/include" \
		KBUILD_EXTRA_SYMBOLS="${built:?}/Module.symvers" || return
	cp "$built/rastrace.ko" "$modules/source/rastrace_dying.ko" "$modules"
	for tsf in "$modules"/source/*.tsf; do
		ok "$kernel: ${tsf##*/}" trcust --output-dir "$modules" "$tsf"
	done
	rm -r "$modules/source"
	app_build
}

# A program that is traced besides
app_build() {
	cp "$kmod/../trace/target" "$modules/target"
	cat >"$modules/app.tsf" <<END
MODNAME=/dying/target
MAJOR=197
TRACE MINOR=1, TP=.work, DESC="work", FMT="n=%D", REGS=($ARG1_32)
END
	ok "$kernel: a program's TSF" trcust --module "$modules/target" \
		"$modules/app.tsf"
}

# What a kernel says that panics of a BUG in an interrupt
bug_reason='Fatal exception in interrupt'
[ "$arch" != aarch64 ] || bug_reason="Oops - BUG: $bug_reason"

# Do guests of this machine have an NMI?
can_nmi() {
	[ "$arch" = x86_64 ]
}

# dying_vm KERNEL VM-OPTION...: runs $TMP/guest
dying_vm() {
	kernel=$1
	shift
	cat >"$TMP/begin" <<'END'
exec 2>&1
PATH=/bin/rastrace:$PATH
RASTRACE_RUN=/run/rastrace
export PATH RASTRACE_RUN
mkdir -p /run
# trace_all: static tracepoints, and 5 records of a program
trace_all() {
	trace on 210,211 && trace on /dying/app.tdf && /dying/target 5 || exit 1
}
END
	vm -k "$kernel" -t 1200 -f "$guest_bin:/bin/rastrace" \
		-f "$modules:/dying" -f "$TMP/begin:/begin" \
		-f "$TMP/guest:/guest" "$@" -- sh -c '. /begin && . /guest'
}

# Of the records on stdin (as tracefmt prints them) those of a title, "CPU COUNT"
# in decimal
counts_of() {
	awk -v title="$1" '
		function number(hex, i, n) {
			for (i = 1; i <= length(hex); i++)
				n = 16 * n + index("123456789ABCDEF",
						   substr(hex, i, 1))
			return n
		}
		$0 == title { wanted = 1 }
		wanted && $1 == "on" && $4 == "count" {
			print number($2 $3), number($5 $6)
			wanted = 0
		}'
}

# whole NAME FILE TITLE N: each of 2 CPUs has exactly 0 to N - 1, in that order
whole() {
	counts_of "$3" <"$2" | awk -v n="$4" '
		$2 != next_one[$1]++ { bad = 1 }
		END { exit bad || next_one[0] != n || next_one[1] != n }' &&
		pass "$1" || not_ok "$1" ||
		counts_of "$3" <"$2" | sort | uniq -c | sort -k 2n,2 -k 3n,3 |
			sed -n '1,3p;$p' | diag_file
}

# of_program NAME FILE: all of its records, by its TFF
of_program() {
	is "$(sed -n 's/^n=//p' "$2" | tr '\n' ' ')" \
		'0000 0000 0000 0001 0000 0002 0000 0003 0000 0004 ' \
		"$1: the program's records"
}

# newest NAME FILE TITLE LAST: each of 2 CPUs has some, without a gap, up to LAST
# (unless that is -)
newest() {
	counts_of "$3" <"$2" | awk -v last="$4" '
		$1 in at && $2 != at[$1] + 1 { bad = 1 }
		{ at[$1] = $2 }
		END {
			for (cpu = 0; cpu < 2; cpu++)
				if (!(cpu in at) ||
				    (last != "-" && at[cpu] != last))
					bad = 1
			exit bad
		}' && pass "$1" || not_ok "$1" ||
		counts_of "$3" <"$2" | sort -n | sed -n '1,3p;$p' | diag_file
}
