#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs installed tests, with the options of the kernel's script of this name.

usage() {
	cat <<'HELP'
usage: run_kselftest.sh [OPTION...]

  -t, --test COLLECTION:TEST      run this test
  -c, --collection COLLECTION     run the tests of this collection
  -l, --list                      list the tests
  -d, --dry-run                   only print what would be run
  -o, --override-timeout SECONDS  let no test run longer, whatever its settings
                                  say
  -h, --help

Without -t and -c all of kselftest-list.txt is run. Prints TAP 13; exit status 0
when no test failed.
HELP
}

misuse() {
	echo "run_kselftest.sh: $*" >&2
	exit 2
}

cd "$(dirname "$0")" || exit 1
list=kselftest-list.txt
[ -r "$list" ] || misuse "no $list here: 'make install' writes it"
chosen='' dry='' limit=''
while [ $# -gt 0 ]; do
	case $1 in
	-[cot]|--collection|--override-timeout|--test)
		[ $# -gt 1 ] || misuse "'$1' needs a value" ;;
	esac
	case $1 in
	-c|--collection)
		grep -q "^$2:" $list || misuse "no collection '$2'"
		chosen="$chosen $(grep "^$2:" $list)"
		shift ;;
	-t|--test)
		grep -qxF -- "$2" $list || misuse "no test '$2'"
		chosen="$chosen $2"
		shift ;;
	-o|--override-timeout)
		limit=$2
		shift ;;
	-l|--list)	exec cat $list ;;
	-d|--dry-run)	dry=1 ;;
	-h|--help)	usage; exit ;;
	*)	usage >&2; exit 2 ;;
	esac
	shift
done
[ -n "$chosen" ] || chosen=$(cat $list)
# shellcheck disable=SC2086
set -- $chosen
if [ -n "$dry" ]; then
	printf '%s\n' "$@"
	exit
fi
# run.sh's patterns have a slash
# shellcheck disable=SC2046
exec ./run.sh -t ${limit:+-o "$limit"} $(printf '%s\n' "$@" | tr : /)
