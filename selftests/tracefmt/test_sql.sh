#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# CSV and JSON of 20 machines in a database, as tracefmt(5) loads them: five
# queries have the answers of tracefmt. 100,000 events; the long form has
# 10,000,000.
. "$(dirname "$0")/../tap.sh"
need_tree

built=${BUILT:-$TOP/build/selftests}/tracefmt
[ -x "$built/make_calls" ] || skip_all "needs $built/make_calls"
NODE_PATH=$("$TOP/scripts/node_package" duckdb 2>"$TMP/why") || skip_all "$(tail -n 1 "$TMP/why")"
export NODE_PATH
node -e 'require("@duckdb/node-api")' 2>"$TMP/why" ||
	skip_all "DuckDB does not run here: $(grep -m 1 Error "$TMP/why")"
unset TRACEFMT_PATH
calls=${LONG:+250000}
calls=${calls:-2500}
cd "$TMP" || exit 1

# script HOST: calls of `work` by two threads, with n, a string and a return code
# that every 50th call does not have
script() {
	awk -v host="$1" -v calls="$calls" 'BEGIN {
		print "session 1 1 0 2 32770"
		time = 1000000000 + host * 1000
		step = int(2000000000 / calls)
		for (i = 0; i < calls; i++) {
			seed = (seed * 1103 + 12345 + host) % 65536
			ids = 100 + host " " 100 + host + i % 2
			printf "cpu %d\n%.0f %s 1 2 0 %d\n", i % 2, time, ids,
				seed % 1000
			printf "%.0f %s 1 32770 0 \"out,%d\" %s\n",
				time + 100 + seed % 700, ids, seed,
				i % 50 ? seed % 7 : ""
			time += step
		}
	}'
}

traces=''
for host in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
	script $host | "$built/make_calls" m$host.ras host$host ||
		bail "make_calls"
	traces="$traces m$host.ras"
done
for host in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
	for format in csv json; do
		tracefmt -q --tff . --format=$format m$host.ras \
			>m$host.$format || bail "tracefmt"
	done
done

# What tracefmt(5) says
sed -n '/^CREATE TABLE/,/;$/p' "$TOP/usr/man/tracefmt.5" |
	sed "s/\*\.csv\.gz/*.csv/" >load.sql
cat - load.sql >ask.sql <<'END'
SET memory_limit = '2GB';
SET temp_directory = 'spilled';
END
cat >>ask.sql <<'END'
-- events by minor
SELECT minor, count(*) FROM events GROUP BY minor ORDER BY minor;
-- calls, and their times
WITH calls AS (SELECT minor, time_ns, lead(minor) OVER thread AS after,
		lead(time_ns) OVER thread - time_ns AS took
	FROM events WINDOW thread AS (PARTITION BY host, tid ORDER BY event))
SELECT count(*), min(took), 'ns', max(took), 'ns', sum(took)
FROM calls WHERE minor = 2 AND after = 32770;
-- events with a value, by process
SELECT pid, count(*) FROM events WHERE (fields->>'n')::BIGINT > 900
GROUP BY pid ORDER BY pid;
-- of some processes in half a second
SELECT count(*) FROM events WHERE pid BETWEEN 103 AND 105 AND
	time_ns BETWEEN 1770163192000000000 AND 1770163192500000000;
-- values that were not recorded
SELECT count(*) FROM events
WHERE notes->'Return_Code'->>'why' = 'short' AND
	(fields->>'Return_Code') IS NULL;
-- rows of CSV that JSON does not have, and the other way round
CREATE VIEW lines AS SELECT * FROM read_json('*.json',
	format = 'newline_delimited', columns = {'schema': 'INTEGER',
	'event': 'BIGINT', 'time': 'VARCHAR', 'time_ns': 'BIGINT',
	'boot_ns': 'UBIGINT', 'host': 'VARCHAR', 'trace': 'VARCHAR',
	'major': 'INTEGER', 'minor': 'INTEGER', 'desc': 'VARCHAR',
	'pid': 'BIGINT', 'tid': 'BIGINT', 'comm': 'VARCHAR', 'cpu': 'INTEGER',
	'length': 'INTEGER', 'fields': 'JSON', 'notes': 'JSON'});
