import { PassThrough } from 'node:stream';

import {
	EventReader,
	readEvents,
	isEventStream,
	streamHeaders,
	bodyText,
} from '../../../../nodes/XpertAi/transport/eventStream';
import type { Body, ServerEvent } from '../../../../nodes/XpertAi/transport/eventStream';

const read = (text: string) => new EventReader().push(Buffer.from(text));

describe('a stream of server-sent events', () => {
	it('is read with its ids and names; heartbeats are none', () => {
		expect(
			read('\n: keep-alive\n\nid: 1-0\ndata: a\n\nevent: complete\nid: 1-1\ndata:b\n\n'),
		).toEqual([
			{ id: '1-0', data: 'a' },
			{ id: '1-1', name: 'complete', data: 'b' },
		]);
	});

	it('may have lines that end as on other systems, and data of several lines', () => {
		expect(read('data: a\r\ndata:  b\r\n\r\n')).toEqual([{ data: 'a\n b' }]);
	});

	it.each(['\n', '\r\n'])('may be cut anywhere, also inside of a letter: %j', (end) => {
		const bytes = Buffer.from(['id: 1-0', 'data: ⟦1⟧ für 🦓', '', ''].join(end));
		for (let at = 0; at <= bytes.length; at++) {
			const reader = new EventReader();
			const events = [bytes.subarray(0, at), bytes.subarray(at)].map((piece) => reader.push(piece));
			expect(events.flat()).toEqual([{ id: '1-0', data: '⟦1⟧ für 🦓' }]);
		}
	});

	it('has no event that says nothing', () => {
		expect(read('data:\n\nid: 1-0\nevent: ping\ndata: \ndata\n\ndata: b\n\n')).toEqual([
			{ data: 'b' },
		]);
	});

	it('has fields that it does not know, and lines without a value', () => {
		expect(read('retry: 5\n: data: a\nid\ndata\ndata: b\n\n')).toEqual([{ id: '', data: '\nb' }]);
	});

	it('begins each event anew: what was said of one is not of the next', () => {
		expect(read('id: 1-0\nevent: complete\n\ndata: b\n\n')).toEqual([{ data: 'b' }]);
	});

	it('has no event that has not ended', () => {
		expect(read('data: a\n')).toEqual([]);
		expect(read('data: a')).toEqual([]);
	});

	it.each([
		['one line', 'a'.repeat(1024 * 1024)],
		['many lines', `data: ${'a'.repeat(1024 * 1024)}\n`],
	])('is none with more than ten megabytes in one event: %s', (_, piece) => {
		const reader = new EventReader();
		const events = Array.from({ length: 12 }, () => reader.push(Buffer.from(piece)));
		expect(events.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => []));
		expect(events.at(-1)).toEqual({ flaw: 'it has an event without an end' });
	});

	it('counts each end of a line as one more', () => {
		const reader = new EventReader();
		const almost = `data: ${'a'.repeat(10 * 1024 * 1024 - 3)}\n`;
		expect(reader.push(Buffer.from(`${almost}data:\ndata:\n`))).toEqual([]);
		expect(reader.push(Buffer.from('data:\n'))).toEqual({ flaw: 'it has an event without an end' });
	});

	it('may have more than ten megabytes in several events', () => {
		const reader = new EventReader();
		const piece = Buffer.from(`data: ${'a'.repeat(4 * 1024 * 1024)}\n\n`);
		for (let sent = 0; sent < 4; sent++) expect(reader.push(piece)).toHaveLength(1);
	});
});

describe('what is asked for', () => {
	it('is a stream, from behind the event that was heard last', () => {
		const hear = () => undefined;
		expect(streamHeaders({ onEvent: hear })).toEqual({ Accept: 'text/event-stream' });
		expect(streamHeaders({ onEvent: hear, lastEventId: '1-0' })).toHaveProperty(
			'Last-Event-ID',
			'1-0',
		);
	});

	it.each([
		[200, 'text/event-stream', true],
		[201, 'Text/Event-Stream; charset=utf-8', true],
		[299, 'text/event-stream', true],
		[199, 'text/event-stream', false],
		[300, 'text/event-stream', false],
		[200, 'text/event-streams', false],
		[200, 'x-text/event-stream', false],
		[200, undefined, false],
	])('has come with %i and %s: %s', (statusCode, type, isStream) => {
		const headers = type === undefined ? {} : { 'content-type': type };
		expect(isEventStream({ statusCode, headers, body: '' })).toBe(isStream);
	});
});

/** A body that goes on until it is ended, and what is heard of it. */
function open() {
	const body = new PassThrough();
	const heard: ServerEvent[] = [];
	const hear = (event: ServerEvent) => void heard.push(event);
	const stop = new AbortController();
	return { body, heard, hear, stop, hearing: readEvents(body, { onEvent: hear }, stop.signal) };
}

const moment = () => new Promise((resolve) => setImmediate(resolve));

describe('a body that comes in pieces', () => {
	it('is heard as it comes, to its end', async () => {
		const { body, heard, hearing } = open();
		body.write('data: a\n\nda');
		await moment();
		expect(heard).toEqual([{ data: 'a' }]);
		body.end('ta: b\n\n');
		expect(await hearing).toBeUndefined();
		expect(heard).toEqual([{ data: 'a' }, { data: 'b' }]);
	});

	it('is heard no further behind a no of the server', async () => {
		const { body, heard, hearing } = open();
		body.write('data: a\n\nevent: error\ndata: no such thing\n\ndata: b\n\n');
		expect(await hearing).toEqual({ kind: 'unsuccessful', reason: 'no such thing' });
		expect(heard).toEqual([{ data: 'a' }]);
		expect(body.destroyed).toBe(true);
	});

	it('is none with an event that has no end', async () => {
		const { body, hearing } = open();
		body.end('a'.repeat(11 * 1024 * 1024));
		expect(await hearing).toEqual({ kind: 'unreadable', reason: 'it has an event without an end' });
	});

	it('ends at once when it is over, also while nothing comes', async () => {
		const { body, hearing, stop } = open();
		await moment();
		stop.abort();
		await expect(hearing).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
		expect(body.destroyed).toBe(true);
	});

	it('is not begun when it is over already', async () => {
		const body = new PassThrough();
		body.write('data: a\n\n');
		const hear = jest.fn();
		await readEvents(body, { onEvent: hear }, AbortSignal.abort()).catch(() => undefined);
		expect(hear).not.toHaveBeenCalled();
		expect(body.destroyed).toBe(true);
	});

	it('leaves nothing behind with what may end many', async () => {
		const over = new AbortController();
		const remove = jest.spyOn(over.signal, 'removeEventListener');
		const body: Body = new PassThrough().end();
		await readEvents(body, { onEvent: () => undefined }, over.signal);
		expect(remove).toHaveBeenCalledTimes(1);
	});

	it('is read as text where it is no stream, up to a quarter of a megabyte and a piece', async () => {
		expect(await bodyText(new PassThrough().end('die Größe'), undefined)).toBe('die Größe');
		const endless = new PassThrough();
		const piece = 'a'.repeat(128 * 1024);
		for (let sent = 0; sent < 4; sent++) endless.write(piece);
		const text = await bodyText(endless, undefined);
		expect(text).toHaveLength(3 * piece.length);
		expect(endless.destroyed).toBe(true);
	});
});
