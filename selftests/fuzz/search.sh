#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# search.sh FOLDER SECONDS NAME...: runs FOLDER/fuzz_NAME, made by clang, for so
# long each, one after the other. What is found is kept: inputs in
# FOLDER/found/NAME, crashes as FOLDER/crash/NAME-*, what it said in
# FOLDER/log/NAME. A crash ends neither the time nor the others; exit status: 1
# there was one.

folder=$1 seconds=$2
shift 2
corpus=$(dirname "$0")/corpus
failed=''
mkdir -p "$folder/crash" "$folder/log"

# run NAME SECONDS
run() {
	mkdir -p "$folder/found/$1"
	"$folder/fuzz_$1" -max_total_time="$2" -print_final_stats=1 \
		-artifact_prefix="$folder/crash/$1-" -timeout=10 \
		"$folder/found/$1" "$corpus/$1" >>"$folder/log/$1" 2>&1
}

# figure NAME WORD: of the last run that has it
figure() {
	sed -n "s/.*$2:* *\([0-9]*\).*/\1/p" "$folder/log/$1" | tail -n 1
}

# search NAME: all its time, begun anew after a crash; at most so often as there
# is something to learn from it
search() {
	end=$(($(date +%s) + seconds)) crashes=0 runs=0
	: >"$folder/log/$1"
	while left=$((end - $(date +%s))) && [ $left -gt 0 ] &&
		[ $crashes -lt 5 ]; do
		run "$1" $left || crashes=$((crashes + 1))
	done
	runs=$(awk '/number_of_executed_units/ { n += $2 } END { print n + 0 }' \
		"$folder/log/$1")
	printf '%-12s %10s runs, %6s edges, %6s features, %s crashes\n' "$1" \
		"$runs" "$(figure "$1" cov)" "$(figure "$1" ft)" $crashes
	[ $crashes -eq 0 ] || failed="$failed $1"
}

for name; do search "$name"; done
[ -z "$failed" ] || {
	echo "crashes of:$failed"
	ls "$folder"/crash/*
	exit 1
}
