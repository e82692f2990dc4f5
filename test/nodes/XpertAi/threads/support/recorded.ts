import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { type ThreadState, threadStateSchema } from '../../../../../nodes/XpertAi/threads/thread';

/** A sequence of requests that was recorded. */
export type Sequence =
	| 'answers-in-parts'
	| 'conversation-by-id'
	| 'decision-watched-confirm'
	| 'decision-watched-reject'
	| 'decisions'
	| 'interrupts'
	| 'one-key-cancel-ends-both'
	| 'one-question-1'
	| 'one-question-2'
	| 'one-question-3'
	| 'runs'
	| 'sources'
	| 'streams'
	| 'tool-calls'
	| 'turns';

/** A request of it, by what it was for, with its answer. */
export interface Exchange {
	label: string;
	sequence?: string;
	request: { method: string; path: string };
	response: { body?: unknown; pieces?: Array<{ text: string }> };
}

const FOLDER = join(__dirname, '..', '..', '..', '..', 'recordings');

/** All that was recorded of a sequence, in its order. */
export function recordedExchanges(sequence: Sequence): Exchange[] {
	const text = readFileSync(join(FOLDER, `${sequence}.json`), 'utf8');
	return (JSON.parse(text) as { exchanges: Exchange[] }).exchanges;
}

/** The body of an answer in a recorded sequence; the first with this label, in this part of it. */
export function recordedBody(sequence: Sequence, label: string, part?: string): unknown {
	const found = recordedExchanges(sequence).find(
		(one) => one.label === label && (part === undefined || one.sequence === part),
	);
	if (!found) throw new Error(`"${label}" is not recorded in ${sequence}`);
	return found.response.body;
}

/** A thread as E15 answered it in a recorded sequence. */
export const recordedThread = (sequence: Sequence, label: string, part?: string): ThreadState =>
	threadStateSchema.parse(recordedBody(sequence, label, part));

/** What came as a stream of events. */
export function recordedStream(sequence: Sequence, label: string): string {
	const found = recordedExchanges(sequence).find((one) => one.label === label);
	const text = (found?.response.pieces ?? []).map((piece) => piece.text).join('');
	if (!text) throw new Error(`"${label}" is not recorded as a stream in ${sequence}`);
	return text;
}

/** A stream from behind an event on; all of it without one, as where a server does not heed where it is to go on. */
export function streamAfter(stream: string, lastId?: string): Buffer {
	const events = stream.split('\n\n').filter(Boolean);
	const last = events.findIndex((one) => one.includes(`id: ${lastId}\n`));
	return Buffer.from(
		events
			.slice(last + 1)
			.map((one) => `${one}\n\n`)
			.join(''),
	);
}
