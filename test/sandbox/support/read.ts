import { isPlainObject, mapValues, pick } from 'lodash';

import { CONVERSATION_SUMMARY_FIELDS } from '../../../nodes/XpertAi/operations/conversation/shared';
import { KNOWLEDGEBASE_SUMMARY_FIELDS } from '../../../nodes/XpertAi/operations/knowledgebase/fields';
import { isJustCreated } from '../../../nodes/XpertAi/threads/lockRecord';
import {
	failureReason,
	whatIsReportedMissing,
} from '../../../nodes/XpertAi/transport/failureReason';
import { endpoints } from '../../../sandbox/routes';

/** What is read of a value: all of it, or some of its fields. */
export type Shape = true | Shape[] | { [field: string]: Shape };

const fields = (names: readonly string[] | string, more: { [field: string]: Shape } = {}) => ({
	...Object.fromEntries(
		(typeof names === 'string' ? names.split(' ') : names).map((name) => [name, true as const]),
	),
	...more,
});

const TASK = fields('id name', { call: fields('id name args') });
const TASKS = { tasks: [TASK] };
const CONVERSATION = fields(CONVERSATION_SUMMARY_FIELDS, { operation: TASKS });
const PASSAGE = fields('documentId documentName knowledgebaseId snippet fileUrl chunkId');
const STEP_PASSAGE = fields('pageContent', {
	metadata: fields('chunkId'),
	document: fields('id name fileUrl'),
});
const TOOL_ANSWER = { chunks: [PASSAGE], diagnostics: [fields('filterStatus hitCount')] };
const PART = fields('type id text agentKey executionId xpertName', {
	data: fields('status type tool input output error', { data: [STEP_PASSAGE] }),
});
const RUN = fields('run_id thread_id assistant_id status created_at updated_at');
const MESSAGE = fields('id role createdAt executionId status error attachments', {
	content: [PART],
});
const ASSISTANT = fields('assistant_id name description updated_at', {
	metadata: fields('title slug workspaceId'),
	config: { agentConfig: fields('stateVariables', { retrievals: true }) },
});
const STATUS = fields('id status progress processMsg');
const KNOWLEDGEBASE = fields(KNOWLEDGEBASE_SUMMARY_FIELDS, {
	...fields('status metadataSchema embeddingRebuildError'),
	copilotModel: fields('model'),
	pendingCopilotModel: fields('model'),
});

/** The events of a stream that are read, and what of each. */
const EVENTS: Record<string, Shape> = {
	on_conversation_start: fields('id'),
	on_agent_start: fields('id agentKey xpertId parentId title'),
	on_agent_end: fields('id agentKey status'),
	on_conversation_end: fields('status error', { operation: TASKS }),
};

/**
 * What the node reads of the answers to its requests, by their routes: the fields of its schemas, of what it simplifies
 * and of what it checks. What a model counts is read as well, and not compared.
 */
export const READ: Record<string, Shape> = {
	E1: KNOWLEDGEBASE,
	E2: KNOWLEDGEBASE,
	E3: [fields('id sourceType sourceKey createdAt updatedAt')],
	E4: fields('content'),
	E5: { items: [CONVERSATION], total: true },
	E6: fields('client_secret expires_at'),
	E7: [ASSISTANT],
	E8: { items: [fields('prefix key value')] },
	E9: true,
	E11: fields('namespaces'),
	E12: fields('id fileId storageFileId originalName size mimeType status url summary'),
	E13: CONVERSATION,
	E14: fields('originalName'),
	E15: {
		...fields('thread_id status', { metadata: fields('id assistant_id') }),
		values: fields('input', {
			messages: [
				fields('id content', { tool_calls: [fields('id name args')], tool_call_id: true }),
			],
		}),
	},
	E16: fields('id originalName size mimetype url createdAt'),
	E17: fields('affected'),
	process: [fields('name', STATUS)],
	status: [STATUS],
	getAssistant: ASSISTANT,
	runs: RUN,
	listRuns: [RUN],
	run: RUN,
	cancel: fields('canceledExecutionIds'),
	join: [],
	usage: fields('run_id'),
	getConversation: CONVERSATION,
	updateConversation: CONVERSATION,
	deleteConversation: {},
	messages: { items: [MESSAGE] },
	getMessages: { items: [MESSAGE] },
	deleteMessage: {},
	me: fields('id'),
	feedbacks: fields('id messageId'),
	thread: {},
};

