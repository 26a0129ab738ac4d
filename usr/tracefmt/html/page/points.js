// SPDX-License-Identifier: GPL-2.0
"use strict";

// What is shown of a tracepoint: names without what all of them have in common,
// and colours; and elements of the page.

function hexShow(value) {
	return `0x${value.toString(16).toUpperCase().padStart(4, "0")}`;
}

// "(app) work Pre-Invocation" has the tag "app", and is "work".
const TAG = /^\(([^)]*)\) */;

function nameFind({ name, desc }) {
	// a longer name was cut, but not its DESC
	const whole = desc.replace(/\s+(pre|post)-?invocation\s*$/i, "");
	return (whole.startsWith(name) ? whole : name).replace(TAG, "") || name;
}

const names = points.map(nameFind);
const tags = points.map(({ desc }) => TAG.exec(desc)?.[1] ?? "");
const tagsThere = [...new Set(tags)].filter((tag) => tag);

function nameOf(point) {
	return names[point];
}

// Of an event that is no call: more than the name of a function.
function descOf(point) {
	return points[point].desc.trimEnd().replace(TAG, "") || names[point];
}

function titleOf(i) {
	return isBar(barOf(i)) ? names[events.point[i]] :
		descOf(events.point[i]);
}

function commOf(i) {
	return meta.comms[events.comm[i]];
}

function flagsOf(i) {
	return FLAGS.filter((word, bit) => events.flags[i] & 1 << bit);
}

// ---- calls: two events, known by the first ----

// A return whose call is known: both are one bar, whichever of them holds.
function isBar(i) {
	return events.role[i] === ROLE_MATCHED;
}

// The event that represents the call: its PRE, if that is here.
function headOf(i) {
	return isBar(i) && events.partner[i] >= 0 ? events.partner[i] : i;
}

// The one with latency and result.
function barOf(i) {
	return events.role[i] === ROLE_PRE && events.partner[i] >= 0 ?
		events.partner[i] : i;
}

function latencyOf(i) {
	const bar = barOf(i);
	return isBar(bar) ? events.latency[bar] : NaN;
}

function selfOf(i) {
	return events.self[barOf(i)];
}

// "n = 7, size = 64" of the lines that FMT made
function lineShow(text) {
	return text.trim().replace(/[ \t]+/g, " ").replace(/ ?\n ?/g, ", ")
		.slice(0, 1000);
}

function resultShow(text) {
	return lineShow(text.replace(/^\s*returns\s+/, ""));
}

// ---- colours ----

// The same colour for a function in all places; functions that follow each
// other lie far apart (by the golden angle).
const hues = (() => {
	const numbers = new Map();
	return names.map((name) => {
		if (!numbers.has(name))
			numbers.set(name, numbers.size);
		return numbers.get(name) * 137.508 + 210;
	});
})();

function colourOf(point, dark) {
	const light = Math.floor(hues[point] / 360) % 3 * 6;
	return `hsl(${hues[point] % 360} ${dark ? 48 : 60}% ` +
		`${(dark ? 52 : 62) + light}%)`;
}

// ---- elements ----

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
