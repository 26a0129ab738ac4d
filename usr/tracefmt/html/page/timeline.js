// SPDX-License-Identifier: GPL-2.0
"use strict";

// The timeline: a row for each thread or CPU, with lanes of nested calls and
// marks of the other events.

const LANE = 18, GAP = 8, AXIS = 22, LANES_MAX = 32;
const tracksBox = byId("tracks"), canvas = byId("canvas");
const view = { from: 0, to: 1, label: 190 };
const whole = { from: 0, to: 1 };	// of the events that are here
let tracks = [];
let chosen = -1;		// row of the chosen event
const chooseListeners = [];
let frame = 0;

// ---- tracks ----

function trackKey(i, byCpu) {
	return byCpu ? events.trace[i] * 2 ** 32 + events.cpu[i] :
		events.thread[i];
}

function trackNew(i) {
	return {
		trace: events.trace[i], cpu: events.cpu[i],
		pid: events.pid[i], tid: events.tid[i],
		rows: [], lanes: [], top: 0,
	};
}

function trackOrder(a, b) {
	if (byId("group").value === "cpu")
		return a.trace - b.trace || a.cpu - b.cpu;
	return a.trace - b.trace || a.pid - b.pid || a.tid - b.tid;
}

function trackName(track) {
	const i = track.rows[track.rows.length - 1];
	const host = meta.traces.length > 1 ?
		`${meta.traces[track.trace].host} ` : "";
	if (byId("group").value === "cpu")
		return `${host}CPU ${track.cpu}`;
	const name = commOf(i) || "process";
	return track.pid === track.tid ? `${host}${name} ${track.pid}` :
		`${host}${name} ${track.pid}/${track.tid}`;
}

function barFrom(i) {
	return events.time[i] - events.latency[i];
}

function laneOf(track, depth) {
	const at = Math.min(depth, LANES_MAX - 1);
	while (track.lanes.length <= at)
		track.lanes.push({ bars: [], marks: [] });
	return track.lanes[at];
}

// On a CPU calls of several threads overlap: the first lane that is free.
function laneFree(track, from) {
	const ends = track.ends ??= [];
	let at = ends.findIndex((end) => end <= from);
	if (at < 0)
		at = Math.min(ends.length, LANES_MAX - 1);
	return at;
}

function barsOfCpu(track, bars) {
	bars.sort((a, b) => barFrom(a) - barFrom(b));
	for (const i of bars) {
		const at = laneFree(track, barFrom(i));
		track.ends[at] = events.time[i];
		laneOf(track, at).bars.push(i);
	}
}

function callHere(i) {
	const call = events.partner[i];
	return call < 0 || events.cpu[call] === events.cpu[i];
}

function trackFill(track, byCpu) {
	const bars = [];
	for (const i of track.rows) {
		if (events.role[i] === ROLE_PRE && events.partner[i] >= 0 &&
		    (!byCpu || callHere(events.partner[i])))
			continue;
		if (!isBar(i) || (byCpu && !callHere(i)))
			laneOf(track, byCpu ? 0 : events.depth[i])
				.marks.push(i);
		else if (byCpu)
			bars.push(i);
		else
			laneOf(track, events.depth[i]).bars.push(i);
	}
	barsOfCpu(track, bars);
	if (!track.lanes.length)
		laneOf(track, 0);
	for (const lane of track.lanes)
		laneSort(lane);
}

// By their ends, so that the first one that is seen is found.
function laneSort(lane) {
	lane.bars.sort((a, b) => events.time[a] - events.time[b]);
	lane.marks.sort((a, b) => events.time[a] - events.time[b]);
	// none begins before the end of the one before it
	lane.apart = lane.bars.every((i, k) => !k ||
		barFrom(i) >= events.time[lane.bars[k - 1]]);
}

function wantedRows() {
	const wanted = new Uint8Array(n);
	for (const i of filter.shown) {
		wanted[i] = 1;
		if (events.partner[i] >= 0)
			wanted[events.partner[i]] = 1;
	}
	return wanted;
}

