// SPDX-License-Identifier: GPL-2.0
"use strict";

// Expressions over the fields of an event, as --field has them. A compiled one
// is a function of the event's row; undefined is what the event doesn't have.

const LEVELS = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="],
	["<", "<=", ">", ">=", "~", "!~"], ["<<", ">>"], ["+", "-"],
	["*", "/", "%"]];
const UNITS = { K: 2n ** 10n, M: 2n ** 20n, G: 2n ** 30n, ns: 1n, us: 1000n,
	ms: 1000000n, s: 1000000000n };
const NUMBER = /^(0[xX][0-9a-fA-F]+|0[bBoO]\d+|\d+(?:\.\d+)?)([a-zA-Z]*)$/;
const TOKEN = new RegExp([
	/\s+/, /\d+\.\d+\w*|\d\w*/, /"(?:[^"\\]|\\.)*"/,
	/'(?:[^'\\]|\\.)*'/, /[A-Za-z_]\w*/,
	/->|\|\||&&|==|!=|<=|>=|!~|<<|>>|[-+*/%&|^~!<>()[\].]/,
].map((r) => r.source).join("|"), "y");

class ExpressionError extends Error {
	constructor(text, at) {
		super(text);
		this.at = at;
	}
}

function tokensOf(text) {
	const tokens = [];
	for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
		TOKEN.lastIndex = at;
		const match = TOKEN.exec(text);
		if (!match)
			throw new ExpressionError(
				`'${text[at]}' can't be here`, at);
		if (match[0].trim())
			tokens.push({ text: match[0], at });
	}
	tokens.push({ text: "", at: text.length });
	return tokens;
}

// ---- values ----

// A JSON value as a number: of an enumeration, flags or an address its value.
function toNumber(value) {
	if (value !== null && typeof value === "object")
		return toNumber(value.value ?? value.address);
	if (typeof value === "boolean")
		return Number(value);
	if (/^(NaN|-?Infinity)$/.test(value))
		return Number(value);
	if (typeof value === "string")
		return /^(0x[0-9a-f]+|\d+)$/i.test(value) ?
			shrink(BigInt(value)) : undefined;
	return typeof value === "number" || typeof value === "bigint" ?
		value : undefined;
}

