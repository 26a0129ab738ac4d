// SPDX-License-Identifier: GPL-2.0
"use strict";

// Latencies of functions, of the calls whose return is shown, and a histogram
// of one of them; counts by several things.

let functionChosen = null;
let functionsBy = { column: 2, down: true };
let countsBy = { column: 1, down: true };

// ---- tables that sort ----

// columns: title, text of an item, its key, class
function sortTable(table, columns, items, by, again) {
	const head = columns.map(([title, , , style], column) => {
		const button = make("button", { type: "button" }, title);
		if (column === by.column)
			button.dataset.sorted = "";
		button.addEventListener("click", () => {
			by.down = by.column === column ? !by.down : column > 0;
			by.column = column;
			again();
		});
		const cell = make("th", { className: style, scope: "col" },
			button);
		if (column === by.column)
			cell.setAttribute("aria-sort", by.down ?
				"descending" : "ascending");
		return cell;
	});
	const key = columns[by.column][2], sign = by.down ? -1 : 1;
	items.sort((a, b) => key(a) < key(b) ? -sign :
		key(a) > key(b) ? sign : 0);
	const rows = items.map((item) => make("tr", {}, ...columns.map(
		([, show, , style]) => make("td", { className: style },
			show(item)))));
	table.replaceChildren(make("thead", {}, make("tr", {}, ...head)),
		make("tbody", {}, ...rows));
	return rows;
}

// ---- functions ----

function nameCell(point) {
	const mark = make("span", { className: "mark", ariaHidden: "true" });
	mark.style.background = colourOf(point, isDark());
	return make("span", { title: points[point].desc }, mark,
		nameShort(nameOf(point), 90));
}

// PRE and POST of a function have the same number.
const functionNumbers = (() => {
	const known = new Map();
	return points.map(({ major, minor }, p) => {
		const key = `${major} ${minor & 0x7fff} ${names[p]}`;
		if (!known.has(key))
			known.set(key, known.size);
		return known.get(key);
	});
})();

function functionsFind() {
	const functions = new Map();
	for (const i of filter.shown) {
		const role = events.role[i];
		if (!role || (role === ROLE_PRE && events.partner[i] >= 0))
			continue;
		const key = functionNumbers[events.point[i]];
		let of = functions.get(key);
		if (!of)
			functions.set(key, of = { key, point: events.point[i],
				latencies: [], self: 0, selves: 0,
				open: 0, alone: 0 });
		if (role === ROLE_MATCHED) {
			of.latencies.push(events.latency[i]);
			if (!isNaN(events.self[i])) {
				of.self += events.self[i];
				of.selves++;
			}
		} else if (role === ROLE_PRE) {
			of.open++;
		} else {
			of.alone++;
		}
	}
	return [...functions.values()].map(functionFinish);
}

function functionFinish(of) {
	of.latencies = Float64Array.from(of.latencies).sort();
	of.total = of.latencies.reduce((sum, ns) => sum + ns, 0);
	return of;
}

// What so many of a thousand calls don't exceed; undefined: there are none.
function permille(of, part) {
	const count = of.latencies.length;
	return of.latencies[Math.max(0, Math.ceil(count * part / 1000) - 1)];
}

function spanOrNone(ns) {
	return ns === undefined || isNaN(ns) ? "-" : spanShow(ns);
}

function spanColumn(title, value) {
	return [title, (of) => spanOrNone(value(of)),
		(of) => value(of) ?? -1, "number"];
}

// With > where that of some calls is not known
function selfShow(of) {
	if (!of.selves)
		return "-";
	return (of.selves < of.latencies.length ? "> " : "") +
		spanShow(of.self);
}

const FUNCTION_COLUMNS = [
	["Function", (of) => nameCell(of.point), (of) => nameOf(of.point),
		"name"],
	["Calls", (of) => countShow(of.latencies.length),
		(of) => of.latencies.length, "number"],
	spanColumn("Total", (of) => of.total),
	["Self", selfShow, (of) => of.selves ? of.self : -1, "number"],
	spanColumn("Least", (of) => of.latencies[0]),
	spanColumn("Mean", (of) => of.latencies.length ?
		of.total / of.latencies.length : undefined),
	...[500, 900, 990, 999].map((part) => spanColumn(`p${part / 10}`,
		(of) => permille(of, part))),
	spanColumn("Most", (of) => permille(of, 1000)),
	["No return", (of) => countShow(of.open), (of) => of.open, "number"],
	["No call", (of) => countShow(of.alone), (of) => of.alone, "number"],
];

function functionsShow() {
	const functions = functionsFind();
	const rows = sortTable(byId("functions-table"), FUNCTION_COLUMNS,
		functions, functionsBy, functionsShow);
	if (!functions.some((of) => of.key === functionChosen))
		functionChosen = functions[0]?.key ?? null;
	rows.forEach((row, k) => {
		row.tabIndex = 0;
		row.classList.toggle("chosen",
			functions[k].key === functionChosen);
		const pick = () => {
			functionChosen = functions[k].key;
			functionsShow();
		};
		row.addEventListener("click", pick);
		row.addEventListener("keydown", (event) => {
			if (event.key === "Enter")
				pick();
		});
	});
	histogramShow(functions.find((of) => of.key === functionChosen));
}

// ---- the histogram ----

function octavesOf(of) {
	const counts = [];
	for (const ns of of.latencies) {
		const power = ns < 1 ? 0 : Math.floor(Math.log2(ns));
		counts[power] = (counts[power] ?? 0) + 1;
	}
	return counts;
}

