// SPDX-License-Identifier: GPL-2.0
"use strict";

// The parts together.

const TABS = ["events", "functions", "counts", "figures"];
const FRESH = { functions: functionsShow, counts: countsShow,
	events: tableDraw };
let tab = "events";

function tabShow(name) {
	tab = name;
	for (const other of TABS) {
		const is = other === name, button = byId(`tab-${other}`);
		byId(other).hidden = !is;
		button.setAttribute("aria-selected", String(is));
		button.tabIndex = is ? 0 : -1;
	}
	FRESH[name]?.();
}

function tabKey(event) {
	const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
	if (!by)
		return;
	const at = (TABS.indexOf(tab) + by + TABS.length) % TABS.length;
	tabShow(TABS[at]);
	byId(`tab-${TABS[at]}`).focus();
}

function themeSet(theme) {
	document.documentElement.dataset.theme = theme;
	byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
	timelineDraw();
	if (tab === "events")
		tableFresh();
}

function clockSet() {
	clock.kind = byId("clock").value;
	titleMake();
	tableFresh();
	tabShow(tab);
	if (chosen >= 0)
		detailsShow(chosen);
	timelineDraw();
}

function isTyping(target) {
	return target.closest("input, select, textarea, dialog");
}

function pageKey(event) {
	if (event.ctrlKey || event.metaKey || event.altKey)
		return;
	if (event.key === "Escape" && isTyping(event.target))
		return event.target.blur();
	if (isTyping(event.target))
		return;
	if (event.key === "Escape")
		choose(-1);
	else if (event.key === "?")
		byId("help").showModal();
	else if (TABS[event.key - 1])
		tabShow(TABS[event.key - 1]);
	else if (event.key === "/")
		byId("f-text").select();
	else
		return;
	event.preventDefault();
}

// Printed light, whatever it is on the screen.
function printBegin() {
	document.documentElement.dataset.screen =
		document.documentElement.dataset.theme;
	document.documentElement.dataset.theme = "light";
	timelineDrawNow();
	tablePrint();
}

function printEnd() {
	themeSet(document.documentElement.dataset.screen);
	tableFresh();
}

async function pageOpen() {
	await dataLoad((done) => progressShow("Reading", done));
	filterOpen();
	timelineOpen();
	tableOpen();
	figuresOpen();
	for (const name of TABS)
		byId(`tab-${name}`).addEventListener("click", () =>
			tabShow(name));
	byId("tabs").addEventListener("keydown", tabKey);
	byId("counts-by").addEventListener("change", countsShow);
	byId("clock").value = clock.kind;
	byId("clock").addEventListener("change", clockSet);
	byId("help-open").addEventListener("click", () =>
		byId("help").showModal());
	byId("theme").addEventListener("click", () =>
		themeSet(isDark() ? "light" : "dark"));
	document.addEventListener("keydown", pageKey);
	filter.listeners.push(() => FRESH[tab]?.());
	await filterRun();
	tabShow("events");
	addEventListener("beforeprint", printBegin);
	addEventListener("afterprint", printEnd);
	themeSet(matchMedia("(prefers-color-scheme: dark)").matches ?
		"dark" : "light");
	document.documentElement.dataset.ready = "";
}

pageOpen();
