// SPDX-License-Identifier: GPL-2.0
"use strict";

// The table of events, of which only the rows that are seen are elements, and
// the chosen event in full.

const tableBox = byId("table"), tableSpace = byId("table-space");
const tableRows = new Map();	// elements by place
let order = filter.shown;	// rows in the order of the table
let sorted = { column: 0, down: false };

function processShow(i) {
	return events.pid[i] === events.tid[i] ? `${events.pid[i]}` :
		`${events.pid[i]}/${events.tid[i]}`;
}

function codesShow(i) {
	const { major, minor } = points[events.point[i]];
	return `${major}/${hexShow(minor)}`;
}

function dataShow(i) {
	return events.text[i].replace(/\s+/g, " ").trim().slice(0, 1000);
}

// title, text of a row, what it is sorted by, class
const COLUMNS = [
	["Event", (i) => `${events.number[i]}`, (i) => events.number[i],
		"number narrow-off"],
	["Time", (i) => clockShow(events.time[i]), (i) => events.time[i], ""],
	["CPU", (i) => `${events.cpu[i]}`, (i) => events.cpu[i],
		"number narrow-off"],
	["PID/TID", processShow, (i) => events.pid[i] * 2 ** 22 +
		events.tid[i], "narrow-off"],
	["Name", (i) => events.comm[i], (i) => events.comm[i], "narrow-off"],
	["Code", codesShow, (i) => points[events.point[i]].major * 65536 +
		points[events.point[i]].minor, "narrow-off"],
	["Tracepoint", (i) => descOf(events.point[i]),
		(i) => descOf(events.point[i]), ""],
	["Latency", (i) => isBar(i) ? spanShow(events.latency[i]) : "",
		(i) => isBar(i) ? events.latency[i] : -1, "number"],
	["Data", dataShow, (i) => events.text[i], "data"],
];

function rowHeight() {
	return matchMedia("(max-width: 760px)").matches ? 44 : 24;
}

function rowMake(place) {
	const i = order[place];
	const row = make("div", {
		className: `row${place & 1 ? " even" : ""}` +
			`${i === chosen ? " chosen" : ""}`,
		role: "row", ariaRowIndex: String(place + 2),
		ariaSelected: String(i === chosen), id: `row-${place}`,
	});
	row.dataset.row = i;
	row.style.top = `${place * rowHeight()}px`;
	for (const [title, show, , style] of COLUMNS) {
		const cell = make("span", { className: style,
			role: "gridcell" }, show(i));
		if (title === "Tracepoint") {
			const mark = make("span", { className: "mark" });
			mark.style.background = colourOf(events.point[i],
				isDark());
			cell.prepend(mark);
			if (events.flags[i])
				cell.append(make("span",
					{ className: "flags" },
					`  ${flagsOf(i).join(", ")}`));
		}
		row.append(cell);
	}
	return row;
}

function tableDraw() {
	const height = rowHeight(), top = tableBox.scrollTop;
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
		if (tableRows.has(place))
			continue;
		const row = rowMake(place);
		tableRows.set(place, row);
		tableSpace.append(row);
	}
}

function tableFresh() {
	tableSpace.replaceChildren();
	tableRows.clear();
	tableSpace.style.height = `${order.length * rowHeight()}px`;
	tableBox.setAttribute("aria-rowcount", String(order.length + 1));
	if (!order.length)
		tableSpace.append(make("p", { className: "empty" },
			n ? "No event passes all filters." :
			"The trace has no events."));
	tableDraw();
}

function tableSort() {
	const by = COLUMNS[sorted.column][2];
	const sign = sorted.down ? -1 : 1;
	order = filter.shown;
	if (sorted.column > 0 || sorted.down) {
		const keys = Array.from(order, by);
		const places = keys.map((key, k) => k).sort((a, b) =>
			keys[a] < keys[b] ? -sign : keys[a] > keys[b] ? sign :
			a - b);
		order = Uint32Array.from(places, (k) => filter.shown[k]);
	}
	for (const button of byId("table-head").children) {
		delete button.dataset.sorted;
		button.removeAttribute("aria-sort");
	}
	const head = byId("table-head").children[sorted.column];
	head.dataset.sorted = "";
	head.setAttribute("aria-sort",
		sorted.down ? "descending" : "ascending");
	tableFresh();
}

