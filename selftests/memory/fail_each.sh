# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# What the tests here share: a program whose allocations fail, one after the
# other (fail_each.c). In $TMP, which is the current directory.
fail_each=${BUILT:-$TOP/build/selftests}/memory/fail_each
[ -e "$fail_each" ] || skip_all "needs $fail_each"
need cc
# preloaded sanitizers would have to come first
case $(ldd "$BIN/trace") in
*libasan* | *libtsan*) skip_all "not with a sanitizer" ;;
*'not a dynamic'*) skip_all "not of static programs" ;;
esac
# freed memory is none that can be used again
export MALLOC_PERTURB_=165
export FAIL_FOLDER="$TMP/made"
cd "$TMP" || exit 1
mkdir made
: >reported

# each NAME COMMAND...: what has to hold holds. One allocation of each stack of
# callers fails, of all stacks $MOST at most; with LONG every one.
each() {
	each_name=$1
	shift
	FAIL_LIMIT=${LONG:+all}
	FAIL_LIMIT=${FAIL_LIMIT:-${MOST-}} LD_PRELOAD=$fail_each "$@" >log \
		2>&1 </dev/null
	is "$? $(grep -c '^allocation ' log)" "0 0" "$each_name" ||
		diag_file log
	diag "$each_name: $(tail -n 1 log)"
}
