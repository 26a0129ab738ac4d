#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The five lines of docs/board.md, for a board with another processor, print the
# output that is shown: the TSF compiles here, and is armed in a guest
# with busybox, one static program and nothing else.
. "$(dirname "$0")/../tap.sh"
need make qemu-system-aarch64 busybox
section=$TMP/section
sed -n 's/^    //p; /^$/p' "$TOP/docs/board.md" | awk '/^# / { found = 1 } found' >"$section"
is "$(grep -c '^# ' "$section")" 6 "docs/board.md builds, and has five lines"
grep -q '^# make' "$section" || bail "no lines"
reason=$("$TOP/scripts/vm" --arch aarch64 -k 6.12 -n 2>&1) || {
	skip "the five lines" "$(echo "$reason" | tail -n 1)"
	tap_done
}
# other tests build the same, one after the other
reason=$("${0%/*}/../vm/cross_build.sh" aarch64 static 2>&1)
case $? in
0)	;;
4)	skip "the five lines" "$(echo "$reason" | tail -n 1)"
	tap_done ;;
*)	bail "the programs can't be built: $(echo "$reason" | tail -n 1)" ;;
esac

# The board is a folder, and for each ssh a guest that has what is in there; what
# comes to be there is printed after the output, between marks.
mkdir "$TMP/bin" "$TMP/board"
cat >"$TMP/bin/scp" <<'END'
#!/bin/sh
# scp -q FILE... TO
shift
for to; do :; done
while [ $# -gt 1 ]; do
	case $1 in
	board:*)	cp "$BOARD/${1#board:}" "$to" ;;
	*)		cp "$1" "$BOARD" ;;
	esac || exit
	shift
done
END
cat >"$TMP/bin/ssh" <<'END'
#!/bin/sh
# ssh board COMMAND ARGUMENT...
shift
"$TOP/scripts/vm" --arch aarch64 -k 6.12 -t "${BOARD_SECONDS:-400}" \
	-f "$BOARD:/root" -f "$TOP/build/aarch64/demo/app:/usr/bin/app" -- \
	sh -c "cd /root && PATH=\$PATH:/usr/bin $* && echo =begin= &&
		busybox base64 board.ras && echo =end=" >"$BOARD/out" || exit
sed '/^=begin=/,$d' "$BOARD/out"
sed '1,/^=begin=/d; /^=end=/,$d' "$BOARD/out" | base64 -d >"$BOARD/board.ras"
END
chmod +x "$TMP/bin/scp" "$TMP/bin/ssh"
export TOP BOARD="$TMP/board"
PATH=$TMP/bin:$PATH

# each command is printed, then run, all in one shell, in the tree
grep '^# ' "$section" | cut -c 3- | while read -r line; do
	printf "echo '# %s'\n%s || exit\n" "$line" \
		"$(echo "$line" | sed "s,/tmp\\>,$TMP,g")"
done >"$TMP/commands"

# Numbers differ from run to run.
same() {
	sed -E -e '/^ *$/d' -e 's/0x[0-9A-Fa-f]+/N/g' -e 's/\b[0-9]+\b/N/g' \
		-e 's/ +/ /g' "$1"
}

cd "$TOP" || exit 1
status 0 "the commands succeed" sh "$TMP/commands"
cp "$TMP/out" "$TMP/transcript"
is "$(cat "$TMP/err")" "" "and print nothing on stderr"
is "$(same "$TMP/transcript")" "$(same "$section")" \
	"the output is that of docs/board.md"
like "$(cat "$TMP/transcript")" '^order->account->owner->city = Zwolle$' \
	"the customer is there"
tap_done