function shrink(value) {
	return value >= Number.MIN_SAFE_INTEGER &&
		value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

function toText(value) {
	if (value !== null && typeof value === "object")
		return value.name ?? value.symbol ?? value.names?.join("|") ??
			valueShow(value);
	return String(value);
}

function isMissing(value) {
	return value === undefined || value === null;
}

function isTrue(value) {
	if (typeof value === "string")
		return value !== "";
	return !isMissing(value) && toNumber(value) != 0;
}

function isPointer(value) {
	return /^0x/.test(value);
}

// Text and a number may be equal, but have no order.
function compare(op, a, b) {
	if (isMissing(a) || isMissing(b))
		return false;
	const texts = typeof a === "string" && typeof b === "string" &&
		!(isPointer(a) && isPointer(b));
	let x = toNumber(a), y = toNumber(b);
	if (texts || x === undefined || y === undefined ||
	    (typeof b === "string" && a.name !== undefined)) {
		if (!texts && /[<>]/.test(op))
			return false;
		x = toText(a);
		y = toText(b);
	}
	switch (op) {
	case "==": return x == y;
	case "!=": return x != y;
	case "<": return x < y;
	case "<=": return x <= y;
	case ">": return x > y;
	default: return x >= y;
	}
}

function compute(op, a, b) {
	const x = toNumber(a), y = toNumber(b);
	if (x === undefined || y === undefined)
		return undefined;
	if (!Number.isInteger(Number(x)) || !Number.isInteger(Number(y)))
		return computeReal(op, Number(x), Number(y));
	const l = BigInt(x), r = BigInt(y);
	switch (op) {
	case "+": return shrink(l + r);
	case "-": return shrink(l - r);
	case "*": return shrink(l * r);
	case "/": return r ? shrink(l / r) : undefined;
	case "%": return r ? shrink(l % r) : undefined;
	case "&": return shrink(l & r);
	case "|": return shrink(l | r);
	case "^": return shrink(l ^ r);
	case "<<": return r >= 0n && r < 64n ?
		shrink(BigInt.asUintN(64, l << r)) : undefined;
	default: return r >= 0n && r < 64n ? shrink(l >> r) : undefined;
	}
}

function computeReal(op, x, y) {
	switch (op) {
	case "+": return x + y;
	case "-": return x - y;
	case "*": return x * y;
	case "/": return y ? x / y : undefined;
	case "%": return y ? x % y : undefined;
	default: return undefined;
	}
}

// ---- names ----

const BUILT_IN = {
	pid: (i) => events.pid[i], tid: (i) => events.tid[i],
	comm: (i) => commOf(i), cpu: (i) => events.cpu[i],
	major: (i) => points[events.point[i]].major,
	minor: (i) => points[events.point[i]].minor,
	time: (i) => start + BigInt(Math.round(events.time[i])),
	length: (i) => events.length[i], event: (i) => events.number[i],
	desc: (i) => points[events.point[i]].desc.trimEnd() ||
		points[events.point[i]].name,
	latency: (i) => isBar(i) ? events.latency[i] : undefined,
};

// Of "a.b[1]->c" the longest beginning that is the name or label of a field of
// the point, and the parts after it; null: there is none.
function fieldOf(point, path) {
	for (let k = path.length; k > 0; k--) {
		const text = path.slice(0, k).map((p) => p.text).join("");
		const at = [point.labels, point.fields].map((names) =>
			names ? names.indexOf(text) : -1)
			.find((place) => place >= 0);
		if (at !== undefined)
			return { at, parts: path.slice(k) };
	}
	return null;
}

function partOf(value, part) {
	if (part.index === undefined)
		return memberOf(value, part.name);
	if (typeof value === "string")
		return value.charCodeAt(part.index);
	return Array.isArray(value) ? value[part.index] : undefined;
}

function memberOf(value, name) {
	return !isMissing(value) && typeof value === "object" &&
		Object.hasOwn(value, name) ? value[name] : undefined;
}

// undefined: no point has it
function fieldAt(path) {
	const fields = points.map((point) => fieldOf(point, path));
	return fields.every((field) => !field) ? undefined : (i) => {
		const field = fields[events.point[i]];
		return field ? field.parts.reduce(partOf,
			valuesOf(i)[field.at]) : undefined;
	};
}

// ---- parsing ----

class Parser {
	constructor(text) {
		this.tokens = tokensOf(text);
		this.next = 0;
	}

	get token() {
		return this.tokens[this.next];
	}

	take(text) {
		if (this.token.text !== text)
			return false;
		this.next++;
		return true;
	}

	need(text) {
		if (!this.take(text))
			throw new ExpressionError(`'${text}' is missing`,
				this.token.at);
	}

	parse() {
		const result = this.level(0);
		if (this.token.text)
			throw new ExpressionError(
				`'${this.token.text}' can't be here`,
				this.token.at);
		return result;
	}

	level(depth) {
		if (depth === LEVELS.length)
			return this.unary();
		let left = this.level(depth + 1);
		while (LEVELS[depth].includes(this.token.text)) {
			const op = this.tokens[this.next++];
			left = this.binary(op, left, this.level(depth + 1));
		}
		return left;
	}

	binary({ text: op, at }, left, right) {
		switch (op) {
		case "||": return (i) => isTrue(left(i)) || isTrue(right(i));
		case "&&": return (i) => isTrue(left(i)) && isTrue(right(i));
		case "~":
		case "!~": return this.match(op, at, left, right);
		case "==": case "!=": case "<": case "<=": case ">": case ">=":
			return (i) => compare(op, left(i), right(i));
		default: return (i) => compute(op, left(i), right(i));
		}
	}

	match(op, at, left, right) {
		if (right.string === undefined)
			throw new ExpressionError(
				`a string must follow '${op}'`, at);
		let regex;
		try {
			regex = new RegExp(right.string, "u");
		} catch {
			throw new ExpressionError("no regular expression", at);
		}
		return (i) => {
			const value = left(i);
			return !isMissing(value) &&
				regex.test(toText(value)) === (op === "~");
		};
	}

	unary() {
		if (this.take("!")) {
			const value = this.unary();
			return (i) => !isMissing(value(i)) &&
				!isTrue(value(i));
		}
		if (this.take("-")) {
			const value = this.unary();
			return (i) => compute("-", 0, value(i));
		}
		if (this.take("~")) {
			const value = this.unary();
			return (i) => compute("^", value(i), -1);
		}
		return this.primary();
	}

	name() {
		const { text, at } = this.token;
		if (!/^[A-Za-z_]/.test(text))
			throw new ExpressionError("a name is missing", at);
		this.next++;
		return text;
	}

	primary() {
		const { text, at } = this.token;
		if (this.take("(")) {
			const value = this.level(0);
			this.need(")");
			return value;
		}
		if (/^["']/.test(text))
			return this.string();
		if (/^\d/.test(text))
			return this.number();
		if (this.take("."))
			return this.field(at);
		if (!/^[A-Za-z_]/.test(text))
			throw new ExpressionError("a value is missing", at);
		const after = this.tokens[this.next + 1].text;
		if (Object.hasOwn(BUILT_IN, text) &&
		    ![".", "->", "["].includes(after)) {
			this.next++;
			return BUILT_IN[text];
		}
		return this.field(at);
	}

	number() {
		const { text, at } = this.tokens[this.next++];
		const match = NUMBER.exec(text);
		const unit = match && (match[2] ? UNITS[match[2]] : 1n);
		let value = NaN;
		if (unit && match[1].includes("."))
			value = Number(match[1]) * Number(unit);
		else if (unit && /^(0[bB][01]+|0[oO][0-7]+|0[xX].+|\d+)$/
			.test(match[1]))
			value = shrink(BigInt(match[1].toLowerCase()) * unit);
		if (Number.isNaN(value))
			throw new ExpressionError(`'${text}' is no number`, at);
		return () => value;
	}

	string() {
		const text = this.tokens[this.next++].text.slice(1, -1)
			.replace(/\\(["'])/g, "$1");
		const value = () => text;
		value.string = text;
		return value;
	}

	// A name with its members and elements.
	path() {
		let name = this.name();
		const path = [{ text: name, name }];
		for (;;) {
			const { text } = this.token;
			if (text === "." || text === "->") {
				this.next++;
				name = this.name();
				path.push({ text: text + name, name });
			} else if (text === "[") {
				path.push(this.element());
			} else {
				return path;
			}
		}
	}

	element() {
		this.need("[");
		const { text, at } = this.token;
		if (!/^\d+$/.test(text))
			throw new ExpressionError("a number is missing", at);
		this.next++;
		this.need("]");
		return { text: `[${text}]`, index: Number(text) };
	}

	field(at) {
		const path = this.path(), value = fieldAt(path);
		if (!value)
			throw new ExpressionError("no event has a field '" +
				`${path.map((p) => p.text).join("")}'`, at);
		return value;
	}
}

// Throws an ExpressionError.
function expressionCompile(text) {
	const value = new Parser(text).parse();
	return (i) => isTrue(value(i));
}
