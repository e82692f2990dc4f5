import { PassThrough, Readable } from 'node:stream';

import { EventReader, isEventStream, readStream } from 'nodes/XpertAi/transport/eventStream';
import { redactor } from 'nodes/XpertAi/transport/redact';
import type { ServerEvent } from 'nodes/XpertAi/transport/eventStream';

describe('an event', () => {
	it.each<[string, string, ServerEvent[]]>([
		[
			'behind a comment, with its ID',
			'\n: keep-alive\n\nid: 1-0\ndata: a\n\n',
			[{ id: '1-0', data: 'a' }],
		],
		[
			'with its name',
			'event: complete\nid: 1\ndata:b\n\n',
			[{ id: '1', name: 'complete', data: 'b' }],
		],
		['from lines that end in CRLF', 'data: a\r\ndata:  b\r\n\r\n', [{ data: 'a\n b' }]],
		[
			'from lines that end in CR alone, but for one',
			'data: a\rdata: b\r\rdata: c\r\n\rdata: d\r',
			[{ data: 'a\nb' }, { data: 'c' }],
		],
		[
			'of several that say nothing',
			'data:\n\nid: 1-0\nevent: ping\ndata: \ndata\n\ndata: b\n\n',
			[{ data: 'b' }],
		],
		[
			'with fields that nobody knows',
			'retry: 5\n: data: a\nid\ndata\ndata: b\n\n',
			[{ id: '', data: '\nb' }],
		],
		['after one without data', 'id: 1-0\nevent: complete\n\ndata: b\n\n', [{ data: 'b' }]],
		['not before its end', 'data: a\n', []],
		['not from a line alone', 'data: a', []],
	])('is read %s', (_, text, events) => {
		expect(new EventReader().push(Buffer.from(text))).toEqual(events);
	});

	it.each([
		['LF', '\n'],
		['CR', '\r'],
		['CRLF', '\r\n'],
	])('may be cut anywhere, also inside of a letter, with lines that end in %s', (_, end) => {
		const bytes = Buffer.from(['id: 1-0', 'data: ⟦1⟧ für 🦓', 'data: b', '', ''].join(end));
		for (let at = 0; at <= bytes.length; at++) {
			const reader = new EventReader();
			const pieces = [bytes.subarray(0, at), bytes.subarray(0, 0), bytes.subarray(at)];
			const events = pieces.map((piece) => reader.push(piece));
			expect(events.flat()).toEqual([{ id: '1-0', data: '⟦1⟧ für 🦓\nb' }]);
		}
	});
});

const MEGABYTE = 1024 * 1024;

describe('the limit of an event', () => {
	/** Reads so many equal pieces; the flaw and how many pieces were read before it. */
	function read(piece: string, count: number) {
		const reader = new EventReader();
		const bytes = Buffer.from(piece);
		let pieces = 0;
		while (pieces < count && reader.issue === undefined) {
			reader.push(bytes);
			pieces += 1;
		}
		return { flaw: reader.issue, pieces };
	}

	const TOO_LONG = 'an event of its stream is larger than 10 MB';

	it.each([
		['one line without an end', 'a'.repeat(MEGABYTE), 11],
		['many lines of data', `data: ${'a'.repeat(MEGABYTE)}\n`, 10],
		['empty lines of data', 'data\n'.repeat(MEGABYTE), 3],
	])('holds for %s', (_, piece, pieces) => {
		expect(read(piece, 20)).toEqual({ flaw: TOO_LONG, pieces });
	});

	it.each([
		['heartbeats without a blank line', ': keep-alive\n'.repeat(MEGABYTE / 13)],
		['fields that nobody reads', `${'retry: 5\n'.repeat(MEGABYTE / 20)}id: 1\nevent: a\n`],
		['events that end', `data: ${'a'.repeat(4 * MEGABYTE)}\n\n`],
	])('counts no %s', (_, piece) => {
		expect(read(piece, 16)).toEqual({ flaw: undefined, pieces: 16 });
	});

	it('lets through what ended before the event that is too long', () => {
		const reader = new EventReader();
		const events = reader.push(Buffer.from(`data: a\n\ndata: ${'b'.repeat(11 * MEGABYTE)}\n\n`));
		expect([events, reader.issue]).toEqual([[{ data: 'a' }], TOO_LONG]);
	});
});

