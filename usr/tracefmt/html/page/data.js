// SPDX-License-Identifier: GPL-2.0
"use strict";

// The events: a column for each number. Their texts stay compressed until
// they are looked at.

const ROLE_PRE = 1, ROLE_MATCHED = 2, ROLE_ALONE = 3;
const FLAGS = ["trigger", "muted", "fault", "cut", "paged in", "stale",
	"tail call", "forced format", "format doesn't fit", "damaged",
	"no TFF entry", "file was written to"];

const meta = JSON.parse(document.getElementById("meta").textContent);
const points = meta.points;
const start = BigInt(meta.start);
const n = meta.kept;
const events = {
	number: new Float64Array(n), time: new Float64Array(n),
	trace: new Uint16Array(n), cpu: new Uint32Array(n),
	pid: new Uint32Array(n), tid: new Uint32Array(n),
	comm: new Uint32Array(n), point: new Uint32Array(n),
	flags: new Uint16Array(n), length: new Uint16Array(n),
	role: new Uint8Array(n), depth: new Uint32Array(n),
	latency: new Float64Array(n),	// of a POST with its PRE, ns
	call: new Int32Array(n),	// row of that PRE; below 0: not here
	self: new Float64Array(n),	// of this; NaN: not known
	partner: new Int32Array(n).fill(-1),	// row of the other half
	parent: new Int32Array(n).fill(-1),	// row of the PRE around it
	thread: new Uint32Array(n),		// number in threads
};
const threads = [];		// { trace, pid, tid }, by number

// ---- without freezing ----

const PAUSE = 40;		// ms of work at once

// All of work(k), k < count, unless it should stop: then false.
async function inPieces(count, work, stopped = () => false) {
	let begun = performance.now();
	for (let k = 0; k < count; k++) {
		work(k);
		if (performance.now() - begun < PAUSE)
			continue;
		await new Promise((go) => setTimeout(go));
		if (stopped())
			return false;
		begun = performance.now();
	}
	return true;
}

// ---- tiles ----

const tiles = [...document.querySelectorAll("script.tile")]
	.map((element) => ({ element, first: 0, rows: 0 }));

function columnRead(column, rows, first, next) {
	for (let i = first; i < first + rows; i++)
		column[i] = next();
}

function stepsRead(column, rows, first, numbers) {
	let value = 0;
	columnRead(column, rows, first, () => value += numbers.nextSigned());
}

function tileRead(tile, first) {
	const [sizes, numbersLine, textsLine] =
		tile.element.textContent.split("\n");
	const [rows, numbersSize, textsSize] = sizes.split(" ").map(Number);
	const numbers = new Numbers(partRead(numbersLine, numbersSize));
	const steps = (column) => stepsRead(column, rows, first, numbers);
	const plain = (column) => columnRead(column, rows, first,
		() => numbers.next());
	Object.assign(tile, { first, rows, textsLine, textsSize });
	steps(events.number);
	steps(events.time);
	plain(events.trace);
	plain(events.cpu);
	steps(events.pid);
	steps(events.tid);
	[events.comm, events.point, events.flags, events.length, events.role,
		events.depth].forEach(plain);
	columnRead(events.latency, rows, first, () => numbers.nextSigned());
	columnRead(events.self, rows, first, () => {
		const self = numbers.nextSigned();
		return self < 0 ? NaN : self;
	});
	for (let i = first; i < first + rows; i++)
		events.call[i] = i - numbers.next();
	tile.element.remove();
	delete tile.element;
}

function tileOf(i) {
	let low = 0, high = tiles.length - 1;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (tiles[middle].first <= i)
			low = middle;
		else
			high = middle - 1;
	}
	return tiles[low];
}

const TILES_OPEN = 24;		// tiles whose texts are strings, at most
const tilesOpen = new Set();	// the last used one is the last
let tileLast = null;

function textsOf(i) {
	const tile = tileLast && i >= tileLast.first &&
		i < tileLast.first + tileLast.rows ? tileLast : tileOf(i);
	if (tile === tileLast)
		return tile;
	tileLast = tile;
	tile.texts ??= new TextDecoder().decode(
		partRead(tile.textsLine, tile.textsSize)).split("\0");
	tilesOpen.delete(tile);
	tilesOpen.add(tile);
	if (tilesOpen.size > TILES_OPEN) {
		const [oldest] = tilesOpen;
		tilesOpen.delete(oldest);
		delete oldest.texts;
	}
	return tile;
}

// The text of an event, as tracefmt prints it.
function textOf(i) {
	const tile = textsOf(i);
	return tile.texts[i - tile.first];
}

// ---- threads and calls ----

const threadNumbers = new Map();

