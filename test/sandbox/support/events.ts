import { pick } from 'lodash';
import { isOwnEvent } from './notReproduced';
import type { Piece } from './recordings';

/** An event of a stream: `text` is what is no JSON. */
export type Event = { id?: string; name?: string; data?: unknown; text?: string };

/** The events of a stream in their order; what keeps it alive is none. */
export function eventsIn(pieces: Piece[]): Event[] {
	const whole = pieces.map(({ text }) => text).join('');
	return whole
		.split('\n\n')
		.filter((block) => block.includes('data: '))
		.map(eventIn);
}

/** An event that was recorded as it was read, not as it came. */
export interface ReadEvent {
	id?: string;
	event?: string;
	/** Nothing for what keeps a stream alive, and where words were left out, as a note says. */
	data?: EventData;
	note?: string;
}

/** The same of events that were read when they were recorded, without those the sandbox does not send. */
export const eventsOf = (events: ReadEvent[]): Event[] =>
	events.flatMap(({ id, event: name, data }) =>
		data && !isOwnEvent(data.data ?? {}) ? { id, ...(name && { name }), data: shared(data) } : [],
	);

/** What some recordings have left out beside the words: what begins, what was counted, and the end of the message. */
const LEFT_OUT = /_start$|^on_chat_event$|^on_message_end$/;

/** The events of a stream without those that were left out: words by a note among them, others by one beside them. */
export function withoutLeftOut(events: Event[], among: boolean, beside: boolean): Event[] {
	return events.filter(({ data }) => {
		const { event = '', type, data: fields } = (data ?? {}) as EventData;
		const isWord = type === 'message' && fields?.type === 'text';
		return !(isWord && (among || beside)) && !(beside && LEFT_OUT.test(event));
	});
}

interface EventData {
	type?: string;
	event?: string;
	data?: Record<string, unknown>;
}

/** The fields of a message or an agent that begins, without the row of the server's table that comes with it. */
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
	on_retriever_error: ['name', 'error'],
};

function shared(event: EventData): EventData {
	const kept = OF_BEGINNINGS[event.event ?? ''];
	return kept ? { ...event, data: pick(event.data, kept) } : event;
}

function eventIn(block: string): Event {
	const [, id] = /^id: (.*)$/m.exec(block) ?? [];
	const [, name] = /^event: (.*)$/m.exec(block) ?? [];
	const [, data = ''] = /^data: (.*)$/m.exec(block) ?? [];
	const head = name === undefined ? { id } : { id, name };
	try {
		return { ...head, data: shared(JSON.parse(data) as EventData) };
	} catch {
		return { ...head, text: data };
	}
}
