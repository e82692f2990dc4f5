import { pick } from 'lodash';
import { isOwnEvent } from './notReproduced';
import type { Piece } from './recordings';

/** An event of a stream, without its id: `text` is what is no JSON. */
export type Event = { name?: string; data?: unknown; text?: string };

/** The events of a stream in their order; what keeps it alive is none. */
export function eventsIn(pieces: Piece[]): Event[] {
	const whole = pieces.map(({ text }) => text).join('');
	return whole
		.split('\n\n')
		.filter((block) => block.includes('data: '))
		.map(eventIn);
}

/** The ids of all events of a stream, in their order. */
export const eventIdsIn = (pieces: Piece[]): string[] =>
	[
		...pieces
			.map(({ text }) => text)
			.join('')
			.matchAll(/^id: (.*)$/gm),
	].map(([, id = '']) => id);

/** An event that was recorded as it was read, not as it came. */
export interface ReadEvent {
	event?: string;
	data: Told;
}

/** The same of events that were read when they were recorded, without those the sandbox does not send. */
export const eventsOf = (events: ReadEvent[]): Event[] =>
	events
		.filter(({ data }) => !isOwnEvent(data.data ?? {}))
		.map(({ event: name, data }) => ({ ...(name && { name }), data: shared(data) }));

interface Told {
	event?: string;
	data?: Record<string, unknown>;
}

/** What is told of a message or an agent that begins, without the row of the server's table that comes with it. */
const OF_BEGINNINGS: Record<string, string[]> = {
	on_message_start: ['id', 'role', 'content', 'status', 'conversationId', 'executionId'],
	on_agent_start: [
		'id',
		'agentKey',
		'title',
		'predecessor',
		'status',
		'threadId',
		'parentId',
		'xpertId',
	],
};

function shared(told: Told): Told {
	const kept = OF_BEGINNINGS[told.event ?? ''];
	return kept ? { ...told, data: pick(told.data, kept) } : told;
}

function eventIn(block: string): Event {
	const [, name] = /^event: (.*)$/m.exec(block) ?? [];
	const [, data = ''] = /^data: (.*)$/m.exec(block) ?? [];
	const told = name === undefined ? {} : { name };
	try {
		return { ...told, data: shared(JSON.parse(data) as Told) };
	} catch {
		return { ...told, text: data };
	}
}
