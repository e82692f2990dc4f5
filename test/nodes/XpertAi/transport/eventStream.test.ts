import { EventReader } from '../../../../nodes/XpertAi/transport/eventStream';

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
		expect(events.at(-1)).toEqual({ flaw: 'it has an event without an end' });
	});
});
