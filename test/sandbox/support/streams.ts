import { omit } from 'lodash';
import { eventRead } from './read';
import type { SequenceExchange } from './recordings';

/** An event of a stream that the node reads; `text` is what is no JSON. */
export interface Heard {
	id?: string;
	data?: unknown;
	text?: string;
}

/** An event that was recorded as it was read, not as it came. */
export interface ReadEvent {
	id?: string;
	/** Nothing for what keeps a stream alive, and where words were left out, as a note says. */
	data?: unknown;
	note?: string;
}

export const eventsIn = (text: string): Heard[] =>
	text
		.split('\n\n')
		.filter((block) => block.includes('data: '))
		.map((block) => {
			const [, id] = /^id: (.*)$/m.exec(block) ?? [];
			const [, data = ''] = /^data: (.*)$/m.exec(block) ?? [];
			return data.startsWith('{') ? { id, data: JSON.parse(data) as unknown } : { id, text: data };
		});

export function recordedEvents({ response }: SequenceExchange): Heard[] | undefined {
	if (!('status' in response)) return undefined;
	const { pieces, events, body } = response;
	if (typeof body === 'string' && body.includes('\ndata: ')) return eventsIn(body);
	if (pieces) return eventsIn(pieces.map(({ text }) => text).join(''));
	return events?.flatMap(({ id, data }) => (data ? [{ id, data }] : []));
}

interface Said {
	type?: string;
	event?: string;
	data?: { id?: string; text?: string };
}

/**
 * What the node reads of a stream: without the words, and the beginnings, where the recording has left them out; with
 * the words of one text in one.
 */
export function heard(all: Heard[], { response }: SequenceExchange): Heard[] {
	const [note, events] = 'status' in response ? [response.note, response.events] : [];
	const hasNoWords = note !== undefined || events?.some((one) => one.note);
	const read = all.map((one) => ({ ...one, data: one.data && eventRead(one.data) }));
	return read.filter(({ data, text }) => {
		const { type, event = '', data: said } = (data ?? {}) as Said;
		if (type === 'message' && said?.text !== undefined && hasNoWords) return false;
		return text !== undefined || (data !== undefined && !(note && event.endsWith('_start')));
	});
}

/** The same with the words of one text in one, and without ids. */
export function inOne(all: Heard[]): unknown[] {
	return all.reduce<Array<{ data?: Said }>>((before, one) => {
		const { data } = one as { data?: Said };
		const last = before.at(-1)?.data?.data;
		const isMore = last?.text !== undefined && last.id === data?.data?.id;
		if (!isMore || !data?.data) return [...before, omit(one, 'id') as { data?: Said }];
		const text = `${last.text}${data.data.text ?? ''}`;
		return [...before.slice(0, -1), { data: { ...data, data: { ...data.data, text } } }];
	}, []);
}
