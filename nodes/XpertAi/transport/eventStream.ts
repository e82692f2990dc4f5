import { compact } from 'lodash';
import type { IN8nHttpFullResponse } from 'n8n-workflow';

import { parseAndCleanJson } from './answer';
import type { Failure } from './failure';
import type { Redact } from './redact';

/** A server-sent event. */
export interface ServerEvent {
	id?: string;
	/** The value of the field `event`, which Xpert AI servers rarely send. */
	name?: string;
	data: string;
}

/** Options for reading an event stream. */
export interface EventStreamOptions {
	/** The ID of the last received event. The server continues the stream after this event. */
	lastEventId?: string;
	onEvent: (event: ServerEvent) => void;
	/** The stream ends when this signal is aborted. */
	signal?: AbortSignal;
}

/** The longest event that is read, in characters. The result of a tool is one event. */
const MAX_EVENT_LENGTH = 10 * 1024 * 1024;

const EVENT_TOO_LONG_ISSUE = 'an event of its stream is larger than 10 MB';

/**
 * Assembles events from the pieces of a stream. A piece can end within an event, a line or a character. Searches each
 * piece for line breaks only once, to save time. Drops comments at once, so they take no memory.
 */
export class EventReader {
	/** Why the stream cannot be read any further. */
	issue?: string;
	private readonly decoder = new TextDecoder();
	/** The line that has not ended yet. */
	private line = '';
	private endsWithCr = false;
	private id?: string;
	private name?: string;
	private data: string[] = [];
	/** The number of characters in the lines that `data` comes from. */
	private length = 0;

	/** Returns the events that this piece completes. Sets `issue` at an event that is too long. */
	push(piece: Uint8Array): ServerEvent[] {
		const text = this.decoder.decode(piece, { stream: true });
		if (text === '') return [];
		// The LF of a CRLF can arrive in the next piece.
		const start = this.endsWithCr && text.startsWith('\n') ? 1 : 0;
		this.endsWithCr = text.endsWith('\r');
		const [first = '', ...others] = text.slice(start).split(/\r\n|\n|\r/);
		const lines = [this.line + first, ...others];
		this.line = lines.pop() ?? '';
		const events: ServerEvent[] = [];
		for (const line of lines) {
			if (line === '') events.push(...compact([this.takeEvent()]));
			else this.readField(line);
			if (this.length > MAX_EVENT_LENGTH) break;
		}
		if (this.length + this.line.length > MAX_EVENT_LENGTH) this.issue = EVENT_TOO_LONG_ISSUE;
		return events;
	}

	private readField(line: string): void {
		const [, field, value = ''] = /^(id|event|data)(?::|$) ?(.*)$/s.exec(line) ?? [];
		if (field === 'id') this.id = value;
		if (field === 'event') this.name = value;
		if (field !== 'data') return;
		this.data.push(value);
		this.length += line.length + 1;
	}

	/** Returns and clears the event that a blank line ends. Returns undefined if it has no data, like a heartbeat. */
	private takeEvent(): ServerEvent | undefined {
		const { id, name } = this;
		const hasData = this.data.some((line) => line !== '');
		const data = this.data.join('\n');
		[this.id, this.name, this.data, this.length] = [undefined, undefined, [], 0];
		return hasData ? { id, name, data } : undefined;
	}
}

/** The body of a streamed answer. */
interface StreamBody extends AsyncIterable<Uint8Array> {
	destroy: () => void;
	toArray: () => Promise<Uint8Array[]>;
}

/** Whether a response is a successful event stream. */
export const isEventStream = ({ statusCode: status, headers }: IN8nHttpFullResponse) =>
	status >= 200 && status < 300 && /^text\/event-stream\b/i.test(String(headers['content-type']));

/** Cleans the data of an event (see `cleanAnswer`). Data that is not JSON stays unchanged. */
function redactData(data: string, redact: Redact): string {
	if (redact(data) === data && !data.includes('"credentials"')) return data;
	const parsed = parseAndCleanJson(data, redact);
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
	{ onEvent }: Pick<EventStreamOptions, 'onEvent'>,
	redact: Redact,
	signal: AbortSignal,
): Promise<IN8nHttpFullResponse | Pick<Failure, 'kind' | 'reason' | 'status'>> {
	const { statusCode: status } = response;
	const body = response.body as StreamBody;
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
			if (reader.issue) return { kind: 'unreadable', reason: reader.issue, status };
		}
		return { ...response, body: '' };
	} finally {
		signal.removeEventListener('abort', close);
		close();
	}
}
