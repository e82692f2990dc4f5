import { randomUUID } from 'crypto';

import truncate from 'lodash/truncate';
import type { IDataObject, NodeApiError } from 'n8n-workflow';
import { z } from 'zod';

import { answerFor, readSimplify } from '../../execution/answers';
import { badInput, jsonText } from '../../execution/badInput';
import { isJsonMode } from '../../execution/readBody';
import { readId, readText } from '../../execution/readFields';
import type { ItemReader } from '../../execution/readFields';
import { readOption } from '../../execution/readOptions';
import type { ServerFamily } from '../../runs/input';
import { runAndWait } from '../../runs/runAndWait';
import type { Run } from '../../runs/run';
import type { Verdict } from '../../runs/verdict';
import { isJsonObject } from '../../transport/answer';
import type { Clock } from '../../transport/clock';
import { toNodeApiError } from '../../transport/failure';
import { buildPath } from '../../transport/request';
import type { OperationContext } from '../operation';
import { DISPLAY_NAMES } from '../shared/fields';
import { RUN_NAMES, readRunBody } from './readRun';
import { runOptions } from './runOptions';

const MINUTE_MS = 60_000;

/** Minutes that a timer of Node.js can wait. */
const deadline = z.number().positive().min(0.001).max(35_791);

const SETUP_TIMEOUT_MS = 60_000;
const TITLE_LENGTH = 80;

/** A run of one item, read and checked. */
export interface PreparedRun {
	reader: ItemReader;
	family: ServerFamily;
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

/** A thread and the conversation it belongs to, where that is known. */
interface ThreadFacts {
	threadId: string;
	conversationId?: string;
}

/**
 * Reads the parameters of an item's run.
 *
 * @throws NodeOperationError naming the parameter, the item and what is expected
 */
export function prepareRun(reader: ItemReader): PreparedRun {
	const { context, itemIndex } = reader;
	const option = (name: string, defaultValue: string): unknown =>
		context.getNodeParameter(`options.${name}`, itemIndex, defaultValue);
	const family = option('serverFamily', 'xpert') === 'langgraph' ? 'langgraph' : 'xpert';
	const isNew = context.getNodeParameter('threadSource', itemIndex, 'existing') === 'new';
	const body = readRunBody(reader, family);
	if (!isJsonObject(body)) {
		throw badInput(
			{ node: context.getNode(), itemIndex },
			`"${DISPLAY_NAMES.jsonBody}"`,
			'must be an object (JSON)',
			body,
		);
	}
	const minutes = readOption(reader, runOptions, 'deadlineMinutes', deadline);
	// LangGraph has no route of the contract to make a thread; its runs can do it.
	const sent = isNew && family === 'langgraph' ? { if_not_exists: 'create', ...body } : body;
	const names = isJsonMode(reader) ? {} : RUN_NAMES;
	return {
		reader,
		family,
		...(isNew ? {} : { threadId: readId(reader, 'threadId', DISPLAY_NAMES.threadId) }),
		body,
		bodyText: jsonText(sent, { node: context.getNode(), itemIndex, ...names }),
		title:
			readText(reader, 'options.title', 'Title') ||
			titleOf(context.getNodeParameter('message', itemIndex, '')),
		whenBusy: option('whenBusy', 'wait') === 'fail' ? 'fail' : 'wait',
		deadlineMs: minutes * MINUTE_MS,
		simplify: readSimplify(reader),
	};
}

/**
 * Runs an item's thread to its verdict.
 *
 * @returns the JSON of the output item
 * @throws NodeApiError with the reason, the thread and the item when the run has no answer
 */
export async function runItem(
	{ send, context }: OperationContext,
	run: PreparedRun,
	clock: Clock,
): Promise<IDataObject> {
	const started = clock.now();
	const { reader, body } = run;
	const facts =
		run.threadId === undefined ? await startConversation(run, send) : { threadId: run.threadId };
	const isNew = run.threadId === undefined;
	const verdict = await runAndWait({
		send,
		threadId: facts.threadId,
		body: run.bodyText,
		isNew,
		whenBusy: run.whenBusy,
		deadline: started + run.deadlineMs,
		clock,
		signal: context.getExecutionCancelSignal(),
	});
	const thread = {
		...facts,
		...(verdict.conversationId ? { conversationId: verdict.conversationId } : {}),
	};
	if (verdict.status !== 'completed' && verdict.status !== 'interrupted') {
		throw verdictError(reader, verdict, thread);
	}
	if (!run.simplify) return rawAnswer(verdict);
	const { status, recovered, reply, interrupt } = verdict;
	return {
		reply: reply ?? null,
		status,
		...thread,
		assistantId: body.assistant_id ?? null,
		seconds: Math.round(clock.now() - started) / 1000,
		recovered,
		...(status === 'interrupted' ? { interrupt: interrupt as IDataObject } : {}),
	};
}

async function startConversation(
	{ reader, family, title, deadlineMs }: PreparedRun,
	send: OperationContext['send'],
): Promise<ThreadFacts> {
	if (family === 'langgraph') return { threadId: randomUUID() };
	const answer = await answerFor(reader, send, {
		method: 'POST',
		path: '/conversations',
		body: JSON.stringify(title ? { title } : {}),
		timeoutMs: Math.min(SETUP_TIMEOUT_MS, deadlineMs),
	});
	const { id, threadId } = isJsonObject(answer) ? answer : {};
	if (typeof threadId === 'string') {
		return { threadId, ...(typeof id === 'string' ? { conversationId: id } : {}) };
	}
	const failure = {
		kind: 'run' as const,
		reason: 'The server made a conversation without a thread',
		method: 'POST',
		path: '/api/ai/conversations',
	};
	throw toNodeApiError(failure, { node: reader.context.getNode(), itemIndex: reader.itemIndex });
}

/** Says why there is no answer, and where to look. */
function verdictError(
	{ context, itemIndex }: ItemReader,
	verdict: Verdict,
	thread: ThreadFacts,
): NodeApiError {
	const { failure, reason } = verdict;
	const method = 'POST';
	const path = `/api/ai${buildPath('/threads/{threadId}/runs/wait', { threadId: thread.threadId })}`;
	const error = toNodeApiError(
		failure && reason === undefined ? failure : { method, path, ...failure, kind: 'run', reason },
		{ node: context.getNode(), itemIndex },
	);
	error.description = `${error.description ?? ''} Thread: ${thread.threadId}.`.trim();
	error.context.data = {
		...(error.context.data as IDataObject),
		...thread,
		verdict: verdict.status,
	};
	return error;
}

function rawAnswer({ answer }: Verdict): IDataObject {
	return isJsonObject(answer) ? answer : { response: answer as IDataObject[string] };
}

function titleOf(message: unknown): string {
	return typeof message === 'string' ? truncate(message.trim(), { length: TITLE_LENGTH }) : '';
}