function svg(tag, attributes, text) {
	const element = document.createElementNS("http://www.w3.org/2000/svg",
		tag);
	for (const [name, value] of Object.entries(attributes))
		element.setAttribute(name, value);
	element.textContent = text ?? "";
	return element;
}

// Filter by the bar that was clicked.
function octavePick(of, power) {
	const { major, minor } = points[of.point];
	byId("f-major").value = major;
	byId("f-minor").value = `${minor | 0x8000}`;
	filterSet("f-expression", `latency >= ${power ? 2 ** power : 0} && ` +
		`latency < ${2 ** (power + 1)}`);
	tabShow("events");
}

function octaveBar(of, counts, power, place, most) {
	const count = counts[power] ?? 0, y = place * 22 + 4;
	const width = count && Math.max(2, count / most * 200);
	const bar = svg("rect", { x: 90, y, width, height: 16, tabindex: 0,
		"data-power": power });
	bar.append(svg("title", {}, `${countShow(count)} calls from ` +
		`${spanShow(power ? 2 ** power : 0)} to ` +
		`${spanShow(2 ** (power + 1))}: click to see them`));
	bar.addEventListener("click", () => octavePick(of, power));
	bar.addEventListener("keydown", (event) => {
		if (event.key === "Enter")
			octavePick(of, power);
	});
	return [svg("text", { x: 84, y: y + 12, "text-anchor": "end" },
		spanShow(power ? 2 ** power : 0)), bar,
	svg("text", { x: 96 + width, y: y + 12 }, countShow(count))];
}

function histogramShow(of) {
	const box = byId("histogram");
	if (!of || !of.latencies.length) {
		box.replaceChildren(make("p", { className: "empty" }, of ?
			"No call of it has its return here." :
			"No calls: a call is a tracepoint where a function " +
			"is entered with one where it returns."));
		return;
	}
	const counts = octavesOf(of), first = counts.findIndex((c) => c);
	const most = Math.max(...counts.filter((c) => c));
	const picture = svg("svg", { role: "img", viewBox:
		`0 0 370 ${(counts.length - first) * 22 + 8}` });
	picture.setAttribute("aria-label",
		`Histogram of latencies of ${nameOf(of.point)}`);
	for (let power = first; power < counts.length; power++)
		picture.append(...octaveBar(of, counts, power, power - first,
			most));
	box.replaceChildren(make("figcaption", {},
		`${nameOf(of.point)}: calls by latency, each bar from its ` +
		"time to the double"), picture);
}

// ---- counts ----

// What the names below are made of: numbers, which are found faster.
const COUNTED_BY = {
	function: (i) => events.point[i],
	pid: (i) => events.comm[i] * 2 ** 32 + events.pid[i],
	tid: (i) => events.comm[i] * 2 ** 32 + events.thread[i],
	cpu: (i) => events.cpu[i],
	major: (i) => events.point[i],
	group: (i) => events.point[i],
};

const COUNTED = {
	function: (i) => `${codesShow(i)}  ${points[events.point[i]].desc}`,
	pid: (i) => `${commOf(i)} ${events.pid[i]}`,
	tid: (i) => `${commOf(i)} ${processShow(i)}`,
	cpu: (i) => `CPU ${events.cpu[i]}`,
	major: (i) => {
		const { major } = points[events.point[i]];
		return `${major}/${hexShow(major)}`;
	},
	group: (i) => points[events.point[i]].group ?? "(none)",
};

function countsFind(by) {
	const counts = new Map(), known = new Map(), keyOf = COUNTED_BY[by];
	for (const i of filter.shown) {
		const key = keyOf(i);
		let of = known.get(key);
		if (!of) {
			const name = COUNTED[by](i);
			of = counts.get(name) ?? { name, count: 0, marked: 0,
				first: Infinity, last: -Infinity };
			counts.set(name, of);
			known.set(key, of);
		}
		of.count++;
		of.marked += events.flags[i] !== 0;
		of.first = Math.min(of.first, events.time[i]);
		of.last = Math.max(of.last, events.time[i]);
	}
	return [...counts.values()];
}

function rateOf(of) {
	return of.last > of.first ?
		(of.count - 1) / (of.last - of.first) * 1e9 : undefined;
}

function shareBar(of, most) {
	const bar = make("div", { className: "share" });
	bar.style.width = `${of.count / most * 100}%`;
	return bar;
}

function countsShow() {
	const [by] = byId("counts-by").selectedOptions;
	const counts = countsFind(by.value);
	const most = counts.reduce((m, of) => Math.max(m, of.count), 1);
	sortTable(byId("counts-table"), [
		[by.text, (of) => of.name, (of) => of.name, ""],
		["Events", (of) => countShow(of.count), (of) => of.count,
			"number"],
		["", (of) => shareBar(of, most), (of) => of.count, "bar-cell"],
		["Per second", (of) => rateOf(of) === undefined ? "-" :
			countShow(Number(rateOf(of).toPrecision(4))),
		(of) => rateOf(of) ?? -1, "number"],
		["Flagged", (of) => countShow(of.marked), (of) => of.marked,
			"number"],
		["First", (of) => clockShow(of.first), (of) => of.first,
			"number"],
		["Last", (of) => clockShow(of.last), (of) => of.last,
			"number"],
	], counts, countsBy, countsShow);
}
