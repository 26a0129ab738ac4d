// SPDX-License-Identifier: GPL-2.0
"use strict";

// The table of calls and other events, of which only the rows that are seen are
// elements, and the chosen one in full.

const tableBox = byId("table"), tableSpace = byId("table-space");
const tableRows = new Map();	// elements by place
let order = filter.shown;	// events in the order of the table
let sorted = { column: 0, down: false };

// ---- rows: calls, each from two events, or events ----

function callsShown() {
	return byId("rows").value === "calls";
}

function itemOf(i) {
	return i >= 0 && callsShown() ? headOf(i) : i;
}

function itemsFind() {
	if (!callsShown())
		return filter.shown;
	const heads = new Uint8Array(n);
	for (const i of filter.shown)
		heads[headOf(i)] = 1;
	const items = new Uint32Array(n);
	let count = 0;
	for (let i = 0; i < n; i++)
		if (heads[i])
			items[count++] = i;
	return items.slice(0, count);
}

function processShow(i) {
	return events.pid[i] === events.tid[i] ? `${events.pid[i]}` :
		`${events.pid[i]}/${events.tid[i]}`;
}

function codesShow(i) {
	const { major, minor } = points[events.point[i]];
	return `${major}/${hexShow(minor)}`;
}

function indentOf(i) {
	return sorted.column < 2 ? Math.min(events.depth[i], 24) * 10 : 0;
}

// Characters that the name in a row may have, so that something of the data is
// seen, too.
function nameRoom(i) {
	const rest = [...byId("table-head").children].slice(0, -1)
		.reduce((sum, cell) => sum + cell.offsetWidth, indentOf(i));
	return Math.max(12, Math.min(60,
		(tableBox.clientWidth - rest) / 7.3 * 0.6));
}

// Name, arguments and result; of an event that is shown alone, its data.
function callCell(i) {
	const point = events.point[i], call = callsShown() && barOf(i) !== i;
	const mark = make("span", { className: "mark", ariaHidden: "true" });
	const cell = make("span", { className: "call", role: "gridcell",
		title: points[point].desc }, mark);
	mark.style.background = colourOf(point, isDark());
	mark.style.marginLeft = `${indentOf(i)}px`;
	cell.append(make("span", { className: "function" },
		nameShort(events.role[i] && callsShown() ? nameOf(point) :
			descOf(point), nameRoom(i))));
	if (call || (callsShown() && events.role[i] === ROLE_PRE)) {
		cell.append(make("span", { className: "data" },
			`(${lineShow(textOf(i))})`));
		cell.append(make("span", { className: "result" }, call ?
			` → ${resultShow(textOf(barOf(i))) || "returned"}` :
			" … no return"));
	} else if (callsShown() && events.role[i]) {
		cell.append(make("span", { className: "data" }, "(…)"),
			make("span", { className: "result" },
				` → ${resultShow(textOf(i)) || "returned"}`));
	} else {
		cell.append(make("span", { className: "data" },
			`  ${lineShow(textOf(i))}`));
	}
	const flags = new Set([...flagsOf(i), ...(call ? flagsOf(barOf(i)) :
		[])]);
	if (flags.size)
		cell.append(make("span", { className: "flags" },
			`  ${[...flags].join(", ")}`));
	return cell;
}

function spanShowOf(ns) {
	return isNaN(ns) ? "" : spanShow(ns);
}

// Of one event the return has the figures of the call.
function figureOf(figure, i) {
	return callsShown() || isBar(i) ? figure(i) : NaN;
}

const nameRanks = (() => {
	const ranks = [];
	points.map((point, p) => p).sort((a, b) => nameOf(a) < nameOf(b) ? -1 :
		nameOf(a) > nameOf(b) ? 1 : 0)
		.forEach((p, rank) => { ranks[p] = rank; });
	return ranks;
})();

