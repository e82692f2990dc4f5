import type { IN8nHttpFullResponse } from 'n8n-workflow';

import type { AnswerCheck } from './answer';

/** One event of a stream of server-sent events. */
export interface ServerEvent {
	id?: string;
	/** Most of Xpert's events have none. */
	name?: string;
	data: string;
}

/** How a stream of events is taken. */
export interface EventStream {
	/** The event that was heard last: the stream goes on after it. */
	lastEventId?: string;
	/** Takes an event when it comes. */
	onEvent: (event: ServerEvent) => void;
	/** Ends it, once nobody wants to hear more. */
	signal?: AbortSignal;
}

/** So many letters may come without an end: an answer of a tool is one event. */
const MAX_EVENT_LENGTH = 10 * 1024 * 1024;

/** What is read of an answer that is no stream. */
const MAX_BODY_BYTES = 256 * 1024;

/** The headers that ask for a stream. */
export function streamHeaders({ lastEventId }: EventStream): Record<string, string> {
	return { Accept: 'text/event-stream', ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) };
}

/** The check of an answer in the place of a stream, which can only be a refusal. */
export const notAStream: AnswerCheck = () => 'it is no stream of events';

/** Puts events together out of pieces, which may be cut anywhere. */
export class EventReader {
	private readonly decoder = new TextDecoder();
	private line = '';
	/** Whether the last piece ended in a carriage return: a line feed after it ends no further line. */
	private endsInReturn = false;
	private event: { id?: string; name?: string; data: string[]; length: number } = empty();

	/** @returns the events that have ended with this piece, or why there will be none */
	push(piece: Uint8Array): ServerEvent[] | { flaw: string } {
		const decoded = this.decoder.decode(piece, { stream: true });
		const text = this.endsInReturn ? decoded.replace(/^\n/, '') : decoded;
		if (decoded !== '') this.endsInReturn = decoded.endsWith('\r');
		const [first = '', ...others] = text.split(/\r\n|\n|\r/);
		const lines = [this.line + first, ...others];
		this.line = lines.pop() ?? '';
		const events = lines.flatMap((line) => this.take(line) ?? []);
		const isTooLong = this.line.length + this.event.length > MAX_EVENT_LENGTH;
		return isTooLong ? { flaw: 'it has an event without an end' } : events;
	}

	private take(line: string): ServerEvent | undefined {
		if (line === '') return this.close();
		const [, field, value = ''] = /^(\w+):? ?(.*)$/s.exec(line) ?? [];
		if (field === 'id') this.event.id = value;
		if (field === 'event') this.event.name = value;
		if (field === 'data') {
			this.event.data.push(value);
			this.event.length += value.length + 1;
		}
		return undefined;
	}

	private close(): ServerEvent | undefined {
		const { data, id, name } = this.event;
		this.event = empty();
		if (data.every((line) => line === '')) return undefined;
		const named = { ...(id !== undefined && { id }), ...(name !== undefined && { name }) };
		return { ...named, data: data.join('\n') };
	}
}

const empty = () => ({ data: [], length: 0 });

/** The body of an answer that comes in pieces. */
export interface Body extends AsyncIterable<Uint8Array> {
	destroy: () => void;
}

/** Whether the answer is taken as a stream: a refusal, and what others answer, comes as text. */
export function isEventStream({ statusCode, headers }: IN8nHttpFullResponse): boolean {
	const isSuccess = statusCode >= 200 && statusCode < 300;
	return isSuccess && /^text\/event-stream\b/i.test(String(headers['content-type']));
}

/** Why a stream does not go on: it cannot be read, or the server says no in it, with a status that says yes. */
export interface StreamEnd {
	kind: 'unreadable' | 'unsuccessful';
	reason: string;
}

/**
 * Hears a stream to its end.
 *
 * @param signal ends it, also while nothing comes
 * @returns nothing where it was heard to its end
 * @throws what breaks the connection
 */
export async function readEvents(
	body: Body,
	{ onEvent }: EventStream,
	signal: AbortSignal | undefined,
): Promise<StreamEnd | undefined> {
	const reader = new EventReader();
	return await readPieces(body, signal, (piece) => {
		const events = reader.push(piece);
		if ('flaw' in events) return { kind: 'unreadable', reason: events.flaw };
		for (const event of events) {
			if (event.name === 'error') return { kind: 'unsuccessful', reason: event.data };
			onEvent(event);
		}
		return undefined;
	});
}

/** The text of a body that is no stream, or its beginning. @throws what breaks the connection */
export async function bodyText(body: Body, signal: AbortSignal | undefined): Promise<string> {
	const read: Uint8Array[] = [];
	let length = 0;
	await readPieces(body, signal, (piece) => {
		read.push(piece);
		length += piece.length;
		return length > MAX_BODY_BYTES || undefined;
	});
	return Buffer.concat(read).toString();
}

/** Takes pieces until one is enough; leaving the loop closes the connection. */
async function readPieces<Result>(
	body: Body,
	signal: AbortSignal | undefined,
	take: (piece: Uint8Array) => Result | undefined,
): Promise<Result | undefined> {
	// The signal of a request does nothing once the headers are there.
	const close = () => body.destroy();
	signal?.addEventListener('abort', close, { once: true });
	if (signal?.aborted) close();
	try {
		for await (const piece of body) {
			const result = take(piece);
			if (result !== undefined) return result;
		}
		return undefined;
	} finally {
		signal?.removeEventListener('abort', close);
	}
}