/**
 * Counts the characters that functions of texts go through or copy while `work` runs. A text that is looked at again
 * counts again. `exec` of patterns is not counted: with another one, `split` would no longer be that of V8.
 */
function charactersTouched(work: () => void): number {
	let touched = 0;
	const restores: Array<() => void> = [];
	const count = <Owner extends object>(
		owner: Owner,
		name: string,
		lengthOf: (self: Owner, first: never) => number,
	) => {
		const original = Reflect.get(owner, name) as (...args: unknown[]) => unknown;
		const put = (value: unknown) =>
			Object.defineProperty(owner, name, { value, configurable: true, writable: true });
		restores.push(() => void put(original));
		put(function (this: Owner, ...args: unknown[]) {
			touched += lengthOf(this, args[0] as never);
			return original.apply(this, args);
		});
	};
	const TEXT_FUNCTIONS = [
		'split',
		'slice',
		'substring',
		'indexOf',
		'includes',
		'replace',
		'match',
		'search',
	];
	for (const name of TEXT_FUNCTIONS) count(String.prototype, name, (text) => text.length);
	count(TextDecoder.prototype, 'decode', (_, bytes: Uint8Array) => bytes.length);
	const joined = (lines: string[]) => lines.reduce((sum, line) => sum + line.length + 1, 0);
	count(Array.prototype, 'join', joined);
	try {
		work();
	} finally {
		for (const restore of restores) restore();
	}
	return touched;
}

describe('the work of reading', () => {
	const lines = (line: string, count: number) => Array.from({ length: count }, () => line);

	it.each([
		['an event of many lines', lines('data: word\n', 20_000)],
		['16 MB of heartbeats without a blank line', lines(': keep-alive\n'.repeat(5_000), 258)],
		['a long line in small pieces', lines('a'.repeat(100), 50_000)],
		['many events', lines('id: 1\ndata: word\n\n', 5_000)],
	])('grows with the bytes alone: %s', (_, pieces) => {
		const reader = new EventReader();
		const bytes = pieces.map((piece) => Buffer.from(piece));
		const total = bytes.reduce((sum, { length }) => sum + length, 0);
		const touched = charactersTouched(() => {
			for (const piece of bytes) reader.push(piece);
			reader.push(Buffer.from('\n\n'));
		});
		expect(touched).toBeGreaterThan(total);
		expect(touched).toBeLessThan(6 * total);
	});
});

it.each([
	['is a stream by status and type', 200, 'text/event-stream', true],
	['is a stream in any case', 299, 'Text/Event-Stream; charset=utf-8', true],
	['is none with a lower status', 199, 'text/event-stream', false],
	['is none with a higher status', 300, 'text/event-stream', false],
	['is none with a longer type', 200, 'text/event-streams', false],
	['is none with more before its type', 200, 'x-text/event-stream', false],
	['is none without a type', 200, undefined, false],
])('an answer %s', (_, statusCode, type, isStream) => {
	expect(isEventStream({ statusCode, headers: { 'content-type': type }, body: '' })).toBe(isStream);
});

const redact = redactor('s3cret');

const responseOf = (body: unknown, statusCode = 200, type = 'text/event-stream') => ({
	statusCode,
	headers: { 'content-type': type },
	body: body as never,
});

/** A body that goes on until it is ended, and what is heard of it. */
function open(stop = new AbortController().signal) {
	const body = new PassThrough();
	const heard: ServerEvent[] = [];
	const onEvent = (event: ServerEvent) => void heard.push(event);
	return { body, heard, hearing: readStream(responseOf(body), { onEvent }, redact, stop) };
}