function tracksMake() {
	const byCpu = byId("group").value === "cpu";
	const wanted = wantedRows(), found = new Map();
	let last = -1, track = null;
	for (let i = 0; i < n; i++) {
		if (!wanted[i])
			continue;
		const key = trackKey(i, byCpu);
		if (key !== last) {
			track = found.get(key);
			if (!track)
				found.set(key, track = trackNew(i));
			last = key;
		}
		track.rows.push(i);
	}
	tracks = [...found.values()].sort(trackOrder);
	let top = AXIS;
	for (const track of tracks) {
		trackFill(track, byCpu);
		track.name = trackName(track);
		track.top = top;
		top += track.lanes.length * LANE + GAP;
	}
	tracksFit(top + GAP);
	timelineDraw();
}

// No higher than the rows, at first; later as it was drawn.
function tracksFit(height) {
	const fits = Math.min(height, innerHeight * 0.38);
	if (!tracksBox.style.height)
		tracksBox.style.height = `${Math.round(fits)}px`;
	byId("tracks-space").style.height = `${Math.max(0,
		height - tracksBox.clientHeight)}px`;
}

// ---- scales ----

function canvasSize(of) {
	const ratio = window.devicePixelRatio || 1;
	const { width, height } = of.getBoundingClientRect();
	const w = Math.round(width * ratio), h = Math.round(height * ratio);
	if (of.width !== w || of.height !== h) {
		of.width = w;
		of.height = h;
	}
	const context = of.getContext("2d");
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, width, height);
	return { context, width, height };
}

function xOf(time, width) {
	return view.label + (time - view.from) / (view.to - view.from) *
		(width - view.label);
}

function timeAt(x, width) {
	return view.from + (x - view.label) / (width - view.label) *
		(view.to - view.from);
}

// 1, 2 or 5 times a power of ten, so that ticks have room.
function tickStep(width) {
	const least = (view.to - view.from) * 124 /
		Math.max(124, width - view.label);
	const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
	return [1, 2, 5, 10].map((m) => m * power)
		.find((step) => step >= least);
}

function digitsOf(step) {
	return Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(step))));
}

// ---- colours ----

function isDark() {
	return document.documentElement.dataset.theme === "dark";
}

function colour(name) {
	return getComputedStyle(document.documentElement)
		.getPropertyValue(`--${name}`).trim();
}

// ---- drawing ----

function axisDraw({ context, width, height }, paint) {
	const step = tickStep(width), digits = digitsOf(step);
	context.fillStyle = paint.panel;
	context.fillRect(0, 0, width, AXIS);
	context.font = "11px system-ui, sans-serif";
	context.textBaseline = "middle";
	context.textAlign = "left";
	for (let t = Math.ceil(view.from / step) * step; n && t <= view.to;
	     t += step) {
		const x = Math.round(xOf(t, width)) + 0.5;
		context.fillStyle = paint.line;
		context.fillRect(x, AXIS - 5, 1, height);
		context.fillStyle = paint.faint;
		context.fillText(clockShow(t, digits), x + 3, AXIS / 2 - 1);
	}
	context.fillStyle = paint.line;
	context.fillRect(0, AXIS - 1, width, 1);
}

