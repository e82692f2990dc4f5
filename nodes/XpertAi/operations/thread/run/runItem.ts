import { randomUUID } from 'crypto';

import truncate from 'lodash/truncate';
import type { IDataObject, NodeApiError } from 'n8n-workflow';
import { z } from 'zod';

import { readSimplify } from '../../../execution/answers';
import { hintFor } from '../../../execution/hints';
import type { RequestMeaning } from '../../../execution/hints';
import { badInput, checkInput, jsonText } from '../../../execution/badInput';
import { isJsonMode } from '../../../execution/readBody';
import { readId, readText } from '../../../execution/readFields';
import type { ItemReader } from '../../../execution/readFields';
import { readOption } from '../../../execution/readOptions';
import { createConversation } from '../../../runs/conversation';
import type { Asking, ThreadFacts } from '../../../runs/conversation';
import { runAndWait } from '../../../runs/runAndWait';
import type { Run } from '../../../runs/run';
import type { Verdict } from '../../../runs/verdict';
import { isJsonObject } from '../../../transport/answer';
import type { Clock } from '../../../transport/clock';
import { toNodeApiError } from '../../../transport/failure';
import type { Failure } from '../../../transport/failure';
import { buildPath } from '../../../transport/request';
import type { OperationContext } from '../../operation';
import { DISPLAY_NAMES } from '../../shared/fields';
import { RUN_NAMES, readRunBody } from './body';
import { runOptions } from './options';

const MINUTE_MS = 60_000;

/** Minutes that a timer of Node.js can wait. */
const deadline = z.number().positive().min(0.001).max(35_791);

const whenBusy = z.enum(['wait', 'fail', 'run']);

const SETUP_TIMEOUT_MS = 60_000;
const TITLE_LENGTH = 80;

/** A run of one item, read and checked. */
export interface PreparedRun {
	reader: ItemReader;
	/** The thread to run; without it, a new conversation is started. */
	threadId?: string;
	body: IDataObject;
	/** The body as it is sent. */
	bodyText: string;
	title: string;
	whenBusy: Run['whenBusy'];
	deadlineMs: number;
	simplify: boolean;
}

/**
 * Reads the parameters of an item's run.
 *
 * @throws NodeOperationError naming the parameter, the item and what is expected
 */
export function prepareRun(reader: ItemReader): PreparedRun {
	const { context, itemIndex } = reader;
	const source = { node: context.getNode(), itemIndex };
	const isNew = context.getNodeParameter('threadSource', itemIndex, 'existing') === 'new';
	const body = readRunBody(reader);
	if (!isJsonObject(body))
		throw badInput(source, `"${DISPLAY_NAMES.jsonBody}"`, 'must be an object (JSON)', body);
	const minutes = readOption(reader, runOptions, 'deadlineMinutes', deadline);
	const busy: unknown = context.getNodeParameter('options.whenBusy', itemIndex, 'wait');
	return {
		reader,
		...(isNew ? {} : { threadId: readId(reader, 'threadId', DISPLAY_NAMES.threadId) }),
		body,
		bodyText: jsonText(body, { ...source, ...(isJsonMode(reader) ? {} : RUN_NAMES) }),
		title:
			readText(reader, 'options.title', 'Title') ||
			titleOf(context.getNodeParameter('message', itemIndex, '')),
		whenBusy: checkInput(whenBusy, busy, { ...source, parameter: 'When the Thread Is Busy' }),
		deadlineMs: minutes * MINUTE_MS,
		simplify: readSimplify(reader),
	};
}

/**
 * Runs an item's thread to its verdict.
 *
 * @returns the JSON of the output item, with its thread and, where it is known, the conversation
 * @throws NodeApiError with the reason, the thread and the item when the run has no answer
 */
