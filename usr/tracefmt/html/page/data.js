// SPDX-License-Identifier: GPL-2.0
"use strict";

// The events, a column each, from the elements that hold the rows.

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
	comm: new Array(n), point: new Uint32Array(n),
	flags: new Uint16Array(n), length: new Uint16Array(n),
	role: new Uint8Array(n), depth: new Uint32Array(n),
	latency: new Float64Array(n), call: new Float64Array(n),
	text: new Array(n), values: new Array(n),
	// row of the other half of a pair, or -1
	partner: new Int32Array(n).fill(-1),
};

function dataLoad() {
	const columns = ["number", "time", "trace", "cpu", "pid", "tid",
		"comm", "point", "flags", "length", "role", "depth",
		"latency", "call", "text", "values"].map((c) => events[c]);
	const names = new Map();
	let i = 0;
	for (const element of document.querySelectorAll("script.rows")) {
		for (const row of JSON.parse(element.textContent)) {
			for (let c = 0; c < columns.length; c++)
				columns[c][i] = row[c];
			// one string for all events of a process
			if (!names.has(row[6]))
				names.set(row[6], row[6]);
			events.comm[i++] = names.get(row[6]);
		}
		element.remove();
	}
}

// The row of an event's number, or -1; numbers ascend.
function dataFind(number) {
	let low = 0, high = n - 1;
	while (low <= high) {
		const middle = (low + high) >> 1;
		if (events.number[middle] === number)
			return middle;
		if (events.number[middle] < number)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return -1;
}

function dataPair() {
	for (let i = 0; i < n; i++) {
		if (events.role[i] !== ROLE_MATCHED)
			continue;
		const call = dataFind(events.call[i]);
		if (call >= 0) {
			events.partner[i] = call;
			events.partner[call] = i;
		}
	}
}

dataLoad();
dataPair();

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
		const text = events.values[i];
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
			return `${Number((ns / one).toPrecision(4))} ${unit}`;
	return `${Math.round(ns)} ns`;
}

function countShow(count) {
	return count.toLocaleString("en-US");
}

function eventsShow(count) {
	return `${countShow(count)} event${count === 1 ? "" : "s"}`;
}

// ---- names ----

function hexShow(value) {
	return `0x${value.toString(16).toUpperCase().padStart(4, "0")}`;
}

function nameOf(point) {
	return points[point].name;
}

function descOf(point) {
	return points[point].desc.trimEnd() || points[point].name;
}

function flagsOf(i) {
	return FLAGS.filter((word, bit) => events.flags[i] & 1 << bit);
}

// The same colour for a function in all places; functions that follow each
// other lie far apart (by the golden angle).
const hues = (() => {
	const names = new Map();
	return points.map(({ name }) => {
		if (!names.has(name))
			names.set(name, names.size);
		return names.get(name) * 137.508 + 210;
	});
})();

function colourOf(point, dark) {
	const light = Math.floor(hues[point] / 360) % 3 * 6;
	return `hsl(${hues[point] % 360} ${dark ? 48 : 60}% ` +
		`${(dark ? 52 : 62) + light}%)`;
}

// An element with properties and children, which are text unless elements.
function make(tag, properties, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(properties || {}))
		if (name in element)
			element[name] = value;
		else
			element.setAttribute(name, value);
	element.append(...children);
	return element;
}

function byId(id) {
	return document.getElementById(id);
}