// title, what a row has there, what it is sorted by, class
const COLUMNS = [
	["Event", (i) => `${events.number[i]}`, (i) => events.number[i],
		"number narrow-off"],
	["Time", (i) => clockShow(events.time[i]), (i) => events.time[i], ""],
	["CPU", (i) => `${events.cpu[i]}`, (i) => events.cpu[i],
		"number narrow-off"],
	["Thread", (i) => `${commOf(i)} ${processShow(i)}`,
		(i) => events.thread[i], "narrow-off"],
	["Latency", (i) => spanShowOf(figureOf(latencyOf, i)),
		(i) => figureOf(latencyOf, i), "number"],
	["Self", (i) => spanShowOf(figureOf(selfOf, i)),
		(i) => figureOf(selfOf, i), "number narrow-off"],
	...(tagsThere.length > 1 ? [["Module", (i) => tags[events.point[i]],
		(i) => tagsThere.indexOf(tags[events.point[i]]),
		"narrow-off module"]] : []),
	["Call", callCell, (i) => nameRanks[events.point[i]], "call"],
];

function rowHeight() {
	return matchMedia("(max-width: 760px)").matches ? 44 : 24;
}

// Elements can't be higher than some 17 million pixels: with more rows scrolling
// is faster than they are.
const HEIGHT_MOST = 12e6;

function tableScale() {
	const height = order.length * rowHeight();
	const rest = Math.max(1, HEIGHT_MOST - tableBox.clientHeight);
	return height <= HEIGHT_MOST ? 1 :
		(height - tableBox.clientHeight) / rest;
}

// Pixels from the first row's top to what is seen first.
function tableTop() {
	return tableBox.scrollTop * tableScale();
}

function rowMake(place) {
	const i = order[place], chosenHere = i === itemOf(chosen);
	const row = make("div", {
		className: `row${place & 1 ? " even" : ""}` +
			`${chosenHere ? " chosen" : ""}`,
		role: "row", ariaRowIndex: String(place + 2),
		ariaSelected: String(chosenHere), id: `row-${place}`,
	});
	row.dataset.row = i;
	for (const [, show, , style] of COLUMNS) {
		const shown = show(i);
		row.append(shown instanceof Element ? shown :
			make("span", { className: style, role: "gridcell",
				title: shown }, shown));
	}
	return row;
}

function tableDraw() {
	const height = rowHeight(), top = tableTop();
	const first = Math.max(0, Math.floor(top / height) - 8);
	const last = Math.min(order.length, first + 16 +
		Math.ceil(tableBox.clientHeight / height));
	for (const [place, row] of tableRows) {
		if (place >= first && place < last)
			continue;
		row.remove();
		tableRows.delete(place);
	}
	for (let place = first; place < last; place++) {
		if (!tableRows.has(place)) {
			const made = rowMake(place);
			tableRows.set(place, made);
			tableSpace.append(made);
		}
		tableRows.get(place).style.top = `${place * height - top +
			tableBox.scrollTop}px`;
	}
}

function tableFresh() {
	tableSpace.replaceChildren();
	tableRows.clear();
	tableSpace.style.height = `${Math.min(HEIGHT_MOST,
		order.length * rowHeight())}px`;
	tableBox.setAttribute("aria-rowcount", String(order.length + 1));
	if (!order.length)
		tableSpace.append(make("p", { className: "empty" },
			n ? "No event passes all filters." :
			"The trace has no events."));
	tableDraw();
}

// What has no such value is last.
function tableSort() {
	const by = COLUMNS[sorted.column][2], items = itemsFind();
	order = items;
	if (sorted.column > 0 || sorted.down) {
		const keys = Float64Array.from(items, by);
		const none = sorted.down ? -Infinity : Infinity;
		for (let k = 0; k < keys.length; k++)
			keys[k] = isNaN(keys[k]) ? none : keys[k];
		const places = Uint32Array.from(items, (i, k) => k);
		places.sort(sorted.down ?
			(a, b) => keys[b] - keys[a] || a - b :
			(a, b) => keys[a] - keys[b] || a - b);
		order = places.map((k) => items[k]);
	}
	for (const button of byId("table-head").children) {
		delete button.dataset.sorted;
		button.removeAttribute("aria-sort");
	}
	const head = byId("table-head").children[sorted.column];
	head.dataset.sorted = "";
	head.setAttribute("aria-sort",
		sorted.down ? "descending" : "ascending");
	byId("rows-count").textContent = `${countShow(order.length)} row` +
		`${order.length === 1 ? "" : "s"}`;
	tableFresh();
}

