# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The programs of scripts/corpus at their own tests, or at what they are for.
# NAME_suite PROGRAM; what they print is the same each time. SOURCES: where the
# sources are.

# The same addresses each time: some are printed
lua_suite() {
	setarch -R "$1" "$TOP/selftests/corpus/workload.lua"
}

minigzip_suite() {
	cat "$SOURCES"/lua5.4/src/l*.c >"$TMP/text"
	for level in 1 6 9; do
		"$1" -c -$level "$TMP/text" >"$TMP/text.gz"
		cksum <"$TMP/text.gz"
		"$1" -c -d "$TMP/text.gz" | cmp - "$TMP/text"
	done
}

xmltest_suite() {
	rm -rf "$TMP/xml" && mkdir "$TMP/xml"
	cp -r "$SOURCES/tinyxml2/resources" "$TMP/xml"
	# some lines have the time that it took
	(cd "$TMP/xml" && setarch -R "$1") | grep -v -i -e time -e second
}

# Of some of sqlite's 1,200 files of tests the sums
testfixture_suite() {
	rm -rf "$TMP/sqlite" && mkdir "$TMP/sqlite"
	(cd "$TMP/sqlite" && for name in select1 join insert update index \
		trigger1 view expr func vacuum alter analyze where orderby1 \
		window1 json101 wal savepoint thread001 fts3aa fts4aa pragma \
		rollback attach temptable collate1 between cast limit \
		subquery with1 e_select; do
		"$1" "$SOURCES/sqlite3/test/$name.test"
	done) | grep -E 'errors? out of|^!'
}

# Its tests bring some programs along. Left out are those that wait, or whose
# output has process ids and times.
bash_suite() {
	rm -rf "$TMP/bash" && mkdir "$TMP/bash"
	cp -rp "$SOURCES/bash/tests" "$TMP/bash"
	for name in recho zecho printenv xcase; do
		gcc -w -I"$SOURCES/bash" -I"$SOURCES/bash/include" \
			-o "$TMP/bash/tests/$name" \
			"$SOURCES/bash/support/$name.c" || return
	done
	(cd "$TMP/bash/tests" && for name in alias appendop arith array assoc \
		attr braces builtins casemod comsub cond cprint dollars errors \
		exp-tests extglob func getopts glob-test heredoc herestr \
		histexpand ifs invert lastpipe mapfile more-exp nameref \
		new-exp nquote parser posixexp precedence printf procsub quote \
		redir rhs-exp set-e shopt strip test tilde trap type \
		vredir; do
		echo "$name"
		THIS_SH=$1 BUILD_DIR=$TMP/bash BASH_TSTOUT=$TMP/bash/out \
			PATH=.:$PATH timeout 100 setsid -w sh "run-$name"
	done)
}

# tests start servers of their own by this path
redis_suite() {
	rm -rf "$TMP/redis" && mkdir -p "$TMP/redis/src"
	cp -rp "$SOURCES/redis/tests" "$SOURCES/redis/runtest" "$TMP/redis"
	ln -s "$1" "$TMP/redis/src/redis-server"
	ln -s "${1%/*}/redis-cli" "${1%/*}/redis-benchmark" "$TMP/redis/src"
	set --
	for name in type/hash type/string keyspace sort multi scripting; do
		set -- "$@" --single "unit/$name"
	done
	# without colours, and how long it took
	(cd "$TMP/redis" && ./runtest --clients 1 "$@") |
		sed 's/\x1b\[[0-9;]*m//g; s/ ([0-9]* ms)//' |
		grep -E '^\[(ok|err|exception|timeout)\]: '
}