// The first of the rows, in the order of time, that isn't before the view.
function firstSeen(rows) {
	let low = 0, high = rows.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (events.time[rows[middle]] < view.from)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// The first of the rows from `low` on that is later.
function firstAfter(rows, low, time) {
	let step = 1, high = low;
	while (high < rows.length && events.time[rows[high]] <= time) {
		low = high + 1;
		high += step;
		step *= 2;
	}
	high = Math.min(high, rows.length);
	while (low < high) {
		const middle = (low + high) >> 1;
		if (events.time[rows[middle]] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const widths = new Map();	// of texts, in the font of labels

function widthOf(context, text) {
	if (!widths.has(text))
		widths.set(text, context.measureText(text).width);
	return widths.get(text);
}

function barDraw(context, paint, i, x, end, y) {
	const width = Math.max(1, end - x);
	context.fillStyle = paint.of(events.point[i]);
	context.fillRect(x, y, width, LANE - 2);
	if (width < 16)
		return;
	const text = nameFit(nameOf(events.point[i]), width - 8,
		(form) => widthOf(context, form));
	context.fillStyle = paint.dark ? "#0b0c0e" : "#16181b";
	context.fillText(text, x + 4, y + LANE / 2 - 0.5);
}

// What would lie on one that was drawn already is left out.
function barsDraw({ context, width }, paint, { bars, apart }, y) {
	for (let k = firstSeen(bars); k < bars.length; k++) {
		const i = bars[k], from = barFrom(i);
		if (from > view.to && apart)
			break;
		if (from > view.to)
			continue;
		const x = Math.max(xOf(from, width), view.label);
		const end = Math.min(xOf(events.time[i], width), width);
		barDraw(context, paint, i, x, end, y);
		if (end - x < 1)
			k = firstAfter(bars, k + 1,
				timeAt(Math.max(end, x + 1), width)) - 1;
	}
}

// Above what was left out and what wasn't.
function chosenDraw({ context, width }, paint, { bars }, y) {
	const i = barOf(chosen);
	if (bars[firstAfter(bars, 0, events.time[i]) - 1] !== i ||
	    barFrom(i) > view.to || events.time[i] < view.from)
		return;
	const x = Math.max(xOf(barFrom(i), width), view.label);
	const end = Math.min(xOf(events.time[i], width), width);
	barDraw(context, paint, i, x, end, y);
	context.strokeStyle = paint.text;
	context.lineWidth = 2;
	context.strokeRect(x, y, Math.max(2, end - x), LANE - 2);
}

function markDraw(context, paint, i, x, y) {
	const role = events.role[i], middle = y + LANE / 2 - 1;
	context.fillStyle = i === chosen ? paint.text :
		paint.of(events.point[i]);
	if (role !== ROLE_PRE && role !== ROLE_ALONE) {
		context.fillRect(x - 1, y, i === chosen ? 4 : 2, LANE - 2);
		return;
	}
	const to = role === ROLE_PRE ? 7 : -7;
	context.beginPath();
	context.moveTo(x, y);
	context.lineTo(x + to, middle);
	context.lineTo(x, y + LANE - 2);
	context.fill();
}

function marksDraw({ context, width }, paint, marks, y) {
	for (let k = firstSeen(marks); k < marks.length; k++) {
		const i = marks[k];
		if (events.time[i] > view.to)
			break;
		const x = xOf(events.time[i], width);
		markDraw(context, paint, i, x, y);
		k = Math.max(k, firstAfter(marks, k + 1,
			timeAt(x + 0.7, width)) - 1);
	}
}

function labelDraw({ context, width }, paint, track, y) {
	const height = track.lanes.length * LANE + GAP;
	context.fillStyle = paint.panel;
	context.fillRect(0, y - GAP / 2, view.label, height);
	context.fillStyle = paint.line;
	context.fillRect(0, y - GAP / 2 + height - 1, width, 1);
	context.save();
	context.beginPath();
	context.rect(0, y - GAP / 2, view.label - 6, height);
	context.clip();
	context.fillStyle = paint.text;
	context.fillText(track.name, 10, y + LANE / 2 - 1);
	context.restore();
}

function paintMake() {
	const dark = isDark(), colours = new Map();
	return {
		dark, panel: colour("panel"), line: colour("line"),
		faint: colour("faint"), text: colour("text"),
		accent: colour("accent"),
		of(point) {
			if (!colours.has(point))
				colours.set(point, colourOf(point, dark));
			return colours.get(point);
		},
	};
}

function tracksDraw() {
	const size = canvasSize(canvas), paint = paintMake();
	const scroll = tracksBox.scrollTop, { context, width, height } = size;
	axisDraw(size, paint);
	context.save();
	context.beginPath();
	context.rect(0, AXIS, width, height - AXIS);
	context.clip();
	context.textBaseline = "middle";
	for (const track of tracks) {
		const y = track.top - scroll + GAP / 2;
		if (y > height || y + track.lanes.length * LANE + GAP < AXIS)
			continue;
		track.lanes.forEach((lane, depth) => {
			barsDraw(size, paint, lane, y + depth * LANE);
			marksDraw(size, paint, lane.marks, y + depth * LANE);
			if (chosen >= 0)
				chosenDraw(size, paint, lane,
					y + depth * LANE);
		});
		labelDraw(size, paint, track, y);
	}
	context.restore();
	if (!tracks.length) {
		context.fillStyle = paint.faint;
		context.fillText(n ? "No event passes all filters." :
			"No events.", view.label + 10, AXIS + 20);
	}
	canvas.dataset.from = view.from;
	canvas.dataset.to = view.to;
	canvas.dataset.label = view.label;
}

// ---- the strip above: all events of the trace, those of this page darker ----

function overviewEnd() {
	return Math.max(meta.latest, whole.to, 1);
}

function overviewDraw() {
	const size = canvasSize(byId("overview")), paint = paintMake();
	const { context, width, height } = size;
	const { counts, width: step } = meta.density;
	const scale = (width - view.label) / overviewEnd();
	const most = Math.max(1, ...counts);
	counts.forEach((count, k) => {
		const x = view.label + k * step * scale;
		const bar = count && Math.max(2,
			Math.sqrt(count / most) * (height - 4));
		context.fillStyle = (k + 1) * step < whole.from ?
			paint.faint : paint.accent;
		context.fillRect(x, height - bar,
			Math.max(1, step * scale), bar);
	});
	const from = view.label + Math.max(0, view.from) * scale;
	const to = view.label + Math.max(0, view.to) * scale;
	context.fillStyle = paint.dark ? "rgb(0 0 0 / 55%)" :
		"rgb(255 255 255 / 65%)";
	context.fillRect(view.label, 0, from - view.label, height);
	context.fillRect(to, 0, width - to, height);
	context.strokeStyle = paint.text;
	context.strokeRect(from + 0.5, 0.5, Math.max(2, to - from - 1),
		height - 1);
	context.fillStyle = paint.faint;
	context.font = "11px system-ui, sans-serif";
	context.fillText("all events", 10, height / 2 + 4);
}

function timelineDraw() {
	cancelAnimationFrame(frame);
	frame = requestAnimationFrame(timelineDrawNow);
}

function timelineDrawNow() {
	view.label = canvas.clientWidth < 600 ? 96 : 190;
	tracksDraw();
	overviewDraw();
	byId("span").textContent = n ?
		`${spanShow(view.to - view.from)} from ` +
		clockShow(Math.max(view.from, 0)) : "";
}

// ---- moving ----

function viewSet(from, to) {
	const span = Math.min(Math.max(to - from, 20),
		(whole.to - whole.from) * 1.1 + 20);
	const middle = (from + to) / 2;
	const edge = (whole.to - whole.from) * 0.05 + 10;
	const most = whole.to + edge - span, least = whole.from - edge;
	view.from = Math.min(Math.max(middle - span / 2, least),
		Math.max(most, least));
	view.to = view.from + span;
	tipHide();
	timelineDraw();
}

function viewZoom(factor, at = (view.from + view.to) / 2) {
	viewSet(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

function viewMove(part) {
	const span = view.to - view.from;
	viewSet(view.from + part * span, view.to + part * span);
}

function viewFit() {
	const edge = (whole.to - whole.from) * 0.02 + 10;
	viewSet(whole.from - edge, whole.to + edge);
}

// So that an event, and all of its call, is seen.
function viewShow(i) {
	const call = Math.max(events.partner[i], i);
	const from = isBar(call) ? barFrom(call) : events.time[i];
	const to = events.time[call], span = view.to - view.from;
	if (from < view.from || to > view.to)
		viewSet((from + to) / 2 - Math.max(span / 2, to - from),
			(from + to) / 2 + Math.max(span / 2, to - from));
	const track = tracks.find((t) => t.rows.includes(i));
	if (!track)
		return;
	const height = tracksBox.clientHeight, top = track.top;
	if (top < tracksBox.scrollTop + AXIS ||
	    top + LANE > tracksBox.scrollTop + height)
		tracksBox.scrollTop = top - height / 2;
}

// ---- choosing ----

function choose(i, show = true) {
	chosen = i;
	for (const listener of chooseListeners)
		listener(i);
	if (i >= 0 && show)
		viewShow(i);
	timelineDraw();
}

// The event at a place of the canvas, or -1.
function eventAt(x, y) {
	const width = canvas.clientWidth, tops = y + tracksBox.scrollTop;
	const track = tracks.find((t) => tops >= t.top && tops < t.top +
		t.lanes.length * LANE + GAP);
	if (!track || x < view.label || y < AXIS)
		return -1;
	const lane = track.lanes[Math.floor((tops - track.top - GAP / 2) /
		LANE)];
	if (!lane)
		return -1;
	const near = 4 * (view.to - view.from) / (width - view.label);
	const time = timeAt(x, width);
	const mark = nearest(lane.marks, time, near);
	return mark >= 0 ? mark : barAt(lane, time, near);
}

function nearest(rows, time, near) {
	let best = -1;
	for (let k = firstAfter(rows, 0, time - near - 1); k < rows.length; k++) {
		const distance = Math.abs(events.time[rows[k]] - time);
		if (distance <= near && (best < 0 || distance <
		    Math.abs(events.time[best] - time)))
			best = rows[k];
		if (events.time[rows[k]] > time + near)
			break;
	}
	return best;
}

function barAt({ bars, apart }, time, near) {
	let best = -1, least = near;
	for (let k = firstAfter(bars, 0, time - near - 1); k < bars.length;
	     k++) {
		const from = barFrom(bars[k]), to = events.time[bars[k]];
		const distance = Math.max(from - time, time - to, 0);
		if (distance < least || (best < 0 && distance <= least)) {
			best = bars[k];
			least = distance;
		}
		if (from > (apart ? time + near : view.to))
			break;
	}
	return best;
}

// ---- the tip ----

function tipText(i) {
	const bar = barOf(i), head = headOf(i);
	const lines = [`${clockShow(events.time[head])}  CPU ` +
		`${events.cpu[head]}  ${commOf(i)} ` +
		`${events.pid[i]}/${events.tid[i]}`];
	if (isBar(bar))
		lines.push(`took ${spanShow(latencyOf(i))}` +
			(isNaN(selfOf(i)) ? "" :
			`, of that itself ${spanShow(selfOf(i))}`));
	for (const row of new Set([head, bar])) {
		if (events.flags[row])
			lines.push(flagsOf(row).join(", "));
		if (textOf(row))
			lines.push((isBar(row) ? "→ " : "") +
				textOf(row).slice(0, 500));
	}
	return lines.join("\n");
}

function tipShow(i, x, y) {
	const tip = byId("tip");
	tip.replaceChildren(make("b", {}, titleOf(i)), tipText(i));
	tip.hidden = false;
	const { width, height } = tip.getBoundingClientRect();
	tip.style.left = `${Math.max(4, Math.min(x + 14,
		innerWidth - width - 8))}px`;
	tip.style.top = `${y + 18 + height > innerHeight ?
		Math.max(4, y - height - 10) : y + 18}px`;
}

function tipHide() {
	byId("tip").hidden = true;
}

// ---- the pointer ----

const pointers = new Map();
let drag = null;

function place(event, of = canvas) {
	const { left, top } = of.getBoundingClientRect();
	return { x: event.clientX - left, y: event.clientY - top };
}

function pointerDown(event) {
	const at = place(event);
	pointers.set(event.pointerId, at);
	canvas.setPointerCapture(event.pointerId);
	drag = {
		at, from: view.from, to: view.to, scroll: tracksBox.scrollTop,
		moved: false, range: event.shiftKey, touch: pointers.size > 1 ?
			[...pointers.values()].map(({ x }) => x) : null,
	};
	tracksBox.focus({ preventScroll: true });
}

function pinch() {
	const [a, b] = [...pointers.values()].map(({ x }) => x);
	const [p, q] = drag.touch, width = canvas.clientWidth - view.label;
	const span = drag.to - drag.from, scale = (q - p) / (b - a || 1);
	const at = drag.from + (p - view.label) / width * span;
	const from = at - (a - view.label) / width * span * Math.abs(scale);
	viewSet(from, from + span * Math.abs(scale));
}

function pointerMove(event) {
	const at = place(event);
	if (!drag)
		return hover(at, event);
	pointers.set(event.pointerId, at);
	if (Math.abs(at.x - drag.at.x) + Math.abs(at.y - drag.at.y) > 4)
		drag.moved = true;
	if (!drag.moved)
		return;
	if (pointers.size === 2 && drag.touch)
		return pinch();
	if (drag.range)
		return rangeShow(at);
	canvas.classList.add("moving");
	const by = (drag.at.x - at.x) / (canvas.clientWidth - view.label) *
		(drag.to - drag.from);
	viewSet(drag.from + by, drag.to + by);
	if (event.pointerType === "mouse")
		tracksBox.scrollTop = drag.scroll + drag.at.y - at.y;
}

function rangeShow(at) {
	tracksDraw();
	const context = canvas.getContext("2d");
	context.fillStyle = "rgb(80 140 255 / 25%)";
	context.fillRect(drag.at.x, AXIS, at.x - drag.at.x,
		canvas.clientHeight);
}

function pointerUp(event) {
	const at = place(event), was = drag;
	pointers.delete(event.pointerId);
	drag = null;
	canvas.classList.remove("moving");
	if (!was)
		return;
	if (!was.moved)
		return choose(eventAt(at.x, at.y), false);
	if (was.range) {
		const ends = [was.at.x, at.x].map((x) =>
			timeAt(Math.max(x, view.label), canvas.clientWidth));
		viewSet(Math.min(...ends), Math.max(...ends));
	}
}

function hover(at, event) {
	const i = eventAt(at.x, at.y);
	canvas.style.cursor = i >= 0 ? "pointer" : "";
	if (i < 0)
		return tipHide();
	tipShow(i, event.clientX, event.clientY);
}

function wheel(event) {
	const at = place(event), width = canvas.clientWidth;
	event.preventDefault();
	if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
		return viewMove((event.deltaX || event.deltaY) / 1000);
	const by = event.deltaMode ? event.deltaY * 30 : event.deltaY;
	viewZoom(Math.exp(Math.max(-1, Math.min(1, by / 400))),
		timeAt(Math.max(at.x, view.label), width));
}

function zoomToCall(event) {
	const at = place(event), i = eventAt(at.x, at.y);
	if (i < 0)
		return viewZoom(0.4, timeAt(Math.max(at.x, view.label),
			canvas.clientWidth));
	if (!isBar(i))
		return viewZoom(0.2, events.time[i]);
	const edge = events.latency[i] * 0.1 + 5;
	viewSet(barFrom(i) - edge, events.time[i] + edge);
}

function overviewDrag(event) {
	if (!(event.buttons & 1))
		return;
	const strip = byId("overview"), width = strip.clientWidth;
	const time = (place(event, strip).x - view.label) /
		(width - view.label) * overviewEnd();
	if (event.type === "pointerdown") {
		strip.setPointerCapture(event.pointerId);
		strip.begin = time;
		const span = view.to - view.from;
		viewSet(time - span / 2, time + span / 2);
	} else if (Math.abs(time - strip.begin) > overviewEnd() / width * 4) {
		viewSet(Math.min(time, strip.begin),
			Math.max(time, strip.begin));
	}
}

// ---- keys ----

// What the table has before or after the chosen one.
function step(by) {
	if (!order.length)
		return;
	let at = order.indexOf(itemOf(chosen));
	if (at < 0)
		at = by > 0 ? -1 : order.length;
	choose(order[Math.min(Math.max(at + by, 0), order.length - 1)]);
}

const TIMELINE_KEYS = {
	ArrowLeft: () => viewMove(-0.15), ArrowRight: () => viewMove(0.15),
	ArrowUp: () => { tracksBox.scrollTop -= 2 * LANE; },
	ArrowDown: () => { tracksBox.scrollTop += 2 * LANE; },
	"+": () => viewZoom(0.6), "=": () => viewZoom(0.6),
	"-": () => viewZoom(1 / 0.6), 0: viewFit, Home: viewFit,
	n: () => step(1), p: () => step(-1),
	Enter: () => { if (chosen < 0) step(1); else choose(chosen); },
};

function timelineKey(event) {
	const act = TIMELINE_KEYS[event.key];
	if (!act || event.ctrlKey || event.metaKey || event.altKey)
		return;
	event.preventDefault();
	act();
}

function wholeFind() {
	if (!n)
		return;
	whole.from = whole.to = events.time[0];
	for (let i = 0; i < n; i++) {
		whole.from = Math.min(whole.from, events.time[i]);
		whole.to = Math.max(whole.to, events.time[i]);
	}
}

function timelineOpen() {
	wholeFind();
	viewFit();
	canvas.addEventListener("pointerdown", pointerDown);
	canvas.addEventListener("pointermove", pointerMove);
	canvas.addEventListener("pointerup", pointerUp);
	canvas.addEventListener("pointercancel", pointerUp);
	canvas.addEventListener("pointerleave", tipHide);
	canvas.addEventListener("dblclick", zoomToCall);
	canvas.addEventListener("wheel", wheel, { passive: false });
	tracksBox.addEventListener("scroll", timelineDraw);
	for (const box of [tracksBox, byId("overview")])
		box.addEventListener("keydown", timelineKey);
	for (const type of ["pointerdown", "pointermove"])
		byId("overview").addEventListener(type, overviewDrag);
	byId("group").addEventListener("change", tracksMake);
	byId("zoom-in").addEventListener("click", () => viewZoom(0.5));
	byId("zoom-out").addEventListener("click", () => viewZoom(2));
	byId("zoom-fit").addEventListener("click", viewFit);
	new ResizeObserver(timelineDraw).observe(tracksBox);
	filter.listeners.push(tracksMake);
}