CREATE VIEW cells AS SELECT schema, event, time, time_ns, boot_ns, host, trace,
	major, minor, "desc", pid, tid, comm, cpu, length, fields, notes
	FROM events;
SELECT (SELECT count(*) FROM (FROM cells EXCEPT FROM lines)),
	(SELECT count(*) FROM (FROM lines EXCEPT FROM cells)),
	(SELECT count(DISTINCT host) FROM events);
END
# What docs/fleet.md asks, of the minor codes here
sed -n '/^    WITH calls/,/;$/p' "$TOP/docs/fleet.md" |
	sed 's/\<1\>/2/g; s/32769/32770/g; s/ORDER BY 2 DESC/ORDER BY 2 DESC, 1/' \
	>>ask.sql
cat >ask.js <<'END'
const { DuckDBInstance } = require('@duckdb/node-api');
const { readFileSync, writeFileSync } = require('fs');

(async () => {
	const db = await (await DuckDBInstance.create(':memory:')).connect();
	let answers = 0;

	for (const sql of readFileSync('ask.sql', 'utf8').split(';\n')) {
		if (!sql.trim())
			continue;
		const reader = await db.runAndReadAll(sql);
		if (/^(--.*\s+)?(SELECT|WITH)/.test(sql.trim()))
			writeFileSync('answer' + ++answers, reader.getRows().map(
				(row) => row.join(' ')).join('\n') + '\n');
	}
})().catch((error) => { console.error(error.message); process.exit(1); });
END
ok "the statement of tracefmt(5), and the queries" node ask.js

# all [ARGUMENT...]: tracefmt's answer for all machines
all() {
	# shellcheck disable=SC2086
	tracefmt --tff . "$@" $traces 2>err
}

# by WHAT [ARGUMENT...]: "VALUE EVENTS" of its summary
by() {
	what=$1
	shift
	all --summary="$what" "$@" | awk -v what="$what" '
		$1 == "Major" || $1 == "PID" { rows = 1; next }
		rows && what == "minor" { print $2, $3 }
		rows && what == "pid" { print $1, $2 }' | sort -n
}

is "$(cat answer1)" "$(by minor)" "events by minor"
is "$(awk '{ total = $6 / 1e6; unit = "ms"
	if (total >= 1000) { total /= 1000; unit = "s" }
	printf "%s %.4g %s %s %s %s %s\n", $1, total, unit, $2, $3, $4, $5
	}' answer2)" \
	"$(all -q --pair | awk '$NF == "work" {
		print $1, $2 + 0, $3, $6, $7, $(NF - 2), $(NF - 1); exit }')" \
	"calls, and their times"
is "$(cat answer3)" "$(by pid -e 'n > 900')" "events with a value"
is "$(wc -l <answer3)" 20 "of each machine"
is "2 $(cat answer4)" "$(by minor --utc --pid 103-105 \
	--since '2026-02-03 23:59:52' --until '2026-02-03 23:59:52.5' |
	awk '{ n += $2 } END { print 2, n }')" "events of a time"
is "32770 $(cat answer5)" "$(by minor --text 'of 4 bytes')" \
	"values that were not recorded"
is "$(cat answer6)" "0 0 20" "CSV and JSON have the same events"
is "$(awk '{ print $1, $2 }' answer7 | sort)" "$(for trace in $traces; do
	tracefmt -q --tff . --pair "$trace" | awk -v host="${trace%.ras}" '
		$NF == "work" { sub("m", "host", host); print host, $(NF - 2)
			exit }'
	done | sort)" "the slowest calls, as docs/fleet.md finds them"
tap_done
