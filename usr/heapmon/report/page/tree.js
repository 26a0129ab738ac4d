// SPDX-License-Identifier: GPL-2.0
"use strict";

// What is drawn: a tree of functions from the stacks of one report or two.

const reportOf = (id) => {
	const element = document.getElementById(id);
	return element ? JSON.parse(element.textContent) : null;
};

const report = reportOf("report"), before = reportOf("before");

// ---- what a stack has of a choice ----

const secondsOf = (of) => of.begin === null || of.end === null ? 0 :
	(of.end - of.begin) / 1e9;

const less = (a, b, part) => (a?.[part] ?? 0) - (b?.[part] ?? 0);

// sum(site, part, report): blocks ("count") or bytes. Only those of which some
// stack has anything can be chosen.
const CHOICES = [
	["live", "live at the end", (site, part) =>
		less(site.kept, site.left, part)],
	["leaked", "leaked: not freed when the process ended",
		(site, part) => site.left?.[part] ?? 0],
	["peak", "at the peak", (site, part) => site.peak?.[part] ?? 0],
	["allocated", "allocated in all", (site, part) =>
		site.allocated[part]],
	["rate", "allocated per second", (site, part, of) => secondsOf(of) ?
		site.allocated[part] / secondsOf(of) : 0],
	["temporary", "temporary: freed before the next allocation",
		(site, part) => part === "count" ? site.temporary ?? 0 : 0],
].map(([name, title, sum]) => ({ name, title, sum }));

const choicesThere = () => CHOICES.filter(({ sum }) =>
	[report, before].some((of) => of && of.sites.some((site) =>
		sum(site, "count", of) > 0 || sum(site, "bytes", of) > 0)));

// ---- the tree ----

// Functions are the same if they have the same name in the same module, and begin
// at the same place of it; this one changes from build to build.
const keyOf = ({ name, module, file, offset, module_offset: place }) =>
	[name, module, before ? "" : place === undefined ||
		offset === undefined ? file : parseInt(place, 16) - offset]
		.join("\n");

// cut: its callers were not recorded, because of this
const nodeMake = (frame, parent, cut) => ({
	frame, parent, cut, sum: 0, was: 0, own: 0, ownWas: 0, width: 0,
	children: new Map(), depth: parent ? parent.depth + 1 : 0,
});

const childGet = (node, frame, cut) => {
	const key = cut ? `${keyOf(frame)}\n${cut}` : keyOf(frame);
	let child = node.children.get(key);

	if (!child) {
		child = nodeMake(frame, node, cut);
		node.children.set(key, child);
	}
	return child;
};

// Without what is no frame: [the frames, the innermost first; why it ends early]
const stackOf = (of, site) => {
	const frames = site.stack.map((at) => of.frames[at]);
	const last = frames.at(-1);

	return last?.stopped ? [frames.slice(0, -1), last.name] : [frames, ""];
};

const siteAdd = (tree, of, site, sum, fromCallers) => {
	const [frames, cut] = stackOf(of, site);
	const stack = fromCallers ? frames.reverse() : frames;
	const [total, own] = of === before ? ["was", "ownWas"] : ["sum", "own"];
	let node = tree;

	tree[total] += sum;
	stack.forEach((frame, at) => {
		// of callers upwards the last one is cut off
		const end = fromCallers ? 0 : stack.length - 1;
		node = childGet(node, frame, at === end ? cut : "");
		node[total] += sum;
	});
	node[own] += sum;
};

// As wide as the larger one of both files, so that what is gone is seen, too.
const widthSet = (node) => {
	node.width = Math.max(node.own, node.ownWas);
	for (const child of node.children.values()) {
		widthSet(child);
		node.width += child.width;
	}
};

const treeMake = (choice, part, fromCallers) => {
	const tree = nodeMake({ name: "all" }, null, "");

	for (const of of [report, before]) {
		for (const site of of ? of.sites : []) {
			const sum = choice.sum(site, part, of);

			if (sum > 0)
				siteAdd(tree, of, site, sum, fromCallers);
		}
	}
	widthSet(tree);
	return tree;
};

// ---- functions of the tree ----

// [name, what is in the outermost of its frames], the largest first. A function
// that passes nearly all of it on to one other is left out, if others aren't.
const functionsOf = (tree) => {
	const sums = new Map(), inside = new Map();
	const walk = (node) => {
		const { name } = node.frame, depth = inside.get(name) ?? 0;
		const children = [...node.children.values()];
		const of = sums.get(name) ?? { width: 0, passed: 0 };

		if (!depth && node.parent) {
			of.width += node.width;
			of.passed += Math.max(0, ...children
				.map(({ width }) => width));
			sums.set(name, of);
		}
		inside.set(name, depth + 1);
		children.forEach(walk);
		inside.set(name, depth);
	};
	const all = () => [...sums]
		.sort((a, b) => b[1].width - a[1].width);

	walk(tree);
	const telling = all().filter(([, { width, passed }]) =>
		passed < width * 0.95);
	return (telling.length ? telling : all())
		.map(([name, { width }]) => [name, width]);
};
