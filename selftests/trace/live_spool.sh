#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# trace spool: everything that is recorded is in the files or counted as lost;
# cycles, compression, a full disk, a killed spool, a pipe; and what else goes
# on meanwhile.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
make_app

# begun FILE: waits until a spool has begun its file; before that, a signal
# may be lost, as a shell's background processes ignore SIGINT
begun() {
	tries=0
	while [ ! -s "$1" ] && [ $tries -lt 600 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
}

# begin OPTION...: a spool in the background
begin() {
	trace spool "$@" 2>"$TMP/spool.err" &
	spool=$!
	begun "$file"
}

# end SIGNAL: ends it in order; its exit status is in $ended
end() {
	kill "-$1" $spool
	ended=0
	wait $spool || ended=$?
}

# records FILE, and the figures of its first tracepoint
records() {
	tracefmt --summary "$1" 2>/dev/null | sed -n 's/^\([0-9]*\) records, .*/\1/p'
}
overwritten() {
	tracefmt --summary "$1" 2>/dev/null |
		awk 'n { print $6; exit } /^Major/ { n = 1 }'
}
# accounted FILE: its records and those that it reports as lost
accounted() {
	tracefmt --summary "$1" 2>/dev/null |
		awk '/^[0-9]+ records[, ].*(dropped|overwritten)/ { n += $1 }
			END { print n + 0 }'
}
spooled() {
	sed -n 's/^trace: spooled \([0-9]*\) records.*/\1/p' "$TMP/spool.err"
}

status 2 "spool to nowhere" trace spool
status 2 "cyclic standard output" trace spool --follow --size 1M
status 2 "a file too small" trace spool -o "$TMP/a.ras" --size 1K
status 2 "a compression that there isn't" \
	trace spool -o "$TMP/a.ras" --compress=lzma
status 1 "spool without a buffer" trace spool -o "$TMP/a.ras"
ok "leaves no file" test ! -e "$TMP/a.ras"

# All of it: what was there, and what comes
trace on --max-cpu=off --buffer 2M "$TDF" || bail "nothing is armed"
file=$TMP/a.ras
"$TMP/target" 10
begin -o "$file"
"$TMP/target" 20000
end INT
is "$ended $(spooled) $(records "$file")" "0 20010 20010" "all records are there"
is "$(overwritten "$file")" 0 "none is missing"
status 0 "the file is whole" tracefmt -q "$file"
is "$(sed -n 's/^n=\(....\) \(....\)$/\1\2/p' "$TMP/out" | tail -n +11 |
	sort -u | wc -l)" 20000 "each one once"
like "$(cat "$TMP/out")" "Process \[target\]" "the process is named"

# A terminal that goes away, with and without nohup(1)
file=$TMP/hup.ras
begin -o "$file"
end HUP
is "$ended" 0 "the end of the terminal is an end in order"
rm "$file"
trace clear
trap '' HUP
begin -o "$file"
trap - HUP
kill -HUP $spool
sleep 0.3
"$TMP/target" 10
end TERM
is "$ended $(records "$file")" "0 10" "it goes on where that is ignored"

# Records that come too fast are counted: a stopped spool reads nothing
trace off --all
trace on --max-cpu=off --buffer 64K "$TDF"
file=$TMP/lossy.ras
begin -o "$file"
kill -STOP $spool
"$TMP/target" 20000
kill -CONT $spool
end TERM
kept=$(records "$file")
lost=$((20000 - kept))
is "$ended" 0 "a spool that lost records ends in order"
ok "records were lost" test "$lost" -gt 1000
like "$(cat "$TMP/spool.err")" \
	"^trace: $lost records were overwritten before they could be read$" \
	"and their number is reported"
is "$(overwritten "$file")" "$lost" "tracefmt counts them, too"

# In a cycle the file that has the gap reports the loss
file=$TMP/lossy_cycle.ras
trace clear
begin -o "$file" --size 64K --files 100
for i in 1 2 3; do
	"$TMP/target" 100
	kill -STOP $spool
	"$TMP/target" 5000
	kill -CONT $spool
	sleep 0.3
done
end TERM
is "$ended" 0 "a cycle that lost records ends in order"
sum=0
for name in "$file"*; do
	sum=$((sum + $(accounted "$name")))
done
is "$sum" 15300 "each record is in a file or counted there as lost"