export async function runItem(
	{ send, context }: OperationContext,
	prepared: PreparedRun,
	clock: Clock,
): Promise<IDataObject> {
	const started = clock.now();
	const { reader } = prepared;
	const signal = context.getExecutionCancelSignal();
	const isNew = prepared.threadId === undefined;
	// An id of our own, so that the thread is known also when the answer is lost.
	const threadId = prepared.threadId ?? randomUUID();
	const made: Created = isNew
		? await startConversation(prepared, { send, clock, signal }, threadId)
		: { threadId };
	if ('failure' in made) throw runError(reader, made.failure, { threadId, verdict: 'failed' });
	const verdict = await runAndWait({
		send,
		threadId: made.threadId,
		body: prepared.bodyText,
		isNew,
		whenBusy: prepared.whenBusy,
		deadline: started + prepared.deadlineMs,
		clock,
		signal,
	});
	const conversationId = made.conversationId ?? verdict.conversationId;
	const thread: ThreadFacts = {
		threadId: made.threadId,
		...(conversationId ? { conversationId } : {}),
	};
	if (verdict.status !== 'completed' && verdict.status !== 'interrupted')
		throw verdictError(reader, verdict, thread);
	if (!prepared.simplify) return { ...rawAnswer(verdict), ...thread };
	return { ...summaryOf(prepared, verdict), ...thread, ...timesOf(verdict, clock.now() - started) };
}

function summaryOf({ body }: PreparedRun, { reply, status, interrupt }: Verdict): IDataObject {
	return {
		reply: reply ?? null,
		status,
		assistantId: body.assistant_id ?? null,
		...(interrupt ? { interrupt: interrupt as IDataObject[] } : {}),
	};
}

function timesOf({ recovered }: Verdict, tookMs: number): IDataObject {
	return { seconds: Math.round(tookMs) / 1000, recovered };
}

type Created = Awaited<ReturnType<typeof createConversation>>;

async function startConversation(
	{ title, deadlineMs }: PreparedRun,
	asking: Asking,
	threadId: string,
): Promise<Created> {
	const timeoutMs = Math.min(SETUP_TIMEOUT_MS, deadlineMs);
	return await createConversation(asking, threadId, title ? { title } : {}, timeoutMs);
}

/** Says why there is no answer, and where to look. */
function verdictError(reader: ItemReader, verdict: Verdict, thread: ThreadFacts): NodeApiError {
	const { failure, reason, advice, status } = verdict;
	const method = 'POST';
	const path = `/api/ai${buildPath('/threads/{threadId}/runs/wait', { threadId: thread.threadId })}`;
	const error = runError(
		reader,
		failure && reason === undefined ? failure : { method, path, ...failure, kind: 'run', reason },
		{ ...thread, verdict: status },
	);
	if (advice) error.description = `${advice} ${error.description ?? ''}`.trim();
	return error;
}

/** What statuses mean for E4: the server looks for the assistant first (recorded). */
const RUN_MEANING: RequestMeaning = {
	statusHints: {
		403: 'A key of a user may not run the assistants of a private workspace. Use a key made for that workspace, or for this assistant.',
		404: 'The server has no such assistant, or the token may not see it. Check "Assistant".',
	},
};

/** The error of a run; names the thread, so that the user can look it up. */
function runError(
	{ context, itemIndex }: ItemReader,
	failure: Failure,
	facts: IDataObject & { threadId: string },
): NodeApiError {
	const hint = hintFor(failure, RUN_MEANING);
	const error = toNodeApiError(failure, { node: context.getNode(), itemIndex, hint });
	error.description = `${error.description ?? ''} Thread: ${facts.threadId}.`.trim();
	error.context.data = { ...(error.context.data as IDataObject), ...facts };
	return error;
}

function rawAnswer({ answer }: Verdict): IDataObject {
	return isJsonObject(answer) ? answer : { response: answer as IDataObject[string] };
}

function titleOf(message: unknown): string {
	return typeof message === 'string' ? truncate(message.trim(), { length: TITLE_LENGTH }) : '';
}
