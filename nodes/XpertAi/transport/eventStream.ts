import type { IN8nHttpFullResponse } from 'n8n-workflow';

import { parseAnswer } from './answer';
import type { Failure } from './failure';
import type { Redact } from './sanitize';

/** One event of a stream of server-sent events. */
export interface ServerEvent {
	id?: string;
	/** Most of Xpert's events have none. */
	name?: string;
	data: string;
}

/** How a stream of events is read. */
export interface EventStream {
	/** The last event received: the stream continues after it. */
	lastEventId?: string;
	/** Called for each event. */
	onEvent: (event: ServerEvent) => void;
	/** Ends the stream when aborted. */
	signal?: AbortSignal;
}

/** Characters of the longest event: the answer of a tool is one event. */
const MAX_EVENT_LENGTH = 10 * 1024 * 1024;

/** The headers that ask for a stream. */
export function streamHeaders({ lastEventId }: EventStream): Record<string, string> {
	return {
		Accept: 'text/event-stream',
		...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
	};
}

/** Assembles events from pieces of any size. */
export class EventReader {
	private readonly decoder = new TextDecoder();
	private line = '';
	private endsWithCr = false;
	/** Names and values of the fields of the next event. */
	private fields: string[][] = [];
	private length = 0;

	/** @returns the events that this piece completes, or why there are no more */
	push(piece: Uint8Array): ServerEvent[] | { flaw: string } {
		const text = this.decoder.decode(piece, { stream: true });
		// The LF of a CRLF may come with the next piece.
		const isRestOfEnd = this.endsWithCr && text.startsWith('\n');
		const [first = '', ...others] = text.slice(isRestOfEnd ? 1 : 0).split(/\r\n|\n|\r/);
		if (text !== '') this.endsWithCr = text.endsWith('\r');
		const lines = [this.line + first, ...others];
		this.line = lines.pop() ?? '';
		const events = lines.flatMap((line) => this.take(line) ?? []);
		const isTooLong = this.line.length + this.length > MAX_EVENT_LENGTH;
		return isTooLong ? { flaw: 'it has an event without an end' } : events;
	}

	private take(line: string): ServerEvent | undefined {
		const [, field, value = ''] = /^(id|event|data)(?::|$) ?(.*)$/s.exec(line) ?? [];
		if (field) {
			this.fields.push([field, value]);
			this.length += value.length + 1;
		}
		if (line !== '') return undefined;
		const valuesOf = (name: string) =>
			this.fields.flatMap(([one, text = '']) => (one === name ? [text] : []));
		const [id, name, data] = [valuesOf('id').at(-1), valuesOf('event').at(-1), valuesOf('data')];
		[this.fields, this.length] = [[], 0];
		return data.some((text) => text !== '') ? { id, name, data: data.join('\n') } : undefined;
	}
}

/** The body of a streamed answer. */
interface Body extends AsyncIterable<Uint8Array> {
	destroy: () => void;
	toArray: () => Promise<Uint8Array[]>;
}

/** Whether the answer is a stream of events. Rejections, and answers of other servers, come as text. */
export const isEventStream = ({ statusCode: status, headers }: IN8nHttpFullResponse) =>
	status >= 200 && status < 300 && /^text\/event-stream\b/i.test(String(headers['content-type']));

/** Redacts the words in the data of an event, which is JSON. */
function redactData(data: string, redact: Redact): string {
	if (redact(data) === data) return data;
	const parsed = parseAnswer(data, redact);
	return typeof parsed === 'string' ? data : JSON.stringify(parsed);
}

/**
 * Reads a stream of events to its end, which leaves no answer; the body of any other response is read as text.
 *
 * @param signal ends it when aborted, also while nothing arrives
 * @returns the response, or why the stream ended early: it cannot be read, or it contains an event `error`
 * @throws what breaks the connection
 */
export async function readStream(
	response: IN8nHttpFullResponse,
	{ onEvent }: Pick<EventStream, 'onEvent'>,
	redact: Redact,
	signal: AbortSignal,
): Promise<IN8nHttpFullResponse | Pick<Failure, 'kind' | 'reason' | 'status'>> {
	const { statusCode: status } = response;
	const body = response.body as Body;
	// The signal of a request has no effect once the headers have arrived.
	const close = () => body.destroy();
	signal.addEventListener('abort', close, { once: true });
	if (signal.aborted) close();
	try {
		if (!isEventStream(response))
			return { ...response, body: Buffer.concat(await body.toArray()).toString() };
		const reader = new EventReader();
		for await (const piece of body) {
			const events = reader.push(piece);
			if ('flaw' in events) return { kind: 'unreadable', reason: events.flaw, status };
			for (const event of events) {
				if (event.name === 'error') return { kind: 'unsuccessful', reason: event.data, status };
				onEvent({ ...event, data: redactData(event.data, redact) });
			}
		}
		return { ...response, body: '' };
	} finally {
		signal.removeEventListener('abort', close);
	}
}
