// SPDX-License-Identifier: GPL-2.0
"use strict";

// Which events are shown: all filters hold.

const filter = {
	shown: new Uint32Array(n),	// their rows, ascending
	window: null,			// [from, to] in ns
	listeners: [],
	runs: 0,
};

// "5,7-9,0x10": a test of a number.
function rangesCompile(text) {
	const ranges = text.split(",").map((part) => {
		const match = /^\s*(\w+)(?:\s*-\s*(\w+))?\s*$/.exec(part);
		const from = Number(match?.[1]);
		const to = Number(match?.[2] ?? match?.[1]);
		if (!match || isNaN(from) || isNaN(to))
			throw new Error(
				`'${part.trim()}' is no number and no range`);
		return [from, to];
	});
	return (value) => ranges.some(([from, to]) =>
		value >= from && value <= to);
}

// Names with * and ?, and commas.
function globCompile(text) {
	const parts = text.split(",").map((part) => part.trim()
		.replace(/[.+^${}()|[\]\\]/g, "\\$&")
		.replace(/\*/g, ".*").replace(/\?/g, "."));
	const regex = new RegExp(`^(?:${parts.join("|")})$`, "su");
	return (value) => regex.test(value);
}

// A string in name or data, in either case, or /regex/.
function textCompile(text) {
	const match = /^\/(.+)\/(i?)$/s.exec(text);
	if (match) {
		const regex = new RegExp(match[1], `mu${match[2]}`);
		const inName = points.map(({ desc }) => regex.test(desc));
		return (i) => inName[events.point[i]] ||
			regex.test(textOf(i));
	}
	const wanted = text.toLowerCase();
	const inName = points.map(({ desc }) =>
		desc.toLowerCase().includes(wanted));
	return (i) => inName[events.point[i]] ||
		textOf(i).toLowerCase().includes(wanted);
}

function byPoint(test, value) {
	const passed = points.map((point) => test(value(point)));
	return (i) => passed[events.point[i]];
}

function byColumn(test, column) {
	return (i) => test(column[i]);
}

function byComm(text) {
	const passed = meta.comms.map(globCompile(text));
	return (i) => passed[events.comm[i]];
}

// The cheapest first.
const FILTERS = [
	["f-major", (v) => byPoint(rangesCompile(v), (p) => p.major)],
	["f-minor", (v) => byPoint(rangesCompile(v), (p) => p.minor)],
	["f-pid", (v) => byColumn(rangesCompile(v), events.pid)],
	["f-tid", (v) => byColumn(rangesCompile(v), events.tid)],
	["f-cpu", (v) => byColumn(rangesCompile(v), events.cpu)],
	["f-comm", byComm],
	["f-text", textCompile],
	["f-expression", expressionCompile],
];

// "len > > 3" and below it "      ^ a value is missing"
function filterComplain(id, value, error) {
	byId(id).classList.add("bad");
	byId("filter-error").textContent = error.at === undefined ?
		`${error.message}` :
		`${value}\n${" ".repeat(error.at)}^ ${error.message}`;
}

// Tests of all filters that are filled in; null: one is wrong.
function filterCompile() {
	const tests = [];
	let right = true;
	byId("filter-error").textContent = "";
	for (const [id, compile] of FILTERS) {
		const input = byId(id), value = input.value;
		input.classList.remove("bad");
		if (!value.trim())
			continue;
		try {
			tests.push(compile(value));
		} catch (error) {
			filterComplain(id, value, error);
			right = false;
		}
	}
	if (filter.window) {
		const [from, to] = filter.window, { time } = events;
		tests.unshift((i) => time[i] >= from && time[i] <= to);
	}
	return right ? tests : null;
}

const PIECE = 2000;		// events between looks at the clock

// Of several runs the last one ends.
async function filterRun() {
	const tests = filterCompile(), run = ++filter.runs;
	if (!tests)
		return;
	const rows = new Uint32Array(n);
	let count = 0;
	const stopped = () => run !== filter.runs;
	const ended = await inPieces(Math.ceil(n / PIECE), (piece) => {
		const end = Math.min(n, (piece + 1) * PIECE);
		for (let i = piece * PIECE; i < end; i++)
			if (tests.every((test) => test(i)))
				rows[count++] = i;
		if (piece % 50 === 49)
			progressShow("Filtering", end);
	}, stopped);
	if (!ended)
		return;
	filter.shown = rows.slice(0, count);
	byId("matched").textContent = count === n ?
		eventsShow(n) : `${countShow(count)} of ${eventsShow(n)}`;
	await inPieces(filter.listeners.length, (k) => filter.listeners[k](),
		stopped);
}

function progressShow(what, done) {
	byId("matched").textContent = `${what}: ` +
		`${Math.floor(done / Math.max(1, n) * 100)}${NO_BREAK}%`;
}

function filterWindow(range) {
	filter.window = range;
	const button = byId("f-window");
	button.setAttribute("aria-pressed", String(Boolean(range)));
	button.textContent = range ?
		`Window ${spanShow(range[1] - range[0])} ×` : "Window";
	return filterRun();
}

function filterReset() {
	for (const [id] of FILTERS)
		byId(id).value = "";
	filterWindow(null);
}

function filterSet(id, value) {
	byId(id).value = value;
	filterRun();
}

// On a narrow screen the other filters are there when asked for.
function filterMore() {
	const open = byId("filters").classList.toggle("open");
	byId("f-more").setAttribute("aria-expanded", String(open));
	byId("f-more").textContent = open ? "Less" : "More";
}

function filterOpen() {
	let due = 0;
	byId("filters").addEventListener("submit", (event) => {
		event.preventDefault();
		filterRun();
	});
	byId("filters").addEventListener("input", () => {
		clearTimeout(due);
		due = setTimeout(filterRun, 150);
	});
	byId("f-more").addEventListener("click", filterMore);
	byId("f-reset").addEventListener("click", filterReset);
	byId("f-window").addEventListener("click", () =>
		filterWindow(filter.window ? null : [view.from, view.to]));
}
