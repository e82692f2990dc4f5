import cloneDeep from 'lodash/cloneDeep';
import get from 'lodash/get';
import isEmpty from 'lodash/isEmpty';
import isPlainObject from 'lodash/isPlainObject';
import omit from 'lodash/omit';
import set from 'lodash/set';

import type { ThreadState } from '../threads/thread';

/** The request body of E4, which can be written as JSON. The user may have written it. */
export type RunBody = Record<string, unknown>;

/** What to send to the assistant, as read from the fields. */
export type RunInput =
	| {
			kind: 'message';
			text: unknown;
			/** Values for filters of the assistant, by key. */
			values?: Record<string, unknown>;
			/** IDs of file contexts (E12) and of storage files (E12's `storageFileId`, E16). */
			fileContextIds?: string[];
			storageFileIds?: string[];
			state?: unknown;
			environmentId?: unknown;
			projectId?: unknown;
	  }
	| {
			kind: 'decision';
			decision: unknown;
			payload?: unknown;
			target?: unknown;
			/** New arguments for waiting tool calls, by call ID. */
			changedArguments?: Record<string, unknown>;
	  }
	| { kind: 'retry' };

/** Builds the `input` of the body of E4 (service behaviour, E4). The schema checks it with the whole body. */
export function runInput(input: RunInput): Record<string, unknown> {
	switch (input.kind) {
		case 'message':
			return messageInput(input);
		case 'decision': {
			const { decision: type, payload, target } = input;
			// The server carries out a rejection that has a payload, even an empty one.
			const data = type === 'reject' ? {} : { payload };
			const toolCalls = type === 'reject' ? [] : toolCallPatches(input.changedArguments);
			return {
				...{ action: 'resume', target: target ?? {}, decision: { type, ...data } },
				...(isEmpty(toolCalls) ? {} : { patch: { toolCalls } }),
			};
		}
		case 'retry':
			return { action: 'retry', source: {} };
	}
}

function toolCallPatches(byCallId: Record<string, unknown> = {}): unknown[] {
	return Object.entries(byCallId).map(([id, args]) => ({ id, args }));
}

function messageInput(input: Extract<RunInput, { kind: 'message' }>): Record<string, unknown> {
	const { text, values, fileContextIds = [], storageFileIds = [] } = input;
	const { state, environmentId, projectId } = input;
	const files = [
		...fileContextIds.map((fileId) => ({ fileId })),
		...storageFileIds.map((id) => ({ id })),
	];
	return {
		action: 'send',
		message: { input: { ...values, input: text, ...(isEmpty(files) ? {} : { files }) } },
		state,
		environmentId,
		projectId,
	};
}

const FILES = 'input.message.input.files';

/** Appends file contexts (E12) to the files of a message body. */
export function withFileContexts(message: RunBody, ids: string[]): RunBody {
	const present: unknown = get(message, FILES);
	const files = [present ?? [], ids.map((fileId) => ({ fileId }))].flat();
	return set(cloneDeep(message), FILES, files);
}

/** What a body of E4 asks the server to do. */
export interface Intent {
	kind: RunInput['kind'];
	/** The text of the message. */
	text?: string;
	/** Whether the decision is a rejection. */
	rejects?: boolean;
	/** The IDs of the tool calls whose arguments are changed; undefined for a change that names no call. */
	changes?: unknown[];
}

const PATCH = 'input.patch';

/** Key of the mark to find a lost run by. Models do not get it; the thread shows the newest one (recorded). */
const MARK = 'n8nMark';

/** The keys of a message that are not values for filters. */
export const MESSAGE_KEYS = ['input', 'files', 'references', 'clientMessageId', MARK];

/** Whether a message contains values for filters. */
export function hasFilterValues(message: RunBody): boolean {
	return !isEmpty(omit(get(message, 'input.message.input') ?? {}, MESSAGE_KEYS));
}

/** Puts a mark into a message body; a body of another form is returned unchanged. */
export function withMark(message: RunBody, mark: string): RunBody {
	const isMarkable = isPlainObject(get(message, 'input.message.input'));
	return isMarkable ? set(cloneDeep(message), `input.message.input.${MARK}`, mark) : message;
}

/** The mark of the newest question of a thread. */
export function markOf(state: ThreadState): unknown {
	return get(state, `values.human.${MARK}`);
}

/** Targets a decision at a run, which continues under its own ID (recorded). A target that the user set is kept. */
export function withTarget(decision: RunBody, executionId: string | undefined): RunBody {
	const isOpen = isEmpty(get(decision, 'input.target'));
	if (executionId === undefined || !isOpen) return decision;
	return set(cloneDeep(decision), 'input.target', { executionId });
}

/** The body of a decision without changed arguments. */
export function withoutChanges(decision: RunBody): RunBody {
	return omit(decision, PATCH);
}

/** Whether a body is a rejection with a payload of any value. The server would carry out what it rejects. */
export function rejectsWithPayload(body: RunBody): boolean {
	const decision: unknown = get(body, 'input.decision');
	return get(decision, 'type') === 'reject' && get(decision, 'payload') !== undefined;
}

/** Classifies a body of E4, also one that the user wrote. Any unknown form is a message. */
export function intentOf(body: RunBody): Intent {
	const action: unknown = get(body, 'input.action');
	const rejects = get(body, 'input.decision.type') === 'reject';
	if (action === 'resume')
		return { kind: 'decision', ...(rejects ? { rejects } : changesIn(body)) };
	if (action === 'retry') return { kind: 'retry' };
	// The older form has no action, and no message around its input.
	const text: unknown = get(body, 'input.message.input.input') ?? get(body, 'input.input.input');
	return { kind: 'message', ...(typeof text === 'string' ? { text } : {}) };
}

function changesIn(body: RunBody): Pick<Intent, 'changes'> {
	const calls: unknown = get(body, `${PATCH}.toolCalls`);
	if (!Array.isArray(calls) || isEmpty(calls)) return {};
	return { changes: calls.map((call) => get(call, 'id') as unknown) };
}
