#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The tests have kselftest's shape: installed into a folder they run from there,
# without the tree, on this machine and in a guest; dropped into a kernel tree
# they are built, installed and run by its Makefile.
. "$(dirname "$0")/../tap.sh"
need make cc
targets="lib static stress"
installed=$TMP/elsewhere/rastrace-tests

grep -hv '^#' "$TOP"/selftests/*/config | sort -u |
	grep -vxF -f "$TOP/scripts/debug_kernel.config" >"$TMP/missing"
is "$(cat "$TMP/missing")" "" "the debug kernel has what the folders ask for"

for folder in "$TOP"/selftests/*; do
	ls "$folder"/live_* >/dev/null 2>&1 && [ ! -s "$folder/config" ] &&
		echo "${folder##*/}"
done >"$TMP/missing"
is "$(cat "$TMP/missing")" "" "each with live tests says what it asks for"

ok "installed" make -s -C "$TOP/selftests" TARGETS="$targets" install \
	INSTALL_PATH="$installed"
for target in $targets; do
	make -s --no-print-directory -C "$TOP/selftests/$target" emit_tests
done >"$TMP/expected"
is "$(cat "$installed/kselftest-list.txt")" "$(cat "$TMP/expected")" \
	"the list has all tests"
while IFS=: read -r collection name; do
	[ -x "$installed/$collection/$name" ] || echo "$collection/$name"
done <"$TMP/expected" >"$TMP/missing"
is "$(cat "$TMP/missing")" "" "each of them is there"
ok "with settings and config" \
	test -s "$installed/stress/settings" -a -s "$installed/stress/config"
grep -rlF "$TOP/" "$installed" --include='*.sh' --include=kselftest-list.txt \
	>"$TMP/named"
is "$(cat "$TMP/named")" "" "no script names the tree"

# What it runs is what lies there: the tree is out of its sight.
run() {
	env -u TOP -u BIN -u TMP -u RASTRACE_RUN PATH="$clean_path" \
		"$installed/run_kselftest.sh" "$@"
}
clean_path=${PATH#"$BIN:"}
is "$(run -l)" "$(cat "$TMP/expected")" "listed"
is "$(run -d -t lib:test_hash)" lib:test_hash "one chosen"
is "$(run --dry-run --collection stress)" \
	"$(grep '^stress:' "$TMP/expected")" "a collection"
status 2 "a test that isn't there" run -t lib:test_no_such
status 2 "a collection that isn't there" run -c no_such
status 0 "run from there" run -t lib:test_hash -t lib:test_quantity \
	-t static:live_static.sh \
	-t static:test_library.sh
like "$(cat "$TMP/out")" '^ok [0-9]+ - lib/test_hash: ' "a C test's points"
like "$(cat "$TMP/out")" '^ok [0-9]+ - static/live_static.sh: ' \
	"a shell test's points"
like "$(cat "$TMP/out")" \
	'^ok [0-9]+ - static/test_library.sh: all # SKIP needs the source tree' \
	"what needs the tree is skipped"
unlike "$(cat "$TMP/out")" '^not ok' "none fails"
like "$(tail -n 1 "$TMP/out")" '^1\.\.[1-9]' "TAP with its plan"

# A failure in an installed test is one of the whole.
cp "$installed/lib/test_hash" "$TMP/kept"
printf '#!/bin/sh\necho 1..1\necho "not ok 1 - bad"\nexit 1\n' \
	>"$installed/lib/test_hash"
status 1 "a failed test fails the run" run -t lib:test_hash
cp "$TMP/kept" "$installed/lib/test_hash"

if "$TOP/scripts/vm" -k 6.12 -n >"$TMP/out" 2>&1; then
	status 0 "in a guest" "$TOP/scripts/vm" -k 6.12 -a preempt=full -t 300 \
		-f "$installed:/t" -- sh /t/run_kselftest.sh -o 240 \
		-t lib:test_hash -t static:live_static.sh
	like "$(cat "$TMP/out")" '^ok [0-9]+ - static/live_static.sh: ' \
		"live tests, too"
	unlike "$(cat "$TMP/out")" '^not ok' "none fails"
else
	skip "in a guest" "$(cat "$TMP/out")"
fi

# scripts/debug_kernel keeps the frame of the kernel's own tests
cache=${RASTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rastrace}
if [ ! -d "$cache/debug/tools" ]; then
	skip "in a kernel tree" "the debug kernel isn't there"
	tap_done
fi
if ! command -v rsync >/dev/null; then
	skip "in a kernel tree" "needs rsync"
	tap_done
fi
linux=$TMP/linux
mkdir "$linux"
cp -R "$cache/debug/tools" "$cache/debug/scripts" "$linux/"
mkdir "$linux/tools/testing/selftests/rastrace"
cp -R "$TOP"/selftests/* "$linux/tools/testing/selftests/rastrace/"
kernel() {
	env -u TOP -u BIN -u MAKEFLAGS -u MAKELEVEL make -s \
		-C "$linux/tools/testing/selftests" RASTRACE="$TOP" \
		TARGETS="rastrace/stress rastrace/lib" "$@"
}
status 2 "in a kernel tree: without this project" make -s \
	-C "$linux/tools/testing/selftests/rastrace/lib" all
like "$(cat "$TMP/err")" "RASTRACE=FOLDER has to say" "  with a message"
ok "in a kernel tree: built and installed" kernel install \
	KSFT_INSTALL_PATH="$TMP/kernel"
is "$(cat "$TMP/kernel/kselftest-list.txt")" \
	"$(sed -n 's,^\(stress\|lib\):,rastrace/\1:,p' "$TMP/expected" |
	   sort -r -t : -k 1,1 -s)" "the kernel's list has them"
status 0 "run by the kernel's script" "$TMP/kernel/run_kselftest.sh" \
	-c rastrace/lib
like "$(cat "$TMP/out")" '^ok [0-9]+ selftests: rastrace/lib: test_hash$' \
	"which takes them for its own"
unlike "$(cat "$TMP/out")" '^not ok' "none fails"
ok "run_tests of the kernel's Makefile" kernel run_tests
tap_done
