// SPDX-License-Identifier: GPL-2.0
"use strict";

// Facts about the trace as a whole, above all what isn't in it.

function lossesOf(trace) {
	const name = meta.traces.length > 1 ? `${trace.name}: ` : "";
	const lines = [
		[trace.dropped, "hit", "dropped: the buffer was busy"],
		[trace.overwritten, "record",
			"overwritten before it could be spooled"],
		[trace.late, "record", "too late for the order of time"],
		[trace.unmatched, "record", "without a matching TFF entry, " +
			"shown in hex"],
	].filter(([count]) => count).map(([count, what, why]) =>
		`${name}${countShow(count)} ${what}${count === 1 ? "" : "s"} ` +
		why);
	for (const line of trace.damage)
		lines.push(`${name}lost or damaged: ${line}`);
	if (trace.damages > trace.damage.length)
		lines.push(`${name}and ${countShow(trace.damages -
			trace.damage.length)} more places`);
	return lines;
}

function noticesOf() {
	const lines = meta.traces.flatMap(lossesOf);
	if (meta.kept < meta.given)
		lines.unshift(`Only the newest ${countShow(meta.kept)} of ` +
			`${countShow(meta.given)} events are in this page. ` +
			"The strip above the timeline and the figures are " +
			"of all, latencies and counts of these. " +
			"tracefmt --since, --until, --event, --major and " +
			"other options choose others.");
	return lines;
}

function titleMake() {
	const [trace] = meta.traces, names = meta.traces.map((t) => t.name);
	const title = trace ? names.join(", ") : "no trace";
	const hosts = [...new Set(meta.traces.map((t) =>
		`${t.host}, Linux ${t.kernel}`))];
	document.title = `${title} - rastrace`;
	byId("title").textContent = title;
	const module = tagsThere.length === 1 ?
		`module ${tagsThere[0]} · ` : "";
	byId("about").textContent = n ? module + `${hosts.join("; ")} · ` +
		`${eventsShow(meta.given)} in ` +
		`${spanShow(overviewEnd())} · ${clockDate(0)} ` +
		`${clockShow(0, 3)}` : hosts.join("; ");
}

function figuresOpen() {
	byId("figures-text").textContent = meta.figures;
	byId("notices").replaceChildren(...noticesOf().map((line) =>
		make("li", {}, line)));
	titleMake();
}
