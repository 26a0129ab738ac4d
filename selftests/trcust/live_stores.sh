#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Wherever a probe is in a function, from its first instruction on, a variable's
# value is the one that the program prints, or none: not what is left over in a
# slot of the frame that is not stored yet. With $LONG, more functions, and at
# all levels of optimisation.
. "$(dirname "$0")/../tap.sh"
need_root
need awk objdump
here=$(cd "$(dirname "$0")" && pwd)/stores
functions=${LONG:+24}
functions=${functions:-12}
cd "$TMP" || exit 1

# Each function's instructions up to where it prints: "fK OFFSET"
instructions() {
	objdump -d --no-show-raw-insn program | awk '
	/^[0-9a-f]+ <f[0-9]+>:$/ {
		name = substr($2, 2, length($2) - 3)
		start = $1
		next
	}
	/^$/ { name = "" }
	name != "" {
		address = $1
		sub(/:$/, "", address)
		print name, start, address
		if (/<report[0-9]+>/)
			name = ""
	}' | while read -r name start address; do
		echo "$name $((0x$address - 0x$start))"
	done
}

# All that a function prints, at each of its instructions, a line for each name
points() {
	printf 'MODNAME="./program"\nMAJOR=78\n'
	instructions | awk '
	NR == FNR {
		if (!($1 in names))
			for (i = 3; i <= NF; i++)
				names[$1] = names[$1] " " substr($i, 1, index($i, "=") - 1)
		next
	}
	{
		printf "TRACE MINOR=%d, TP=.%s+%d,\n\tVARS=(calls),\n", ++minor, $1, $2
		count = split(names[$1], list, " ")
		for (i = 1; i <= count; i++) {
			sub(/_/, ".", list[i])
			printf "\tVARS=(%s),\n", list[i]
		}
	}' printed -
}

# Without lines that trcust refuses: a variable, or all of a tracepoint
refused() {
	awk '
	NR == FNR {
		if (split($0, part, ":") > 3 && part[4] ~ /error/)
			bad[part[2]]
		next
	}
	/^TRACE/ { drop = FNR in bad }
	!drop && !(FNR in bad)' err one.tsf
}

compile() {
	points >one.tsf
	for _ in 1 2 3 4 5 6; do
		trcust --site="$1" one.tsf >err 2>&1 && return
		refused >two.tsf
		mv two.tsf one.tsf
	done
	return 1
}

# Values that differ from what the function printed in that call, then how many
# are the same; of those how many at the first instruction.
judge() {
	awk '
	function note(line, list, i) {
		split(line, list, " ")
		for (i = 3; i in list; i++)
			said[list[1] " " list[2] " " list[i]]
	}
	NR == FNR { note($0); next }
	{
		gsub(/=<[^>]*>/, "=<")	# notes have blanks
		split($1, at, "=")
		sub(/[+].*/, "", at[2])
		split($2, call, "=")
		for (i = 3; i <= NF; i++) {
			if ($i ~ /=</)
				marked++
			else if ((at[2] " " call[2] " " $i) in said) {
				same++
				if ($1 ~ /[+]0$/)
					first++
			} else
				print $0 ": " $i
		}
	}
	END { print "same", same + 0, "first", first + 0, "marked", marked + 0 }
	' printed events
}

# program SITE LEAST FIRST COMPILER OPTION...: at least so many values, and so
# many at first instructions, of 24 functions
program() {
	site=$1 least=$(($2 * functions / 24)) first=$(($3 * functions / 24))
	shift 3
	what="$*, $site"
	awk -v seed=7 -v functions="$functions" -f "$here/program.awk" >program.c
	if ! command -v "$1" >/dev/null ||
	   ! "$@" -g -w -o program program.c 2>log; then
		skip "$what" "the compiler can't do it"
		return
	fi
	./program >printed
	compile "$site" || {
		not_ok "$what: compiles"
		diag_file err
		return
	}
	trace run -o one.ras one.tdf -- ./program >again 2>log
	is "$(cat again)" "$(cat printed)" "$what: the program is the same"
	fields=$(tr ' ' '\n' <printed | sed -n 's/=.*//p' | sort -u |
		tr '\n' ,)
	tracefmt -q --tff . --fields "desc,calls,${fields%,}" one.ras >events
	judge >judged
	is "$(sed '/^same/d' judged | head -n 8)" "" "$what: no value is another one"
	sed -n '/^same/p' judged | diag_file
	ok "$what: values were compared" test \
		"$(awk '/^same/ { print $2 }' judged)" -ge "$least"
	ok "$what: the parameters are known from the start" test \
		"$(awk '/^same/ { print $4 }' judged)" -ge "$first"
}

for cc in gcc clang; do
	program exact 15000 400 $cc -O0
	program safe 15000 400 $cc -O2
	program exact 15000 200 $cc -O0 -m32
	[ -n "${LONG-}" ] || continue
	for options in -O1 -O2 -O3 -Os '-O0 -fomit-frame-pointer' '-O2 -m32'; do
		# shellcheck disable=SC2086
		program exact 15000 120 $cc $options
	done
done
tap_done
