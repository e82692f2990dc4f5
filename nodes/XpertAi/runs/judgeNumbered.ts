import findLast from 'lodash/findLast';
import { z } from 'zod';

import { readConversation } from '../threads/conversation';
import type { ConversationFacts } from '../threads/conversation';
import { afterLastPerson, callsTool, lastReply, messagesOf, textOf } from '../threads/messages';
import type { ThreadState } from '../threads/state';
import { conversationOf, readThreadWithRetries } from '../threads/thread';
import type { Asking } from '../threads/thread';
import { answerWithList } from '../transport/answer';
import { buildPath } from '../transport/api';
import type { Failure } from '../transport/failure';
import { SINGLE_REQUEST_LIMITS } from '../transport/retryPolicy';
import { sendWithRetries } from '../transport/sendWithRetries';
import { listRuns, newest, readRun } from './byNumber';
import type { NumberedRun, RunRecord } from './byNumber';
import { judgeInterrupted } from './judge';
import { failed, leftOver, rejected } from './verdict';
import type { Verdict } from './verdict';

const READ_TIMEOUT_MS = 30_000;

/** How a run stands: its verdict once it has ended, and who answers in which conversation as far as that is known. */
export interface Standing {
	verdict?: Verdict;
	conversationId?: string;
	assistantId?: string;
}

/**
 * How a run stands now. Reads the run, and when it has ended its thread and conversation, until these agree: `success`
 * comes before they have stopped to be busy (recorded). Never throws.
 */
export async function standingOf(asking: Asking, named: NumberedRun): Promise<Standing> {
	const reading = await readRun(asking, named);
	if ('failure' in reading) return { verdict: failed(reading.failure) };
	const { record } = reading;
	const assistantId = record.assistant_id ?? undefined;
	if (record.status === 'running' && assistantId !== undefined) return { assistantId };
	const facts = await readConversation(asking, named.threadId);
	if (record.status === 'running') return await standingUnnamed(asking, named, facts);
	const listed = await listRuns(asking, named.threadId);
	const unread = facts.failure ?? ('failure' in listed ? listed.failure : undefined);
	if (unread) return { verdict: failed(unread), assistantId };
	const { conversationId } = facts;
	const runs = 'runs' in listed ? listed.runs : [];
	const isLast = newest(runs)?.run_id === named.runId;
	const verdict = isLast
		? await judgeLast(asking, record, facts)
		: await judgeEarlier(asking, record, facts);
	return { verdict: verdict && { ...verdict, conversationId }, conversationId, assistantId };
}

/**
 * A run without an assistant is in its first moments, in which its conversation is busy, or left over and never ends
 * (recorded).
 */
async function standingUnnamed(
	asking: Asking,
	named: NumberedRun,
	{ status, conversationId, failure }: ConversationFacts,
): Promise<Standing> {
	if (failure) return { verdict: failed(failure) };
	// Nothing is said to others than its owner.
	if (status === 'busy' || conversationId === undefined) return {};
	// It may have begun and ended while the conversation was read.
	const again = await readRun(asking, named);
	if ('failure' in again) return { verdict: failed(again.failure) };
	const { status: now, assistant_id: assistantId } = again.record;
	return now === 'running' && !assistantId ? { verdict: leftOver() } : {};
}

/** The verdict of the run that a thread ended with; none while the thread does not show its end yet. */
async function judgeLast(
	asking: Asking,
	{ thread_id: threadId, status }: RunRecord,
	facts: ConversationFacts,
): Promise<Verdict | undefined> {
	if (facts.status === 'busy') return undefined;
	if (status === 'error') return failed(undefined, `The run failed: ${reasonOf(facts.error)}`);
	if (status === 'interrupted') return judgeInterrupted(facts);
	const reading = await readThreadWithRetries(asking, threadId);
	if ('failure' in reading) return failed(reading.failure);
	const { state } = reading;
	return state.status === 'busy' ? undefined : { ...saidOn(state), answer: state };
}

/** What the last run said: its last message. One that has ended with a call was rejected (recorded). */
function saidOn(state: ThreadState): Verdict {
	const said = afterLastPerson(messagesOf(state));
	const last = said.at(-1);
	if (last && callsTool(last)) return rejected();
	const reply = lastReply(said);
	const told = { thread: state, messages: said, conversationId: conversationOf(state) };
	if (reply) return { status: 'completed', ...reply, recovered: false, ...told };
	return failed(undefined, NO_ANSWER);
}

const NO_ANSWER = 'The run ended without an answer, and the server does not say why';

const reasonOf = (error: string | undefined): string => error ?? 'the server gave no reason';

/** A part of what was said in a run: of helpers' it has a number of its own. */
const part = z.object({
	type: z.string(),
	text: z.string(),
	id: z.string(),
	executionId: z.string(),
});

/** What a conversation keeps of a run, also when others came after it. */
const said = z.object({
	role: z.literal('ai'),
	executionId: z.string(),
	content: z.unknown(),
	error: z.string().nullish(),
});

/** The verdict of a run that others came after: the conversation keeps what each has said, and why it failed. */
async function judgeEarlier(
	asking: Asking,
	{ run_id: runId, status }: RunRecord,
	{ conversationId }: ConversationFacts,
): Promise<Verdict> {
	const reading =
		conversationId === undefined ? { items: [] } : await readSaid(asking, conversationId);
	if ('failure' in reading) return failed(reading.failure);
	const own = findLast(reading.items, ({ executionId }) => executionId === runId);
	if (status === 'error')
		return failed(undefined, `The run failed: ${reasonOf(own?.error ?? undefined)}`);
	if (status === 'interrupted')
		return failed(undefined, 'The run was cancelled, or the thread has gone on without a decision');
	if (!own) return failed(undefined, NO_ANSWER);
	return {
		status: 'completed',
		output: lastWords(own.content, runId),
		answer: own,
		recovered: false,
	};
}

/** The texts of the last call of the run's own model. */
function lastWords(content: unknown, runId: string): string {
	if (!Array.isArray(content)) return textOf(content);
	const own = content
		.flatMap((one) => part.safeParse(one).data ?? [])
		.filter(({ type, executionId }) => type === 'text' && executionId === runId);
	const last = own.at(-1)?.id;
	return own.flatMap(({ id, text }) => (id === last ? text : [])).join('');
}

async function readSaid(
	{ send, clock, signal }: Asking,
	conversationId: string,
): Promise<{ items: Array<z.infer<typeof said>> } | { failure: Failure }> {
	const { outcome } = await sendWithRetries(send, {
		request: {
			method: 'GET',
			path: buildPath('/conversations/{conversationId}/messages', { conversationId }),
			timeoutMs: READ_TIMEOUT_MS,
			checkAnswer: answerWithList('items'),
		},
		...{ limits: SINGLE_REQUEST_LIMITS, repeatable: true, clock, signal },
	});
	if (!outcome.ok) return { failure: outcome.failure };
	const { items } = z.object({ items: z.array(z.unknown()) }).parse(outcome.answer);
	return { items: items.flatMap((one) => said.safeParse(one).data ?? []) };
}
