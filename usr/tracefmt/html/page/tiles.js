// SPDX-License-Identifier: GPL-2.0
"use strict";

// The parts of tiles (tiles.h): bytes from base64, and from what zlib makes (RFC
// 1950 and 1951). DecompressionStream does the same, but later: a row that is
// scrolled to would be empty first.

const BASE64 = new Uint8Array(128);
for (const [value, digit] of [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ" +
	"abcdefghijklmnopqrstuvwxyz0123456789+/"].entries())
	BASE64[digit.charCodeAt(0)] = value;

function base64Read(text) {
	const size = text.length / 4 * 3 - (text.endsWith("==") ? 2 :
		text.endsWith("=") ? 1 : 0);
	const bytes = new Uint8Array(size);
	const of = (at) => BASE64[text.charCodeAt(at)];
	for (let at = 0, to = 0; at < text.length; at += 4, to += 3) {
		bytes[to] = of(at) << 2 | of(at + 1) >> 4;
		bytes[to + 1] = of(at + 1) << 4 | of(at + 2) >> 2;
		bytes[to + 2] = of(at + 2) << 6 | of(at + 3);
	}
	return bytes;
}

// ---- Huffman codes: by as many bits as the longest has, symbol * 16 + bits ----

function codesMake(lengths) {
	const most = Math.max(1, ...lengths), counts = new Array(17).fill(0);
	const table = new Uint16Array(1 << most), next = [0, 0];
	for (const length of lengths)
		counts[length]++;
	counts[0] = 0;
	for (let length = 1; length <= 15; length++)
		next[length + 1] = next[length] + counts[length] << 1;
	lengths.forEach((length, symbol) => {
		if (!length)
			return;
		let code = next[length]++, turned = 0;
		for (let bit = 0; bit < length; bit++, code >>= 1)
			turned = turned << 1 | code & 1;
		for (; turned < table.length; turned += 1 << length)
			table[turned] = symbol << 4 | length;
	});
	return { most, table };
}

const FIXED_CODES = [codesMake(Array.from({ length: 288 }, (_, symbol) =>
	symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8)),
codesMake(new Array(30).fill(5))];
const LENGTHS_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2,
	14, 1, 15];

// Bases and extra bits of lengths (from symbol 257) and of distances
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3,
	3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BITS = Array.from({ length: 30 }, (_, k) =>
	Math.max(0, (k >> 1) - 1));
const basesOf = (bits, first) => bits.map((_, k) =>
	bits.slice(0, k).reduce((sum, more) => sum + (1 << more), first));
const LENGTH_BASES = basesOf(LENGTH_BITS, 3).with(28, 258);
const DISTANCE_BASES = basesOf(DISTANCE_BITS, 1);

class Inflate {
	constructor(bytes, size) {
		this.bytes = bytes;
		this.at = 2;		// after zlib's header
		this.hold = this.held = 0;
		this.out = new Uint8Array(size);
		this.to = 0;
	}

	// n bits, at most 16
	bits(n) {
		for (; this.held < n; this.held += 8)
			this.hold |= this.bytes[this.at++] << this.held;
		const value = this.hold & (1 << n) - 1;
		this.hold >>>= n;
		this.held -= n;
		return value;
	}

	symbol({ most, table }) {
		for (; this.held < most; this.held += 8)
			this.hold |= this.bytes[this.at++] << this.held;
		const entry = table[this.hold & (1 << most) - 1];
		this.hold >>>= entry & 15;
		this.held -= entry & 15;
		return entry >> 4;
	}

	run() {
		for (let last = 0; !last && this.at <= this.bytes.length;) {
			last = this.bits(1);
			const kind = this.bits(2);
			if (kind === 0)
				this.stored();
			else
				this.block(...kind === 1 ? FIXED_CODES :
					this.codes());
		}
		return this.out;
	}

	stored() {
		this.at -= this.held >> 3;	// whole bytes read ahead
		this.hold = this.held = 0;
		const size = this.bytes[this.at] |
			this.bytes[this.at + 1] << 8;
		this.at += 4;
		this.out.set(this.bytes.subarray(this.at, this.at + size),
			this.to);
		this.at += size;
		this.to += size;
	}

	codes() {
		const symbols = this.bits(5) + 257;
		const distances = this.bits(5) + 1, count = this.bits(4) + 4;
		const first = new Array(19).fill(0), lengths = [];
		for (let k = 0; k < count; k++)
			first[LENGTHS_ORDER[k]] = this.bits(3);
		const table = codesMake(first);
		while (lengths.length < symbols + distances) {
			const symbol = this.symbol(table);
			const [value, times] = symbol < 16 ? [symbol, 1] :
				symbol === 16 ? [lengths.at(-1),
					3 + this.bits(2)] :
				symbol === 17 ? [0, 3 + this.bits(3)] :
					[0, 11 + this.bits(7)];
			for (let k = 0; k < times; k++)
				lengths.push(value);
		}
		return [codesMake(lengths.slice(0, symbols)),
			codesMake(lengths.slice(symbols))];
	}

	block(lengths, distances) {
		const { out } = this;
		let { to } = this;
		while (to < out.length || this.at <= this.bytes.length) {
			const symbol = this.symbol(lengths);
			if (symbol === 256)
				break;
			if (symbol < 256) {
				out[to++] = symbol;
				continue;
			}
			const length = LENGTH_BASES[symbol - 257] +
				this.bits(LENGTH_BITS[symbol - 257]);
			const code = this.symbol(distances);
			const from = to - DISTANCE_BASES[code] -
				this.bits(DISTANCE_BITS[code]);
			for (let k = 0; k < length; k++)
				out[to + k] = out[from + k];
			to += length;
		}
		this.to = to;
	}
}

// A line of a tile, of which size bytes must come.
function partRead(line, size) {
	const bytes = base64Read(line);
	return bytes.length < size ? new Inflate(bytes, size).run() : bytes;
}

// ---- numbers ----

class Numbers {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	next() {
		let byte = this.bytes[this.at++];
		if (byte < 128)
			return byte;
		let value = byte & 127;
		for (let unit = 128; byte >= 128; unit *= 128) {
			byte = this.bytes[this.at++];
			value += (byte & 127) * unit;
		}
		return value;
	}

	nextSigned() {
		const value = this.next();
		return value % 2 ? -(value + 1) / 2 : value / 2;
	}
}