const moment = () => new Promise((resolve) => setImmediate(resolve));

describe('a body that comes in pieces', () => {
	it('is heard as it comes, to its end', async () => {
		const { body, heard, hearing } = open();
		body.write('data: a\n\nda');
		await moment();
		expect(heard).toEqual([{ data: 'a' }]);
		body.end('ta: b\n\n');
		expect(await hearing).toMatchObject({ statusCode: 200, body: '' });
		expect(heard).toEqual([{ data: 'a' }, { data: 'b' }]);
	});

	it('is heard until the server says no', async () => {
		const { body, heard, hearing } = open();
		body.write('data: a\n\n');
		await moment();
		body.write('event: error\ndata: no such thing\n\ndata: b\n\n');
		const end = { kind: 'unsuccessful', reason: 'no such thing', status: 200 };
		expect(await hearing).toEqual(end);
		expect(heard).toEqual([{ data: 'a' }]);
		expect(body.destroyed).toBe(true);
	});

	it('is heard until an event is too long', async () => {
		const { body, heard, hearing } = open();
		body.write('data: a\n\n');
		await moment();
		body.write('a'.repeat(11 * MEGABYTE));
		const reason = 'an event of its stream is larger than 10 MB';
		expect(await hearing).toEqual({ kind: 'unreadable', reason, status: 200 });
		expect(heard).toEqual([{ data: 'a' }]);
		expect(body.destroyed).toBe(true);
	});

	it('ends at once when it is over, also while nothing comes', async () => {
		const stop = new AbortController();
		const { body, hearing } = open(stop.signal);
		await moment();
		stop.abort();
		await expect(hearing).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
		expect(body.destroyed).toBe(true);
	});

	it('is not begun when it is over already', async () => {
		const { body, heard, hearing } = open(AbortSignal.abort());
		body.on('error', () => undefined).write('data: a\n\n');
		await expect(hearing).rejects.toThrow();
		expect([heard, body.destroyed]).toEqual([[], true]);
	});

	it('leaves nothing behind with what may end many', async () => {
		const { signal } = new AbortController();
		const remove = jest.spyOn(signal, 'removeEventListener');
		const { body, hearing } = open(signal);
		body.end();
		await hearing;
		expect(remove).toHaveBeenCalledTimes(1);
	});

	it.each([
		[
			'hides the token in an error',
			'{"error":"no s3cret","text":"a s3cret"}',
			'{"error":"no ***","text":"a s3cret"}',
		],
		['leaves a text of the model alone', '{"text":"a s3cret"}', '{"text":"a s3cret"}'],
		['leaves a text alone', '"s3cret"', '"s3cret"'],
		['leaves what is no JSON alone', 'no s3cret', 'no s3cret'],
		[
			'hides credentials of others',
			'{"copilot":{"credentials":{"key":"k"},"id":1}}',
			'{"copilot":{"id":1}}',
		],
		['leaves the word credentials alone', '"credentials"', '"credentials"'],
	])('%s', async (_, data, redacted) => {
		const { body, heard, hearing } = open();
		body.end(`data: ${data}\n\n`);
		await hearing;
		expect(heard).toEqual([{ data: redacted }]);
	});

	it('is read as text where it is a rejection, also in the middle of a letter', async () => {
		const bytes = Buffer.from('die Größe');
		const pieces = Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]);
		const { signal } = new AbortController();
		const stream = { onEvent: () => undefined };
		const read = await readStream(responseOf(pieces, 400, 'text/plain'), stream, redact, signal);
		expect(read).toMatchObject({ statusCode: 400, body: 'die Größe' });
		const answer = responseOf(Readable.from([]), 201, 'application/json');
		const failure = { kind: 'unreadable', reason: 'it is no stream of events', status: 201 };
		expect(await readStream(answer, stream, redact, signal)).toEqual(failure);
	});
});
