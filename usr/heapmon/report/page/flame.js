// SPDX-License-Identifier: GPL-2.0
"use strict";

// The flame graph: an element for each frame that is wide enough.

(() => {
const ROW = 20, LEAST = 2;	// pixels: of a row; of a frame that is drawn
const COLOURS = 12;		// functions with a colour of their own
const PRINTED = 1000;		// pixels that a printed page has room for
const element = (id) => document.getElementById(id);
const graph = element("graph"), value = element("value");
const unit = element("unit"), order = element("order");
const find = element("find");
const number = new Intl.NumberFormat("en");
let root, shown, current, colours, legendNames;

const make = (tag, properties, ...children) => {
	const made = Object.assign(document.createElement(tag), properties);

	made.append(...children);
	return made;
};

// ---- numbers ----

const choiceNow = () => CHOICES.find(({ name }) => name === value.value);

const unitName = () => (unit.value === "bytes" ? "bytes" : "blocks") +
	(value.value === "rate" ? " per second" : "");

const amount = (sum) => number.format(Math.round(sum)) + NO_BREAK +
	unitName().replaceAll(" ", NO_BREAK);

const share = (of, all) => all ?
	`${(of * 100 / all).toFixed(1)}${NO_BREAK}%` : "";

const changeOf = (node) => node.sum - node.was;

const changeShow = (change) => (change > 0 ? "+" : change < 0 ? "−" : "±") +
	amount(Math.abs(change));

// "300 bytes, 75.0 % of all", of two files "+100 bytes: 200 before, 300 after"
const amountShow = (node) => before ?
	`${changeShow(changeOf(node))}: ${amount(node.was)} before, ` +
		`${amount(node.sum)} after` :
	`${amount(node.sum)}, ${share(node.sum, root.sum)} of all`;

// ---- colors ----

const hueOf = (rank) => rank * 137.508 + 30;

const coloursMake = () => {
	legendNames = functionsOf(root).slice(0, COLOURS);
	colours = new Map(legendNames.map(([name], rank) => [name, rank]));
};

// Red: more than before, blue: less; the stronger, the more of the frame it is.
const changeColour = (node) => {
	const part = node.width ? changeOf(node) / node.width : 0;
	const strength = Math.round(Math.sqrt(Math.abs(part)) * 100);

	return part ? `color-mix(in oklab, var(${part > 0 ? "--grown" :
		"--shrunk"}) ${strength}%, var(--same))` : "var(--same)";
};

const colourOf = (node) => {
	const rank = colours.get(node.frame.name);

	if (before)
		return changeColour(node);
	return rank === undefined ? "var(--same)" :
		`hsl(${hueOf(rank)} 62% var(--light))`;
};

const legendRow = (colour, text, title, pick) => {
	const mark = make("span", { className: "mark", ariaHidden: "true" });

	mark.style.background = colour;
	if (!pick)
		return make("span", { className: "key", title }, mark, text);
	const row = make("button", { type: "button", className: "key", title },
			 mark, text);
	row.addEventListener("click", pick);
	return row;
};

const legendDraw = () => {
	const rows = before ? [
		legendRow("var(--grown)", "more than before", ""),
		legendRow("var(--shrunk)", "less than before", ""),
		legendRow("var(--same)", "the same", ""),
	] : legendNames.map(([name, sum], rank) => legendRow(
		`hsl(${hueOf(rank)} 62% var(--light))`,
		`${nameShort(name, 40)} ${share(sum, root.width)}`, name,
		() => {
			find.value = find.value === name ? "" : name;
			draw();
		}));

	if (!before && legendNames.length === COLOURS)
		rows.push(legendRow("var(--same)", "others", ""));
	element("legend").replaceChildren(...(root.width ? rows : []));
};

// ---- the description of a frame ----

const detail = (node) => {
	const { frame } = node;
	const where = [frame.file && frame.line ? `${frame.file}:${frame.line}` :
		frame.file, frame.module].filter((text) => text).join(" in ");

	const name = nameShort(frame.name, 120);

	element("detail").textContent = [
		name,
		amountShow(node) + (node.own ? `; ending here ${
			number.format(Math.round(node.own))}` : ""),
		[where, node.cut && `callers unknown ${node.cut}`]
			.filter((text) => text).join("; "),
		name === frame.name ? "" : frame.name,
	].join("\n").trimEnd();
};

// ---- drawing ----

const isFound = (node) => find.value !== "" && node.parent !== null &&
	node.frame.name.toLowerCase().includes(find.value.toLowerCase());

// Of the frames that are found, those inside of others don't count again.
const foundSum = (node) => isFound(node) ? node.sum :
	[...node.children.values()].reduce((sum, child) =>
		sum + foundSum(child), 0);

const context = document.createElement("canvas").getContext("2d");
const widths = new Map();

const widthOf = (text) => {
	if (!widths.has(text)) {
		context.font = "12px " + getComputedStyle(graph)
			.getPropertyValue("--mono");
		widths.set(text, context.measureText(text).width);
	}
	return widths.get(text);
};

const labelOf = (node, room) => {
	const prefix = node.cut ? "…" : "";

	if (!node.parent) {
		const label = `${node.frame.name}: ${amountShow(node)
			.replace(/, [^,]* of all$/, "")}`;

		return widthOf(label) <= room ? label : node.frame.name;
	}
	const fit = nameFit(node.frame.name, room - widthOf(prefix), widthOf);

	return fit && prefix + fit;
};

const columns = () => document.documentElement.dataset.printing === "" ?
	PRINTED : graph.clientWidth;

// left and width: parts of the whole
const frameDraw = (node, left, width) => {
	const label = width * columns() > 16 ?
		labelOf(node, width * columns() - 8) : "";
	const box = make("button", {
		type: "button", className: "frame", role: "treeitem",
		ariaLabel: `${node.frame.name}, ${amountShow(node)}`,
		ariaLevel: String(node.depth + 1), tabIndex: -1,
		title: `${node.frame.name}\n${amountShow(node)}`,
	}, label);

	box.classList.toggle("found", isFound(node));
	box.classList.toggle("above", node.depth < shown.depth);
	box.style.left = `${left * 100}%`;
	box.style.top = `${node.depth * ROW}px`;
	box.style.width = `max(calc(${width * 100}% - 1px), 1px)`;
	box.style.background = isFound(node) ? "" : colourOf(node);
	box.addEventListener("click", () => zoom(node));
	box.addEventListener("mouseenter", () => detail(node));
	box.addEventListener("focus", () => currentSet(node));
	node.box = box;
	graph.append(box);
};

const childrenSorted = (node) => [...node.children.values()]
	.sort((a, b) => b.width - a.width);

const childrenDraw = (top) => {
	const pending = [[top, 0, 1]];
	let rows = top.depth + 1;

	while (pending.length) {
		const [node, from, room] = pending.pop();
		let at = from;

		for (const child of childrenSorted(node)) {
			const part = room * child.width / node.width;

			if (part * columns() < LEAST)
				break;
			frameDraw(child, at, part);
			rows = Math.max(rows, child.depth + 1);
			pending.push([child, at, part]);
			at += part;
		}
	}
	return rows;
};

// One frame can be reached by Tab; arrows go from there.
const currentSet = (node) => {
	if (current?.box)
		current.box.tabIndex = -1;
	current = node;
	node.box.tabIndex = 0;
	detail(node);
};

const boxesForget = (node) => {
	node.box = null;
	for (const child of node.children.values())
		boxesForget(child);
};

const draw = () => {
	const all = foundSum(root), focused = graph.contains(
		document.activeElement);

	boxesForget(root);
	graph.replaceChildren();
	legendDraw();
	element("found").textContent = find.value === "" ? "" :
		`${amount(all)}, ${share(all, root.sum)}`;
	if (!root.width) {
		graph.append(make("p", {}, "nothing of that kind"));
		element("detail").textContent = "";
		return;
	}
	for (let node = shown; node; node = node.parent)
		frameDraw(node, 0, 1);
	graph.style.setProperty("--rows", childrenDraw(shown));
	currentSet(current?.box ? current : shown);
	if (focused)
		current.box.focus({ preventScroll: true });
};

const zoom = (node) => {
	shown = node;
	current = node;
	draw();
	if (root.width)
		node.box.scrollIntoView({ block: "nearest" });
};

const renew = () => {
	const temporary = value.value === "temporary";

	if (temporary)
		unit.value = "count";
	unit.disabled = temporary;
	root = treeMake(choiceNow(), unit.value, order.value === "callers");
	coloursMake();
	zoom(root);
};

// ---- keys ----

const beside = (node, by) => {
	const drawn = node.parent ? childrenSorted(node.parent)
		.filter((child) => child.box) : [];

	return drawn[drawn.indexOf(node) + by];
};

const GOES = {
	ArrowDown: (node) => childrenSorted(node).find((child) => child.box),
	ArrowUp: (node) => node.parent,
	ArrowLeft: (node) => beside(node, -1),
	ArrowRight: (node) => beside(node, 1),
	Home: () => root,
};

const key = (event) => {
	const typing = event.target.closest("input, select, dialog");

	if (event.ctrlKey || event.metaKey || event.altKey)
		return;
	if (event.key === "Escape" && !event.target.closest("dialog"))
		return zoom(root);
	if (typing)
		return;
	if (event.key === "/")
		find.select();
	else if (event.key === "?")
		element("help").showModal();
	else if (GOES[event.key] && graph.contains(event.target))
		GOES[event.key](current)?.box?.focus();
	else
		return;
	event.preventDefault();
};

// ---- the page ----

const totalsShow = (of) => {
	const { allocated, kept, peak } = of.totals;
	const text = ({ count, bytes }) =>
		`${number.format(Math.round(bytes))}${NO_BREAK}bytes in ` +
		`${number.format(Math.round(count))}${NO_BREAK}blocks`;

	return `allocated ${text(allocated)}; not freed ${text(kept)}` +
		(peak ? `; peak ${text(peak)}` : "");
};

const about = () => {
	if (report.command)
		element("title").textContent = report.command;
	document.title = `heap of ${report.command || "a program"}`;
	element("about").textContent = before ?
		`before: ${totalsShow(before)} · after: ${totalsShow(report)}` :
		totalsShow(report);
	for (const of of [before, report])
		for (const note of of ? of.notes : [])
			element("notes").append(make("li", {}, before ?
				`${of === before ? "before" : "after"}: ${note}` :
				note));
	const there = choicesThere();
	for (const { name, title } of there.length ? there : CHOICES)
		value.append(make("option", { value: name }, title));
};

const themeSet = (theme) => {
	document.documentElement.dataset.theme = theme;
	element("theme").textContent = theme === "dark" ? "Light" : "Dark";
};

const themeNow = () => document.documentElement.dataset.theme;

const printing = (begins) => {
	if (begins)
		document.documentElement.dataset.printing = "";
	else
		delete document.documentElement.dataset.printing;
	draw();
};

about();
themeSet(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
for (const select of [value, unit, order])
	select.addEventListener("change", renew);
find.addEventListener("input", draw);
element("bar").addEventListener("submit", (event) => event.preventDefault());
element("whole").addEventListener("click", () => zoom(root));
element("theme").addEventListener("click", () =>
	themeSet(themeNow() === "dark" ? "light" : "dark"));
element("help-open").addEventListener("click", () =>
	element("help").showModal());
addEventListener("resize", draw);
addEventListener("keydown", key);
addEventListener("beforeprint", () => printing(true));
addEventListener("afterprint", () => printing(false));
renew();
document.documentElement.dataset.ready = "";
})();