function headMake() {
	const widths = { Event: 84, Time: 156, CPU: 44, Thread: 150,
		Latency: 88, Self: 88, Module: 100 };
	const columns = COLUMNS.map(([title]) => widths[title] ?
		`${widths[title]}px` : "minmax(260px, 1fr)").join(" ");
	document.documentElement.style.setProperty("--columns", columns);
	COLUMNS.forEach(([title, , , style], column) => {
		const button = make("button", { type: "button",
			className: style, role: "columnheader" }, title);
		button.addEventListener("click", () => {
			sorted = { column, down: sorted.column === column &&
				!sorted.down };
			tableSort();
		});
		byId("table-head").append(button);
	});
}

function tableShow(i) {
	const place = order.indexOf(itemOf(i)), height = rowHeight();
	if (place < 0)
		return;
	const top = place * height, head = byId("table-head").offsetHeight;
	if (top < tableTop())
		tableBox.scrollTop = top / tableScale();
	else if (top + height + head > tableTop() + tableBox.clientHeight)
		tableBox.scrollTop = (top + height + head -
			tableBox.clientHeight) / tableScale();
	tableBox.setAttribute("aria-activedescendant", `row-${place}`);
}

function tableChoose(i) {
	for (const row of tableRows.values()) {
		const is = Number(row.dataset.row) === itemOf(i);
		row.classList.toggle("chosen", is);
		row.setAttribute("aria-selected", String(is));
	}
	if (i >= 0)
		tableShow(i);
	tableDraw();
	detailsShow(i);
}

function tableKey(event) {
	const page = Math.max(1, Math.floor(tableBox.clientHeight /
		rowHeight()) - 2);
	const by = { ArrowUp: -1, ArrowDown: 1, PageUp: -page,
		PageDown: page, Home: -Infinity, End: Infinity }[event.key];
	if (event.key === "Enter" && chosen >= 0)
		viewShow(chosen);
	if (by === undefined || !order.length || event.ctrlKey)
		return;
	event.preventDefault();
	const at = order.indexOf(itemOf(chosen));
	choose(order[Math.min(Math.max(at + by, 0), order.length - 1)]);
}

// ---- the chosen event, or call ----

function detail(title, value) {
	return make("tr", {}, make("th", { scope: "row" }, title),
		make("td", {}, value));
}

function exactly(ns) {
	return `${spanShow(ns)} (${countShow(ns)}${NO_BREAK}ns)`;
}

function detailsTable(head, bar) {
	const point = points[events.point[head]];
	const trace = meta.traces[events.trace[head]];
	const rows = [["Event", `${events.number[head]}`],
		["Time", `${clockDate(events.time[head])} ` +
			`${clockShow(events.time[head])}`]];
	if (bar !== head)
		rows.push(["Return", `event ${events.number[bar]}, ` +
			`${clockShow(events.time[bar])}`]);
	if (isBar(bar))
		rows.push(["Latency", exactly(events.latency[bar])]);
	if (!isNaN(events.self[bar]))
		rows.push(["Self", exactly(events.self[bar])]);
	rows.push(["Code", `${point.major}/${hexShow(point.major)}  minor ` +
		`${point.minor}/${hexShow(point.minor)}`],
	["Process", `${commOf(head)} ${events.pid[head]}`],
	["Thread", `${events.tid[head]}`],
	["CPU", events.cpu[head] === events.cpu[bar] ? `${events.cpu[head]}` :
		`${events.cpu[head]}, ${events.cpu[bar]} at the return`],
	["Length", `${events.length[head]}`]);
	const flags = new Set([...flagsOf(head), ...flagsOf(bar)]);
	if (flags.size)
		rows.push(["Flags", [...flags].join(", ")]);
	if (point.module)
		rows.push(["Module", point.module]);
	if (point.group)
		rows.push(["Group", point.group]);
	if (meta.traces.length > 1)
		rows.push(["Trace", `${trace.name} (${trace.host})`]);
	return make("table", {}, ...rows.map((row) => detail(...row)));
}