const ROUTES = endpoints.map(({ id, method, path, isOutside }) => ({
	id,
	method,
	path: new RegExp(`^/api${isOutside ? '' : '/ai'}${path.replace(/:\w+/g, '[^/]+')}(\\?.*)?$`),
}));

/** The route of a run that is asked for as a stream, which the sandbox has not, and a player plays otherwise. */
export const AS_STREAM = /\/runs\/stream$/;

/** What the route of a request is called, where the node reads the answer. */
export function routeOf(request: { method: string; path: string }): string | undefined {
	const id = ROUTES.find(
		({ method, path }) => method === request.method && path.test(request.path),
	)?.id;
	return id !== undefined && id in READ ? id : undefined;
}

/** What the node reads of an answer; of one that is no success the reason. */
export function readOf(route: string, status: number, body: unknown): unknown {
	if (status >= 400) {
		const { code } = body as { code?: unknown };
		return { reason: failureReason(body) ?? code, missing: whatIsReportedMissing(body) };
	}
	const read = shaped(READ[route] ?? true, body);
	return route === 'E13'
		? { ...(read as object), isJustCreated: isJustCreated(body as object) }
		: read;
}

/** What the node reads of an event, or nothing. */
export function eventRead(data: unknown): unknown {
	const { type, event = '', data: own } = data as { type: string; event?: string; data?: unknown };
	if (type === 'complete') return { type };
	if (type === 'message') return { type, data: shaped(PART, own) };
	return event in EVENTS ? { event, data: shaped(EVENTS[event] ?? true, own) } : undefined;
}

function shaped(shape: Shape, value: unknown): unknown {
	if (Array.isArray(value)) {
		return value.map((one) => shaped(Array.isArray(shape) ? (shape[0] ?? true) : shape, one));
	}
	if (typeof value === 'string') return textRead(value);
	if (!isPlainObject(value)) return value;
	const all = value as Record<string, unknown>;
	if (shape === true || Array.isArray(shape)) return mapValues(all, (one) => shaped(true, one));
	return mapValues(pick(all, Object.keys(shape)), (one, key) => shaped(shape[key] ?? true, one));
}

/** Moments and secrets are each server's own; of what a tool has found the passages are read. */
function textRead(text: string): unknown {
	if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return 'a moment';
	if (text.startsWith('cs-x-') || text === '<secret>') return 'a secret';
	const found = /^[{[]\s/.test(text) ? parsed(text) : undefined;
	if (Array.isArray(found)) return shaped([STEP_PASSAGE], found);
	if (found !== undefined && 'chunks' in found) return shaped(TOOL_ANSWER, found);
	return OWN_WORDS.reduce((kept, words) => kept.replace(words, ''), text);
}

function parsed(text: string): object | undefined {
	try {
		return JSON.parse(text) as object;
	} catch {
		return undefined;
	}
}

/** Within texts: how many words had come, what a model repeats of what it was given, and an older model's `SAY`. */
const OWN_WORDS = [
	/^(?:word\d+ ?)+$/,
	/(?<=ALL: )[^]*/,
	/(?<=(?:RESULT|Tool said): )[[{][^]*/,
	/(?<=<file_understanding>)[^]*/,
	/SAY {2,}/g,
];

const namesIn = (shape: Shape): string[] => {
	if (shape === true) return [];
	if (Array.isArray(shape)) return shape.flatMap(namesIn);
	return Object.entries(shape).flatMap(([name, one]) => [name, ...namesIn(one)]);
};

export const NAMES_READ = [READ, EVENTS, PART, TOOL_ANSWER].flatMap(namesIn);
