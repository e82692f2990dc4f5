import { randomUUID } from 'node:crypto';
import { timestamp, type Clock } from './clock';
import type { ToolSeed } from './seed';
import type { Loose } from './values';

/** Who says something in a run: its assistant, or one of its helpers, which has a number of its own. */
export interface Speaker {
	agentKey: string;
	executionId: string;
	xpertName?: string;
	parentExecutionId?: string;
}

export interface RunEvent {
	id: string;
	name?: string;
	data: Loose;
}

type Reader = (event: RunEvent) => void;

/** The server keeps so many events of a run, and all of them as long after the last one. */
const KEPT_EVENTS = 10_000;
const KEPT_MS = 24 * 60 * 60 * 1000;

/**
 * All that is said in a run, in order: streams show it as events, the conversation's message as parts, and E4 answers
 * with the texts of it.
 */
export class Speech {
	/** Those that are kept: a long answer loses its beginning, and a day after the last one all are gone. */
	events: RunEvent[] = [];
	private emittedAt = 0;
	private place = 0;
	private readonly readers = new Set<Reader>();

	constructor(private readonly clock: Clock) {}

	/** Sends an event to all who listen; its id is the moment and its number within it. */
	emit(data: Loose, name?: string): void {
		const now = this.clock.now();
		this.expireInTime();
		this.place = now === this.emittedAt ? this.place + 1 : 0;
		this.emittedAt = now;
		const event: RunEvent = { id: `${now}-${this.place}`, data, ...(name && { name }) };
		this.events.push(event);
		this.cut(this.events.length - KEPT_EVENTS);
		for (const reader of this.readers) reader(event);
	}

	get heardBy(): number {
		return this.readers.size;
	}

	expire(): void {
		this.events = [];
	}

	private expireInTime(): void {
		if (this.clock.now() - this.emittedAt >= KEPT_MS) this.expire();
	}

	cut(count: number): void {
		if (count > 0) this.events.splice(0, count);
	}

	/** Hands over what is said from now on, until the function it gives back is called. */
	listen(reader: Reader): () => void {
		this.expireInTime();
		this.readers.add(reader);
		return () => void this.readers.delete(reader);
	}
}

/** What is said from one request to the end that it waits for: a run that waits for a person has several of these. */
export class Saying {
	/** What one speaker says in one breath is one part. */
	private readonly parts: Loose[] = [];
	private taken = 0;

	constructor(
		private readonly clock: Clock,
		private readonly speech: Speech,
	) {}

	/** Says words, which streams hear one by one; `id` is that of the message they will be. */
	say(text: string, speaker: Speaker, id: string, runId: string): void {
		const words = text.split(/(?<=\s)(?=\S)/);
		this.utter(this.parts, 'text', words, { id, ...speaker, runId });
	}

	/** Thinks aloud: streams hear it, but it is no part of the answer. */
	think(text: string, speaker: Speaker, id: string, runId: string): void {
		const pieces = text.match(/.{1,8}/gs) ?? [];
		this.utter([], 'reasoning', pieces, { id, ...speaker, runId });
	}

	private utter(parts: Loose[], type: string, words: string[], whose: Loose): void {
		const text = words.join('');
		if (text === '') return;
		const created = { created_date: timestamp(this.clock), ...whose };
		for (const word of words) {
			this.speech.emit({ type: 'message', data: { type, text: word, ...created } });
		}
		const last = parts.at(-1);
		if (last && last.id === whose.id) last.text = String(last.text) + text;
		else parts.push({ type, text, ...created });
	}

	/** Shows that a tool is used, and what came of it once it is; streams hear both. */
	use(data: Loose, { agentKey, executionId }: Speaker, id: string, runId: string = randomUUID()) {
		const component = { id, type: 'component', agentKey, executionId, runId };
		const part = { ...component, data };
		this.parts.push(part);
		this.speech.emit({ type: 'message', data: { ...part } });
		return (result: Loose): void => {
			part.data = { ...part.data, ...result };
			this.speech.emit({ type: 'message', data: { ...component, data: result } });
		};
	}

	text(): string {
		return inLines(this.parts)
			.map(({ text }) => String(text ?? ''))
			.join('');
	}

	take(): Loose[] {
		const parts = this.parts.slice(this.taken);
		this.taken = this.parts.length;
		return inLines(parts);
	}
}

/** Who speaks after a helper begins a new line. */
const inLines = (parts: Loose[]): Loose[] =>
	parts.map((part, place) => {
		const before = parts[place - 1];
		const isNew = before?.parentExecutionId && before.executionId !== part.executionId;
		return isNew && part.type === 'text'
			? { ...part, text: `\n${String(part.text)}` }
			: { ...part };
	});

export const helperOf = (lead: Speaker, { name, agentKey, title }: ToolSeed): Speaker => ({
	agentKey: agentKey ?? `${lead.agentKey}${name}`,
	xpertName: agentKey === undefined ? name : title,
	executionId: randomUUID(),
	parentExecutionId: lead.executionId,
});