function threadOf(i) {
	let map = threadNumbers;
	for (const key of [events.trace[i], events.pid[i]]) {
		if (!map.has(key))
			map.set(key, new Map());
		map = map.get(key);
	}
	let number = map.get(events.tid[i]);
	if (number === undefined) {
		number = threads.length;
		map.set(events.tid[i], number);
		threads.push({ trace: events.trace[i], pid: events.pid[i],
			tid: events.tid[i], open: [] });
	}
	return number;
}

// Pairs, and what is around an event; in the order of rows.
function callFind(i) {
	const depth = events.depth[i], role = events.role[i];
	const { open } = threads[events.thread[i]];
	open.length = Math.min(open.length, depth);
	events.parent[i] = open[depth - 1] ?? -1;
	if (role === ROLE_PRE) {
		open[depth] = i;
	} else if (role === ROLE_MATCHED) {
		const call = events.call[i];
		if (call >= 0) {
			events.partner[i] = call;
			events.partner[call] = i;
		}
	}
}

let lastThread = -1;

function threadFind(i) {
	// mostly that of the event before
	const { trace, pid, tid } = threads[lastThread] ?? {};
	if (trace !== events.trace[i] || pid !== events.pid[i] ||
	    tid !== events.tid[i])
		lastThread = threadOf(i);
	events.thread[i] = lastThread;
}

async function dataLoad(progress) {
	let first = 0;
	await inPieces(tiles.length, (k) => {
		const tile = tiles[k];
		tileRead(tile, first);
		for (let i = first; i < first + tile.rows; i++) {
			threadFind(i);
			callFind(i);
		}
		first += tile.rows;
		progress(first);
	});
	for (const thread of threads)
		delete thread.open;
}

// ---- values ----

const valuesLast = { row: -1, values: [] };

// A number that a script can't hold becomes a BigInt, where the browser hands
// out its digits.
function numberRevive(key, value, context) {
	if (typeof value === "number" && Number.isInteger(value) &&
	    !Number.isSafeInteger(value) && context &&
	    /^-?\d+$/.test(context.source))
		return BigInt(context.source);
	return value;
}

// The values of an event, in the order of its point's fields.
function valuesOf(i) {
	if (valuesLast.row !== i) {
		const tile = textsOf(i);
		const text = tile.texts[tile.rows + i - tile.first];
		valuesLast.row = i;
		valuesLast.values = /\d{16}/.test(text) ?
			JSON.parse(text, numberRevive) : JSON.parse(text);
	}
	return valuesLast.values;
}

function valueShow(value) {
	if (value === null || value === undefined)
		return "not there";
	if (typeof value !== "object")
		return String(value);
	return JSON.stringify(value, (key, v) =>
		typeof v === "bigint" ? String(v) : v);
}

// ---- times ----

const clock = { kind: meta.clock };

function pad(value, digits) {
	return String(value).padStart(digits, "0");
}

function wallOf(time) {
	const ns = start + BigInt(Math.round(time));
	let second = ns / 1000000000n, rest = ns % 1000000000n;
	if (rest < 0n) {
		second--;
		rest += 1000000000n;
	}
	return { date: new Date(Number(second) * 1000), ns: Number(rest) };
}

function clockDate(time) {
	const { date } = wallOf(time);
	if (isNaN(date))
		return "";
	if (clock.kind === "utc")
		return date.toISOString().slice(0, 10);
	return `${date.getFullYear()}-${pad(date.getMonth() + 1, 2)}-` +
		pad(date.getDate(), 2);
}

// digits: after the point, 0 to 9
function clockShow(time, digits = 9) {
	if (clock.kind === "relative") {
		const size = Math.abs(Math.round(time));
		const text = `${time < 0 ? "-" : "+"}` +
			`${Math.floor(size / 1e9)}`;
		return digits ? `${text}.${pad(size % 1e9, 9)
			.slice(0, digits)}` : text;
	}
	const { date, ns } = wallOf(time);
	const utc = clock.kind === "utc";
	const text = [utc ? date.getUTCHours() : date.getHours(),
		utc ? date.getUTCMinutes() : date.getMinutes(),
		utc ? date.getUTCSeconds() : date.getSeconds()]
		.map((part) => pad(part, 2)).join(":");
	return digits ? `${text}.${pad(ns, 9).slice(0, digits)}` : text;
}

function spanShow(ns) {
	const size = Math.abs(ns);
	for (const [unit, one] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
		if (size >= one)
			return `${Number((ns / one).toPrecision(4))}` +
				`${NO_BREAK}${unit}`;
	return `${Math.round(ns)}${NO_BREAK}ns`;
}

function countShow(count) {
	return count.toLocaleString("en-US");
}

function eventsShow(count) {
	return `${countShow(count)}${NO_BREAK}event${count === 1 ? "" : "s"}`;
}

