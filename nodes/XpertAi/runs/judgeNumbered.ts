import findLast from 'lodash/findLast';
import { z } from 'zod';

import { readConversation } from '../threads/conversation';
import type { ConversationFacts } from '../threads/conversation';
import {
	afterLastPerson,
	callsTool,
	isFromAssistant,
	lastReply,
	messagesOf,
	textOf,
} from '../threads/messages';
import type { ThreadState } from '../threads/state';
import { conversationOf, readThreadWithRetries, retrying } from '../threads/thread';
import type { Asking } from '../threads/thread';
import { answerWithList } from '../transport/answer';
import { buildPath } from '../transport/api';
import type { Failure } from '../transport/failure';
import { listRuns, newest, readRun } from './byNumber';
import type { NumberedRun, RunRecord } from './byNumber';
import { judgeInterrupted } from './judge';
import { failed, leftOver, rejected } from './verdict';
import type { Verdict } from './verdict';

const READ_TIMEOUT_MS = 30_000;

/** How a run stands: its verdict once it has ended, and who answers in which conversation as far as that is known. */
export interface Standing {
	verdict?: Verdict;
	/** How the run itself is said to have ended. */
	status?: RunRecord['status'];
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
	const { conversationId, failure } = facts;
	const listed = failure ? { failure } : await listRuns(asking, named.threadId);
	if ('failure' in listed) return { verdict: failed(listed.failure), assistantId };
	const isLast = newest(listed.runs)?.run_id === named.runId;
	const verdict = await judgeEnded(asking, record, facts, isLast);
	const told = verdict && { ...verdict, conversationId };
	return { verdict: told, status: record.status, conversationId, assistantId };
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

/**
 * The verdict of a run that has ended; none while its thread and conversation do not show the end yet. What each run has
 * said, and why it failed, the conversation keeps, also where others came after it, or have overwritten it on the thread.
 *
 * @param isLast whether none has begun on the thread since
 */
async function judgeEnded(
	asking: Asking,
	{ run_id: runId, thread_id: threadId, status }: RunRecord,
	facts: ConversationFacts,
	isLast: boolean,
): Promise<Verdict | undefined> {
	if (isLast && facts.status === 'busy') return undefined;
	if (status === 'interrupted')
		return isLast ? judgeInterrupted(facts) : failed(undefined, ENDED_BY);
	const reading = await readSaid(asking, facts.conversationIds ?? [], runId);
	if ('failure' in reading) return failed(reading.failure);
	const { own } = reading;
	if (status === 'error') {
		const reason = own?.error ?? (isLast ? facts.error : undefined);
		return failed(undefined, `The run failed: ${reason ?? 'the server gave no reason'}`);
	}
	// `success` comes before the thread shows the end (recorded), and may come before its words are stored.
	if (own?.status === 'thinking') return undefined;
	const words = own && lastWords(own.content, runId);
	if (!isLast) return words === undefined ? failed(undefined, NO_ANSWER) : completed(words, own);
	const thread = await readThreadWithRetries(asking, threadId);
	if ('failure' in thread) return failed(thread.failure);
	const { state } = thread;
	if (state.status === 'busy') return undefined;
	const isLastSaid = !words || words === lastReply(afterLastPerson(messagesOf(state)))?.output;
	if (isLastSaid) return { ...saidOn(state), answer: state };
	// Another may have come and gone since the list was read.
	const isThere = messagesOf(state).some(
		(one) => isFromAssistant(one) && textOf(one.content) === words,
	);
	return { ...completed(words, own), ...(isThere ? { thread: state } : { remembered: false }) };
}

function completed(output: string, answer: unknown): Verdict {
	return { status: 'completed', output, answer, recovered: false };
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

const ENDED_BY = 'The run was cancelled, or the thread has gone on without a decision';

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
	status: z.string().nullish(),
});

/** The texts of the last call of the run's own model. */
function lastWords(content: unknown, runId: string): string {
	if (!Array.isArray(content)) return textOf(content);
	const own = content
		.flatMap((one) => part.safeParse(one).data ?? [])
		.filter(({ type, executionId }) => type === 'text' && executionId === runId);
	const last = own.at(-1)?.id;
	return own.flatMap(({ id, text }) => (id === last ? text : [])).join('');
}

/** What a run has said last. Several conversations may be on its thread, and only one of them has it. */
async function readSaid(
	asking: Asking,
	conversationIds: string[],
	runId: string,
): Promise<{ own?: z.infer<typeof said> } | { failure: Failure }> {
	for (const conversationId of conversationIds) {
		const outcome = await retrying(asking)({
			method: 'GET',
			path: buildPath('/conversations/{conversationId}/messages', { conversationId }),
			timeoutMs: READ_TIMEOUT_MS,
			checkAnswer: answerWithList('items'),
		});
		if (!outcome.ok) return { failure: outcome.failure };
		const { items } = z.object({ items: z.array(z.unknown()) }).parse(outcome.answer);
		const messages = items.flatMap((one) => said.safeParse(one).data ?? []);
		const own = findLast(messages, ({ executionId }) => executionId === runId);
		if (own) return { own };
	}
	return {};
}