# What follows is about files, and the same on every kernel
[ -z "${RASTRACE_SHORT-}" ] || {
	trace off --all
	tap_done
}

# What comes between its beginning and its first pass is lost, too: the spool
# waits in the write of its header, as the pipe is full
trace clear
mkfifo "$TMP/full"
exec 3<>"$TMP/full"
head -c 65536 /dev/zero >&3
trace spool --follow 2>"$TMP/spool.err" >"$TMP/full" 3>&- &
spool=$!
tries=0
until grep -q pipe_write /proc/$spool/wchan 2>/dev/null || [ $tries -eq 600 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
"$TMP/target" 5000
cat <"$TMP/full" >"$TMP/late" 3>&- &
reader=$!
exec 3>&-
until [ "$(wc -c <"$TMP/late")" -gt 65536 ] || [ $tries -eq 600 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
end TERM
wait $reader
tail -c +65537 "$TMP/late" >"$TMP/late.ras"
is "$ended $(accounted "$TMP/late.ras")" "0 5000" \
	"a late first pass counts what it lost"
rm "$TMP/full"

# steadily COUNT: so many thousand hits, not all at once
steadily() {
	i=0
	while [ $i -lt "$1" ] && kill -0 $spool 2>/dev/null; do
		"$TMP/target" 1000
		sleep 0.1
		i=$((i + 1))
	done
}

# A cycle
trace off --all
trace on --max-cpu=off --buffer 256K "$TDF"
file=$TMP/cycle.ras
begin -o "$file" --size 200K --files 3
steadily 15
end INT
is "$ended $(spooled)" "0 15000" "a cycle has all records"
ok "the newest file and two older ones are kept" \
	test -e "$file" -a -e "$file.1" -a -e "$file.2" -a ! -e "$file.3"
for name in "$file" "$file.1" "$file.2"; do
	ok "a file has its size at most" test "$(wc -c <"$name")" -le 204800
	status 0 "it can be read alone" tracefmt -q "$name"
	cat "$TMP/out" >>"$TMP/all.${name##*.}"
done
cat "$TMP/all.2" "$TMP/all.1" "$TMP/all.ras" |
	sed -n 's/.*Time \[\([0-9:.]*\)\].*/\1/p' >"$TMP/times"
# the next file may have what another CPU recorded meanwhile
ok "they have many records" test "$(wc -l <"$TMP/times")" -gt 2000
is "$(sort -u "$TMP/times" | wc -l)" "$(wc -l <"$TMP/times")" \
	"none is in two files"
is "$(overwritten "$file.1")" 0 "what is in other files isn't called lost"

# Compressed
for method in zlib zstd; do
	file=$TMP/$method.ras
	if ! trace spool -o "$file" --compress=$method --duration 1 \
		2>"$TMP/err"; then
		skip "compressed by $method" "$(head -n 1 "$TMP/err")"
		continue
	fi
	trace clear
	rm "$file"
	begin -o "$file" --compress=$method
	steadily 3
	end INT
	is "$ended $(spooled) $(records "$file")" "0 3000 3000" \
		"compressed by $method"
	ok "it is smaller" test "$(wc -c <"$file")" -lt $((3000 * 72 / 3))
done

# A file of the greatest size, and the report of its records
trace clear
"$TMP/target" 3000
for blocks in 120 121 150 151; do
	(
		trap '' XFSZ
		ulimit -f $blocks
		exec trace spool -t 1 -o "$TMP/limited.ras"
	) 2>"$TMP/spool.err"
	is $? 1 "a file of $blocks blocks ends it"
	is "$(spooled)" "$(records "$TMP/limited.ras")" \
		"  it has all records that are reported"
	ok "  it has hardly room for another one" test \
		"$(wc -c <"$TMP/limited.ras")" -gt $((blocks * 512 - 3000))
	rm "$TMP/limited.ras"
done

# A disk that is full
status 1 "a full disk from the beginning" trace spool -o /dev/full
like "$(cat "$TMP/err")" "^trace: nothing could be written" "says so"
mkdir "$TMP/small"
if mount -t tmpfs -o size=300k none "$TMP/small"; then
	trace clear
	file=$TMP/small/full.ras
	begin -o "$file"
	steadily 20
	ended=0
	wait $spool || ended=$?
	is "$ended" 1 "a full disk ends it"
	like "$(cat "$TMP/spool.err")" "cannot write '.*full.ras': No space left" \
		"and that is reported"
	like "$(cat "$TMP/spool.err")" "what was written before is kept" \
		"and what is left"
	status 0 "what was written is whole" tracefmt -q "$file"
	ok "it has records" test "$(grep -c '^Event' "$TMP/out")" -gt 500
	is "$(spooled)" "$(grep -c '^Event' "$TMP/out")" "all that are reported"
	ok "and as many as have room" test \
		"$(df -Pk "$TMP/small" | awk 'NR == 2 { print $4 }')" -le 12
	rm "$file"

	# the disk is full when the buffer has been written over
	trace clear
	begin -o "$file"
	"$TMP/target" 100
	i=0
	while [ "$(records "$file")" != 100 ] && [ $i -lt 100 ]; do
		i=$((i + 1))
		sleep 0.1
	done
	kill -STOP $spool
	cat /dev/zero >"$TMP/small/filler" 2>/dev/null
	"$TMP/target" 150000
	kill -CONT $spool
	ended=0
	wait $spool || ended=$?
	# a page may have room for more than the first 100 records
	is "$ended $(spooled)" "1 $(records "$file")" \
		"only what is in the file is reported as written"
	ok "not what was overwritten" test "$(spooled)" -lt 1000
	umount "$TMP/small"
else
	skip "a full disk" "no tmpfs"
fi

# A spool that is killed
trace clear
file=$TMP/killed.ras
begin -o "$file"
"$TMP/target" 900
sleep 1
kill -9 $spool
wait $spool 2>/dev/null
status 1 "the file of a killed spool ends early" tracefmt -q "$file"
is "$(grep -c '^Event' "$TMP/out")" 900 "and has all that was read"

# A pipe
trace clear
"$BIN/trace" spool --follow 2>"$TMP/spool.err" >"$TMP/pipe.ras" &
spool=$!
begun "$TMP/pipe.ras"
"$TMP/target" 700
end INT
status 0 "standard output" tracefmt -q - <"$TMP/pipe.ras"
is "$(grep -c '^Event' "$TMP/out")" 700 "has the records"
trace clear
mkfifo "$TMP/fifo"
: >"$TMP/printed"
tracefmt -q - <"$TMP/fifo" >"$TMP/printed" 2>&1 &
reader=$!
trace spool -o - 2>"$TMP/spool.err" >"$TMP/fifo" &
spool=$!
"$TMP/target" 500
tries=0
while [ "$(grep -c '^Event' "$TMP/printed")" -lt 500 ] && [ $tries -lt 100 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
is "$(grep -c '^Event' "$TMP/printed")" 500 "a pipe's records are printed at once"
"$TMP/target" 1
end INT
ok "the end of the pipe is the end of the text" wait $reader
is "$(grep -c '^Event' "$TMP/printed")" 501 "and nothing is kept back"
trace spool --follow 2>"$TMP/spool.err" | head -c 100 >/dev/null &
spool=$!
"$TMP/target" 3000
ok "a reader that goes away ends it" wait $spool

# Meanwhile
trace clear
file=$TMP/meanwhile.ras
begin -o "$file"
trace spool -o "$TMP/second.ras" 2>"$TMP/second.err" &
second=$!
begun "$TMP/second.ras"
"$TMP/target" 100
trace clear
"$TMP/target" 100
trace suspend app
"$TMP/target" 5
trace resume app
trace off "$TDF"
trace on --max-cpu=off "$TDF"
"$TMP/target" 100
mkdir "$TMP/two"
cp "$TDF" "$TMP/two/other.tdf"
trace on "$TMP/two/other.tdf"
"$TMP/target" 100
ok "get" trace get "$TMP/get.ras"
end INT
is "$ended $(records "$file")" "0 500" \
	"clear, suspend, off, on and another TDF leave nothing out"
status 0 "every record has its session" tracefmt --strict -q "$file"
kill -INT $second
ok "a second spool" wait $second
is "$(records "$TMP/second.ras")" 500 "has all of it, too"
file=$TMP/gone.ras
begin -o "$file"
trace off --all
ok "it ends when the buffer is removed" wait $spool
like "$(cat "$TMP/spool.err")" "the buffer has been removed" "and says so"
status 0 "with a whole file" tracefmt -q "$file"
tap_done