function dataDetails(title, i) {
	const { fields } = points[events.point[i]];
	const parts = [make("h3", {}, title),
		make("pre", {}, textOf(i) || "(none)")];
	if (fields && fields.length) {
		const values = valuesOf(i);
		parts.push(make("table", { className: "fields" },
			...fields.map((name, k) => detail(name,
				valueShow(values[k])))));
	}
	return parts;
}

function stepButton(text, i) {
	const button = make("button", { type: "button" }, text);
	button.disabled = i < 0;
	button.addEventListener("click", () => choose(i));
	return button;
}

// The next one of the thread in a direction, or -1.
function ofThread(i, by) {
	const is = itemOf(i);
	for (let k = i + by; k >= 0 && k < n; k += by)
		if (events.thread[k] === events.thread[i] &&
		    itemOf(k) !== is && (!callsShown() || headOf(k) === k))
			return k;
	return -1;
}

function detailsShow(i) {
	const box = byId("details");
	box.hidden = i < 0;
	if (i < 0)
		return;
	const head = itemOf(i), bar = callsShown() ? barOf(i) : i;
	const close = make("button", { type: "button", className: "close",
		ariaLabel: "Close" }, "×");
	close.addEventListener("click", () => choose(-1));
	const steps = make("div", { className: "steps" },
		stepButton("‹ of this thread", ofThread(head, -1)),
		stepButton("of this thread ›", ofThread(head, 1)),
		stepButton("caller", itemOf(events.parent[head])));
	if (!callsShown() && events.partner[i] >= 0)
		steps.append(stepButton(isBar(i) ? "its call" : "its return",
			events.partner[i]));
	const title = callsShown() ? titleOf(i) : descOf(events.point[i]);
	box.replaceChildren(close, make("h2", {}, title),
		detailsTable(head, bar), steps,
		...(bar !== head ? [...dataDetails("Arguments", head),
			...dataDetails("Result", bar)] :
			dataDetails("Data", head)));
	byId("chosen").textContent = `Event ${events.number[head]}: ${title}` +
		(isBar(bar) ? `, ${spanShow(events.latency[bar])}` : "");
}

// What is printed: as many rows as some pages have, from those that are seen.
const PRINTED = 300;

function tablePrint() {
	const first = Math.floor(tableTop() / rowHeight());
	const rows = [];
	for (let place = first; place < order.length &&
	     place < first + PRINTED; place++)
		rows.push(rowMake(place));
	tableSpace.replaceChildren(make("p", { className: "empty" },
		`Rows ${countShow(first + 1)} to ` +
		`${countShow(first + rows.length)} of ` +
		`${countShow(order.length)}`), ...rows);
	tableRows.clear();
}

function tableOpen() {
	headMake();
	tableBox.addEventListener("scroll", tableDraw);
	tableBox.addEventListener("keydown", tableKey);
	tableSpace.addEventListener("click", (event) => {
		const row = event.target.closest(".row");
		if (row)
			choose(Number(row.dataset.row));
	});
	byId("rows").addEventListener("change", () => {
		tableSort();
		if (chosen >= 0)
			choose(chosen);
	});
	let width = tableBox.clientWidth;
	new ResizeObserver(() => {
		if (width !== tableBox.clientWidth)
			tableFresh();
		width = tableBox.clientWidth;
		tableDraw();
	}).observe(tableBox);
	filter.listeners.push(tableSort);
	chooseListeners.push(tableChoose);
}
