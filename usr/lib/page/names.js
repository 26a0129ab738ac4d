// SPDX-License-Identifier: GPL-2.0
"use strict";

// Names of functions, above all those of C++, in forms that need less and less
// room: none of them is cut off in the middle.

const NAME_OPERATOR = /\boperator\s*(<=>|<<=|>>=|->\*?|<<|>>|<=|>=|<|>|\(\))/y;

const NAME_PARAMETERS = /(?<!operator)\([^()]*\)( const)?$/;

// f(name, at, depth) for each character; depth: of brackets around it, or those
// that it is of.
function nameWalk(name, f) {
	let depth = 0;
	for (let at = 0; at < name.length; at++) {
		NAME_OPERATOR.lastIndex = at;
		const [operator] = NAME_OPERATOR.exec(name) ?? [""];
		for (let k = 0; k < operator.length; k++)
			f(name, at + k, depth);
		if (operator) {
			at += operator.length - 1;
			continue;
		}
		const c = name[at];
		if (c === "<" || c === "(")
			depth++;
		f(name, at, depth);
		if (depth && (c === ")" || (c === ">" && name[at - 1] !== "-")))
			depth--;
	}
	return depth;
}

// "a<b, c>::d(int)" as "a<…>::d(…)"; what has up to `most` characters stays.
function nameFold(name, most) {
	let folded = "", inside = null;
	const close = () => {
		const kept = inside.length - 2 <= most ||
			inside === "(anonymous namespace)";
		folded += kept ? inside : `${inside[0]}…${inside.at(-1)}`;
		inside = null;
	};
	nameWalk(name, (_, at, depth) => {
		if (inside === null && !depth) {
			folded += name[at];
			return;
		}
		inside = (inside ?? "") + name[at];
		if (depth === 1 && inside.length > 1 &&
		    ">)".includes(name[at]))
			close();
	});
	return inside === null ? folded :
		`${folded}${inside[0]}…${inside[0] === "<" ? ">" : ")"}`;
}

// "a::b<…>::d(…) const" as "d", or with more of what it is in as "b<…>::d"
function nameTail(folded, parts) {
	const bare = folded.replace(NAME_PARAMETERS, ""), begins = [0];
	nameWalk(bare, (_, at, depth) => {
		if (!depth && bare.startsWith("::", at) && at + 2 < bare.length)
			begins.unshift(at + 2);
	});
	return bare.slice(begins[Math.min(parts, begins.length) - 1]);
}

const NAME_CUT = 1000;		// characters: a longer name may be without its end

// Without the type of the result, which those of templates begin with, and what
// the compiler made of a function.
function nameBare(name) {
	let begin = 0, parameters = name.length > NAME_CUT;
	nameWalk(name, (_, at, depth) => {
		parameters ||= depth > 0 && name[at] === "(" && at > 0;
		if (!depth && name[at] === " " &&
		    !/\boperator\W*$/.test(name.slice(Math.max(0, at - 12), at)) &&
		    /[\w:>*&\]]/.test(name[at - 1] ?? "") &&
		    /[\w(~<]/.test(name[at + 1] ?? "") &&
		    !/^(const|volatile|\[clone)\b/.test(name.slice(at + 1)))
			begin = at + 1;
	});
	return name.slice(parameters ? begin : 0)
		.replace(/ \[clone [^\]]*\]/g, "");
}

const nameForms = (() => {
	const known = new Map();
	return (name) => {
		if (known.has(name))
			return known.get(name);
		const tidy = nameBare(name).replace(/std::(__cxx11::)?basic_string<char(,\s*std::char_traits<char>(,\s*std::allocator<char>)?)?\s*>/g,
			"std::string").replace(/(?<!operator) (?=>)/g, "");
		const folded = nameFold(tidy, 0);
		const forms = [tidy, nameFold(tidy, 16), folded,
			folded.replace(NAME_PARAMETERS, ""),
			nameTail(folded, 2), nameTail(folded, 1),
			nameTail(folded, 1).replace(/<…>?/g, "")]
			.map((form) => form.trim()).filter((form) => form);
		const unique = forms.filter((form, k) => k === 0 ||
			form.length < Math.min(...forms.slice(0, k)
				.map((f) => f.length)));
		known.set(name, unique);
		return unique;
	};
})();

// The longest form of up to `most` characters, or the shortest one.
function nameShort(name, most) {
	const forms = nameForms(name);
	return forms.find((form) => form.length <= most) ?? forms.at(-1) ?? name;
}

// The longest form that fits; "": none does.
function nameFit(name, width, widthOf) {
	return nameForms(name).find((form) => widthOf(form) <= width) ?? "";
}

// A number and its unit stay on one line.
const NO_BREAK = "\u00a0";
