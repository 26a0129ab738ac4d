// SPDX-License-Identifier: GPL-2.0
"use strict";
(() => {
const ROW = 20, LEAST = 2;	// pixels: of a row; of a frame that is drawn
const report = JSON.parse(document.getElementById("report").textContent);
const element = (id) => document.getElementById(id);
const graph = element("graph"), value = element("value");
const order = element("order"), find = element("find");
const number = new Intl.NumberFormat("en");
let root, shown;

const sumOf = (site) => {
	const [name, part] = value.value.split(" ");
	const sum = site[name];

	return !sum ? 0 : part ? sum[part] : sum;
};

/* Frames are the same when they are of one function. */
const keyOf = (frame) => [frame.name, frame.module, frame.file].join("\n");

const nodeMake = (frame, parent) =>
	({ frame, parent, sum: 0, own: 0, children: new Map(),
	   depth: parent ? parent.depth + 1 : 0 });

const childGet = (node, frame) => {
	const key = keyOf(frame);
	let child = node.children.get(key);

	if (!child) {
		child = nodeMake(frame, node);
		node.children.set(key, child);
	}
	return child;
};

const treeMake = () => {
	const tree = nodeMake({ name: "all" }, null);

	for (const site of report.sites) {
		const sum = sumOf(site);
		const stack = order.value === "callers" ?
			[...site.stack].reverse() : site.stack;
		let node = tree;

		if (!(sum > 0))
			continue;
		tree.sum += sum;
		for (const at of stack) {
			node = childGet(node, report.frames[at]);
			node.sum += sum;
		}
		node.own += sum;
	}
	return tree;
};

/* ---- the description of a frame ---- */

const unit = () => value.value.endsWith("bytes") ? "bytes" : "blocks";

const share = (of, all) => all ? (of * 100 / all).toFixed(1) + " %" : "";

const detail = (node) => {
	const frame = node.frame;
	const where = [frame.file && frame.line ? frame.file + ":" +
		frame.line : frame.file, frame.module];

	element("detail").textContent = [
		frame.name,
		number.format(Math.round(node.sum)) + " " + unit() + ", " +
		share(node.sum, root.sum) + " of all" +
		(node.own ? "; ending here " +
		 number.format(Math.round(node.own)) : ""),
		where.filter((text) => text).join(" in "),
	].join("\n");
};

const hueOf = (text) => {
	let hash = 7;

	for (let i = 0; i < text.length; i++)
		hash = (hash * 31 + text.charCodeAt(i)) | 0;
	return Math.abs(hash) % 360;
};

/* ---- drawing ---- */

const isFound = (node) => find.value !== "" &&
	node.frame.name.toLowerCase().includes(find.value.toLowerCase());

/* Of the frames that are found, those inside of others don't count again. */
const foundSum = (node) => {
	let sum = 0;

	if (isFound(node))
		return node.sum;
	for (const child of node.children.values())
		sum += foundSum(child);
	return sum;
};

const frameDraw = (node, left, width) => {
	const box = document.createElement("button");

	box.type = "button";
	box.className = "frame";
	box.classList.toggle("found", isFound(node));
	box.classList.toggle("above", node.depth < shown.depth);
	box.style.left = left + "px";
	box.style.top = node.depth * ROW + "px";
	box.style.width = Math.max(width - 1, 1) + "px";
	box.style.setProperty("--hue",
			      hueOf(node.frame.module || node.frame.name));
	if (width > 30)
		box.textContent = node.frame.name;
	box.setAttribute("aria-label", node.frame.name + ", " +
			 number.format(Math.round(node.sum)) + " " + unit());
	box.addEventListener("click", () => zoom(node));
	box.addEventListener("mouseenter", () => detail(node));
	box.addEventListener("focus", () => detail(node));
	graph.append(box);
};

const childrenDraw = (top, left, width) => {
	const pending = [[top, left, width]];

	while (pending.length) {
		const [node, from, room] = pending.pop();
		const children = [...node.children.values()];
		let at = from;

		children.sort((a, b) => b.sum - a.sum);
		for (const child of children) {
			const part = room * child.sum / node.sum;

			if (part < LEAST)
				break;
			frameDraw(child, at, part);
			pending.push([child, at, part]);
			at += part;
		}
	}
};

const draw = () => {
	const width = graph.clientWidth;
	const all = foundSum(root);

	graph.replaceChildren();
	element("found").textContent = find.value === "" ? "" :
		number.format(Math.round(all)) + " " + unit() + ", " +
		share(all, root.sum);
	if (!root.sum) {
		const text = document.createElement("p");

		text.textContent = "nothing of that kind";
		graph.append(text);
		return;
	}
	for (let node = shown; node; node = node.parent)
		frameDraw(node, 0, width);
	childrenDraw(shown, 0, width);
};

const zoom = (node) => {
	shown = node;
	draw();
	detail(node);
};

const renew = () => {
	root = treeMake();
	zoom(root);
};

/* ---- the page ---- */

const about = () => {
	const totals = report.totals;
	const text = (sum) => number.format(Math.round(sum.count)) +
		" blocks, " + number.format(Math.round(sum.bytes)) + " bytes";

	if (report.command)
		element("title").textContent = report.command;
	document.title = "heap of " + (report.command || "a program");
	element("about").textContent = "allocated " + text(totals.allocated) +
		"; not freed " + text(totals.kept) +
		(totals.peak ? "; peak " + text(totals.peak) : "");
	for (const note of report.notes) {
		const item = document.createElement("li");

		item.textContent = note;
		element("notes").append(item);
	}
	if (!totals.peak)
		for (const option of [...value.options])
			if (/peak|temporary/.test(option.value))
				option.remove();
};

about();
if (!report.totals.kept.bytes)
	value.value = "allocated bytes";
value.addEventListener("change", renew);
order.addEventListener("change", renew);
find.addEventListener("input", draw);
element("bar").addEventListener("submit", (event) => event.preventDefault());
element("whole").addEventListener("click", () => zoom(root));
window.addEventListener("resize", draw);
window.addEventListener("keydown", (event) => {
	if (event.key === "Escape")
		zoom(root);
});
renew();
document.documentElement.dataset.ready = "";
})();