function headMake() {
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
	const place = order.indexOf(i), height = rowHeight();
	if (place < 0)
		return;
	const top = place * height, head = byId("table-head").offsetHeight;
	if (top < tableBox.scrollTop)
		tableBox.scrollTop = top;
	else if (top + height + head >
		 tableBox.scrollTop + tableBox.clientHeight)
		tableBox.scrollTop = top + height + head -
			tableBox.clientHeight;
	tableBox.setAttribute("aria-activedescendant", `row-${place}`);
}

function tableChoose(i) {
	for (const row of tableRows.values()) {
		const is = Number(row.dataset.row) === i;
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
	const at = order.indexOf(chosen);
	choose(order[Math.min(Math.max(at + by, 0), order.length - 1)]);
}

// ---- the chosen event ----

function detail(title, value) {
	return make("tr", {}, make("th", { scope: "row" }, title),
		make("td", {}, value));
}

function detailsTable(i) {
	const point = points[events.point[i]];
	const trace = meta.traces[events.trace[i]];
	const rows = [
		["Event", `${events.number[i]}`],
		["Time", `${clockDate(events.time[i])} ` +
			`${clockShow(events.time[i])}`],
		["Code", `${point.major}/${hexShow(point.major)}  minor ` +
			`${point.minor}/${hexShow(point.minor)}`],
		["Process", `${events.comm[i]} ${events.pid[i]}`],
		["Thread", `${events.tid[i]}`], ["CPU", `${events.cpu[i]}`],
		["Length", `${events.length[i]}`],
	];
	if (events.flags[i])
		rows.push(["Flags", flagsOf(i).join(", ")]);
	if (isBar(i))
		rows.push(["Latency", `${spanShow(events.latency[i])} (` +
			`${countShow(events.latency[i])} ns)`]);
	if (point.module)
		rows.push(["Module", point.module]);
	if (point.group)
		rows.push(["Group", point.group]);
	if (meta.traces.length > 1)
		rows.push(["Trace", `${trace.name} (${trace.host})`]);
	return make("table", {}, ...rows.map((row) => detail(...row)));
}

function fieldsTable(i) {
	const { fields } = points[events.point[i]], values = valuesOf(i);
	if (!fields || !fields.length)
		return [];
	return [make("h3", {}, "Fields"), make("table", {},
		...fields.map((name, k) => detail(name,
			valueShow(values[k]))))];
}

function stepButton(text, i) {
	const button = make("button", { type: "button" }, text);
	button.disabled = i < 0;
	button.addEventListener("click", () => choose(i));
	return button;
}

// The next event of the thread in a direction, or -1.
function ofThread(i, by) {
	for (let k = i + by; k >= 0 && k < n; k += by)
		if (events.tid[k] === events.tid[i] &&
		    events.trace[k] === events.trace[i])
			return k;
	return -1;
}

function detailsShow(i) {
	const box = byId("details");
	box.hidden = i < 0;
	if (i < 0)
		return;
	const close = make("button", { type: "button", className: "close",
		ariaLabel: "Close" }, "×");
	close.addEventListener("click", () => choose(-1));
	const steps = make("div", { className: "steps" },
		stepButton("‹ of this thread", ofThread(i, -1)),
		stepButton("of this thread ›", ofThread(i, 1)));
	if (events.partner[i] >= 0)
		steps.append(stepButton(isBar(i) ? "its call" : "its return",
			events.partner[i]));
	box.replaceChildren(close,
		make("h2", {}, descOf(events.point[i])), detailsTable(i),
		steps, make("h3", {}, "Data"),
		make("pre", {}, events.text[i] || "(none)"),
		...fieldsTable(i));
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
	let height = rowHeight();
	new ResizeObserver(() => {
		if (height !== rowHeight())
			tableFresh();
		height = rowHeight();
		tableDraw();
	}).observe(tableBox);
	filter.listeners.push(tableSort);
	chooseListeners.push(tableChoose);
}
