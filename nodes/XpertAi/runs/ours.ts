import findLast from 'lodash/findLast';
import isEqual from 'lodash/isEqual';

import {
	beforeNextPerson,
	callsTool,
	isFromAssistant,
	isFromPerson,
	messagesOf,
	newMessages,
	repliesTo,
	says,
	speakerOf,
	textOf,
} from '../threads/messages';
import type { ThreadMessage, ThreadState } from '../threads/state';
import { lastAsked } from '../threads/thread';
import type { Asked } from './input';
import type { RunUnderWay } from './run';

/** The question a run is about. */
export function questionOf(asked: Asked, before: ThreadState | undefined): string | undefined {
	if (asked.kind === 'message') return asked.text;
	return lastAsked(before) ?? textOf(lastOfPerson(before)?.content);
}

/**
 * What the assistant said to us, as the thread has it; nothing when our question is not there. Another run
 * may be all that came to the thread, so that what is new on it is not ours for that.
 */
export function ownReplies(run: RunUnderWay, state: ThreadState): ThreadMessage[] | undefined {
	const fresh = freshMessages(run, state);
	// A decision goes on with the question before it: a new one is another's.
	if (run.asked.kind === 'decision') return beforeNextPerson(fresh);
	if (run.question === undefined || !isReplaced(run, state)) return undefined;
	return repliesTo(run.question, fresh, lastAsked(state) === run.question);
}

/** All that the thread has of a run: what came after its question, with what was said before a decision. */
export function messagesOfRun(
	{ question }: RunUnderWay,
	state: ThreadState | undefined,
): ThreadMessage[] | undefined {
	if (question === undefined) return undefined;
	return repliesTo(question, messagesOf(state), lastAsked(state) === question);
}

/** Answering again replaces the last question where it has an answer (recorded); a message replaces none. */
function isReplaced({ asked, before, question }: RunUnderWay, state: ThreadState): boolean {
	const last = lastOfPerson(before);
	if (asked.kind !== 'retry' || !last || question === undefined || !says(last, question))
		return true;
	return messagesOf(state).every(({ id }) => id !== last.id);
}

function lastOfPerson(state: ThreadState | undefined): ThreadMessage | undefined {
	return findLast(messagesOf(state), isFromPerson);
}

function freshMessages({ before }: RunUnderWay, state: ThreadState): ThreadMessage[] {
	return newMessages(messagesOf(before), messagesOf(state));
}

/**
 * Whether the thread holds what was said: our question, or the answer that came to us. An answer holds all
 * texts of its run, the last of which the thread has as its last message (recorded).
 */
export function isKept(run: RunUnderWay, state: ThreadState, reply: string): boolean {
	if (ownReplies(run, state) !== undefined) return true;
	return freshMessages(run, state).some((one) => {
		const text = textOf(one.content);
		return isFromAssistant(one) && text !== '' && reply.endsWith(text);
	});
}

/** Whether a thread is as it was before the run, in what tells of runs; other parts may change with each reading. */
export function isUnchanged({ before }: RunUnderWay, state: ThreadState | undefined): boolean {
	return before !== undefined && state !== undefined && isEqual(traces(state), traces(before));
}

function traces(state: ThreadState): unknown[] {
	return [state.status, state.updated_at, messagesOf(state)];
}

/** Whether the thread names another question as its last, so that how it stands is not our doing. */
export function isOfAnother({ question }: RunUnderWay, state: ThreadState | undefined): boolean {
	const last = lastAsked(state);
	return question !== undefined && last !== undefined && !last.includes(question);
}

/**
 * Whether our no was heard: the thread has ended with the call that waited, and nobody says anything
 * more (recorded).
 */
export function isRejected({ asked }: RunUnderWay, state: ThreadState | undefined): boolean {
	const last = messagesOf(state).at(-1);
	return (
		asked.rejects === true && state?.status === 'idle' && last !== undefined && callsTool(last)
	);
}

/** Whether a tool has answered since, so that what we rejected was carried out all the same. */
export function isCarriedOut(run: RunUnderWay, state: ThreadState): boolean {
	const isTool = (one: ThreadMessage) => speakerOf(one) === 'tool';
	return run.asked.rejects === true && freshMessages(run, state).some(isTool);
}
