// SPDX-License-Identifier: GPL-2.0
// otlp_server.js FOLDER ANSWER...: an OTLP server, which decodes by the official
// definitions. Its port is in FOLDER/port; requests that it accepted are in
// FOLDER/received, lines of OTLP's JSON, what came at all in FOLDER/tries: time in
// ms, path, status. The answers are given in turn, the last one to all others:
// 200, 429:SECONDS, 503, hang, partial:COUNT:TEXT, 400:TEXT, bad, huge.
//
// otlp_server.js --check FILE: its lines are valid by the definitions.
// otlp_server.js --same FILE FILE: they have the same lines, in any order of members.
const assert = require('assert');
const http = require('http');
const fs = require('fs');
const root = require('@opentelemetry/otlp-transformer/build/src/generated/root.js');

const collector = root.opentelemetry.proto.collector;
const types = {
	'/v1/traces': [collector.trace.v1.ExportTraceServiceRequest,
		collector.trace.v1.ExportTraceServiceResponse, 'rejectedSpans'],
	'/v1/logs': [collector.logs.v1.ExportLogsServiceRequest,
		collector.logs.v1.ExportLogsServiceResponse, 'rejectedLogRecords'],
	'/v1/metrics': [collector.metrics.v1.ExportMetricsServiceRequest,
		collector.metrics.v1.ExportMetricsServiceResponse,
		'rejectedDataPoints'],
};

// As JSON of OTLP: ids in hexadecimal, other bytes in base64
function plain(value, key) {
	if (value instanceof Uint8Array)
		return Buffer.from(value).toString(/Id$/.test(key) ? 'hex' : 'base64');
	if (Array.isArray(value))
		return value.map((element) => plain(element));
	if (typeof value === 'number' && !isFinite(value))
		return '' + value;
	if (!value || typeof value !== 'object')
		return value;
	return Object.fromEntries(Object.entries(value).map(
		([name, member]) => [name, plain(member, name)]));
}

function decode(type, body) {
	const message = type.decode(body);
	const wrong = type.verify(message);
	if (wrong)
		throw new Error(wrong);
	return plain(type.toObject(message, { longs: String, enums: Number }));
}

// The other way round; nothing of it is unknown
function encode(type, object) {
	const back = (value, key) => {
		if (/Id$/.test(key))
			return Buffer.from(value, 'hex');
		if (key === 'bytesValue')
			return Buffer.from(value, 'base64');
		if (Array.isArray(value))
			return value.map((element) => back(element));
		if (!value || typeof value !== 'object')
			return value;
		return Object.fromEntries(Object.entries(value).map(
			([name, member]) => [name, back(member, name)]));
	};
	return type.encode(type.fromObject(back(object))).finish();
}

function lines(path) {
	const all = fs.readFileSync(path, 'utf8').split('\n');
	if (all.pop() !== '')
		throw new Error('the last line has no end');
	return all.map((line) => JSON.parse(line));
}

if (process.argv[2] === '--check') {
	for (const object of lines(process.argv[3])) {
		const type = types[object.resourceSpans ? '/v1/traces' :
			object.resourceLogs ? '/v1/logs' : '/v1/metrics'][0];
		assert.deepStrictEqual(decode(type, encode(type, object)),
			object);
	}
	process.exit(0);
}
if (process.argv[2] === '--same') {
	assert.deepStrictEqual(lines(process.argv[3]), lines(process.argv[4]));
	process.exit(0);
}

const folder = process.argv[2];
const answers = process.argv.slice(3);

// The status, 0 for none, and the body
function answer(response, type, rejected) {
	const [what, first, second] = (answers.length > 1 ? answers.shift() :
		answers[0]).split(':');

	if (what === 'hang')
		return [0];
	if (what === '429')
		response.setHeader('Retry-After', first);
	if (what === 'bad')
		return [200, Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0xff,
			0xff, 0xff, 0xff, 0xff, 0xff, 0x12])];
	if (what === 'huge')
		return [200, Buffer.alloc(1 << 20, 0x0a)];
	if (what === 'partial')
		return [200, type.encode({ partialSuccess: {
			[rejected]: +first, errorMessage: second } }).finish()];
	if (what === '400')	// a google.rpc.Status
		return [400, Buffer.concat([Buffer.from([8, 3, 0x12,
			first.length]), Buffer.from(first)])];
	return [+what, ''];
}

http.createServer((request, response) => {
	const chunks = [];
	request.on('data', (chunk) => chunks.push(chunk));
	request.on('end', () => {
		const [type, reply, rejected] = types[request.url];
		const object = decode(type, Buffer.concat(chunks));
		const [status, body] = answer(response, reply, rejected);

		if (status === 200)
			fs.appendFileSync(folder + '/received',
				JSON.stringify(object) + '\n');
		fs.appendFileSync(folder + '/tries', [Date.now(), request.url,
			status, request.headers['content-type'],
			request.headers.authorization || '-'].join(' ') + '\n');
		response.statusCode = status;
		if (status)
			response.end(body);
	});
}).listen(0, '127.0.0.1', function () {
	fs.writeFileSync(folder + '/port.new', '' + this.address().port);
	fs.renameSync(folder + '/port.new', folder + '/port');
});
