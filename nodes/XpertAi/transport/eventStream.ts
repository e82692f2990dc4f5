import type { IN8nHttpFullResponse } from 'n8n-workflow';

import { parseAnswer } from './answer';
import type { Failure } from './failure';
import type { Redact } from './sanitize';

/** A server-sent event. */
export interface ServerEvent {
	id?: string;
	/** The value of the field `event`, which Xpert AI servers rarely send. */
	name?: string;
	data: string;
}

/** Options for reading an event stream. */
export interface EventStream {
	/** The ID of the last received event. The server continues the stream after this event. */
	lastEventId?: string;
	onEvent: (event: ServerEvent) => void;
	/** The stream ends when this signal is aborted. */
	signal?: AbortSignal;
}

/** Assembles events from the pieces of a stream. A piece can end within an event. */
export class EventReader {
	private readonly decoder = new TextDecoder();
	private rest = '';

	/** Returns the events that this piece completes. */
	push(piece: Uint8Array): ServerEvent[] {
		const text = this.decoder.decode(piece, { stream: true });
		this.rest += text;
		// Without a line break, no event can be complete. The early return saves time for events in many pieces.
		if (!text.includes('\n')) return [];
		const blocks = this.rest.split(/\r?\n\r?\n/);
		this.rest = blocks.pop() ?? '';
		return blocks.flatMap((block) => eventOf(block) ?? []);
	}
}

/** Parses a block of lines as an event. Returns undefined for a block without data, such as a heartbeat. */
function eventOf(block: string): ServerEvent | undefined {
	const fields = block.split(/\r?\n/).map((line) => /^(id|event|data)(?::|$) ?(.*)$/s.exec(line));
	const valuesOf = (name: string) =>
		fields.flatMap((field) => (field?.[1] === name ? [field[2] ?? ''] : []));
	const [id, name, data] = [valuesOf('id').at(-1), valuesOf('event').at(-1), valuesOf('data')];
	return data.some((text) => text !== '') ? { id, name, data: data.join('\n') } : undefined;
}

/** The body of a streamed answer. */
interface Body extends AsyncIterable<Uint8Array> {
	destroy: () => void;
	toArray: () => Promise<Uint8Array[]>;
}

/** Whether a response is a successful event stream. */
export const isEventStream = ({ statusCode: status, headers }: IN8nHttpFullResponse) =>
	status >= 200 && status < 300 && /^text\/event-stream\b/i.test(String(headers['content-type']));

/** Cleans the data of an event (see `cleanAnswer`). Data that is not JSON stays unchanged. */
function redactData(data: string, redact: Redact): string {
	if (redact(data) === data && !data.includes('"credentials"')) return data;
	const parsed = parseAnswer(data, redact);
	return typeof parsed === 'string' ? data : JSON.stringify(parsed);
}

/**
 * Reads an event stream to its end. Reads an error response as text.
 *
 * @param signal ends the reading with an error when aborted
 * @returns the response, or the failure
 * @throws the network error if the connection breaks
 */
export async function readStream(
	response: IN8nHttpFullResponse,
	{ onEvent }: Pick<EventStream, 'onEvent'>,
	redact: Redact,
	signal: AbortSignal,
): Promise<IN8nHttpFullResponse | Pick<Failure, 'kind' | 'reason' | 'status'>> {
	const { statusCode: status } = response;
	const body = response.body as Body;
	// n8n's client reacts to the signal only until the headers arrive. From then on, `close` ends the stream.
	const close = () => body.destroy();
	signal.addEventListener('abort', close);
	if (signal.aborted) close();
	try {
		if (!isEventStream(response)) {
			if (status < 300) return { kind: 'unreadable', reason: 'it is no stream of events', status };
			return { ...response, body: Buffer.concat(await body.toArray()).toString() };
		}
		const reader = new EventReader();
		for await (const piece of body) {
			for (const event of reader.push(piece)) {
				if (event.name === 'error') return { kind: 'unsuccessful', reason: event.data, status };
				onEvent({ ...event, data: redactData(event.data, redact) });
			}
		}
		return { ...response, body: '' };
	} finally {
		signal.removeEventListener('abort', close);
		close();
	}
}
