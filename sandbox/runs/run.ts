import { randomUUID } from 'node:crypto';
import { findLast } from 'lodash';
import { timestamp } from '../clock';
import type { Context } from '../context';
import type { Conversation, RunRecord } from '../entities';
import { Speech } from '../speech';
import type { Store } from '../store';
import { CANCELED, Work, type Order } from './work';

export interface Run {
	record: RunRecord;
	ended: Promise<void>;
	text(): string;
}

/** The work of each run under way, and when it has ended. */
const underWay = new WeakMap<RunRecord, { work: Work; ended: Promise<void> }>();

/** Cancels what runs on a thread, as somebody does in the server's own chat; gives how many runs it was. */
export function cancelRuns({ runs }: Pick<Store, 'runs'>, threadId: string): number {
	const running = runs.filter((run) => run.threadId === threadId && underWay.has(run));
	running.forEach((run) => underWay.get(run)?.work.cancel());
	return running.length;
}

/**
 * The server process is killed: what it works on says that it runs for ever, and nothing comes of it (`server-killed`);
 * gives how many runs it was. What was said before is kept elsewhere, and so is a run that waits for a person.
 */
export function killRuns({ runs }: Pick<Store, 'runs'>): number {
	const running = runs.filter((run) => underWay.has(run));
	for (const run of running) {
		underWay.get(run)?.work.die();
		underWay.delete(run);
	}
	return running.length;
}

/**
 * Begins a run. It is not tied to the request that asked for it: it goes on when the connection drops. Two runs at once
 * on one thread each start from the messages of the last one that ended, and each writes all messages step by step:
 * those of the last to end survive. What is overwritten goes to the thread's `lost`.
 *
 * @param heardAs the run under whose id streams hear it: a decision that names no run has one of its own
 */
export function begin(context: Context, order: Order, heardAs?: RunRecord): Run {
	const { thread, assistant, question, decision } = order;
	const record =
		decision?.interrupt.run ??
		newRun(context, {
			threadId: thread.threadId,
			assistantId: assistant.id,
			text: question?.text,
		});
	const work = new Work(context, order, record, speechOf(context, heardAs ?? record));
	const ended = work.done().finally(() => underWay.delete(record));
	underWay.set(record, { work, ended });
	return { record, ended, text: () => work.text() };
}

/** A run that is known from now on; it may never truly begin. */
export function newRun(
	{ store, clock }: Context,
	fields: Pick<RunRecord, 'threadId' | 'assistantId' | 'text'>,
): RunRecord {
	const now = clock.now();
	const record: RunRecord = {
		id: randomUUID(),
		...fields,
		startedAt: now,
		updatedAt: now,
		status: 'running',
		used: { total: 0, input: 0, output: 0 },
	};
	store.runs.push(record);
	return record;
}

export function speechOf({ store, clock }: Context, { id }: RunRecord): Speech {
	const speech = store.speeches.get(id) ?? new Speech(clock);
	store.speeches.set(id, speech);
	return speech;
}

export const isUnderWay = (record: RunRecord | undefined): boolean =>
	record !== undefined && underWay.has(record);

/**
 * Cancels a run. One that has ended, or waits for a person, then says that it was interrupted as well, and so does its
 * conversation; what it waits for can still be decided (`background` "cancel a run that has ended").
 */
export async function cancelRun(
	{ store, clock }: Context,
	record: RunRecord,
	conversation: Conversation,
): Promise<void> {
	const running = underWay.get(record);
	running?.work.cancel();
	await running?.ended;
	if (running) return;
	const told = { status: 'interrupted', error: CANCELED, updatedAt: timestamp(clock) } as const;
	Object.assign(record, { status: 'interrupted', updatedAt: clock.now() });
	Object.assign(conversation, told);
	Object.assign(store.threads.get(record.threadId) ?? {}, told);
	const answer = findLast(store.messages, ({ executionId }) => executionId === record.id);
	Object.assign(answer ?? {}, { ...told, status: 'aborted' });
}
