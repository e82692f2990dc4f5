import cloneDeep from 'lodash/cloneDeep';
import get from 'lodash/get';
import isEmpty from 'lodash/isEmpty';
import isPlainObject from 'lodash/isPlainObject';
import omit from 'lodash/omit';
import set from 'lodash/set';

import type { ThreadState } from '../threads/thread';

/** A body of E4, which has a JSON text; the user may have written it. */
export type RunBody = Record<string, unknown>;

/** What is said to the assistant, as it was read of fields. */
export type RunInput =
	| {
			kind: 'message';
			text: unknown;
			/** What filters of the assistant take from the message, by their keys. */
			values?: Record<string, unknown>;
			/** Ids of file contexts (E12) and of storage files (E12's `storageFileId`, E16). */
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
			/** Other arguments for calls that wait, by the ids of the calls. */
			changedArguments?: Record<string, unknown>;
	  }
	| { kind: 'retry' };

/** The `input` of E4's body that says it (service behaviour, E4). Checked with the whole body. */
export function runInput(input: RunInput): Record<string, unknown> {
	switch (input.kind) {
		case 'message':
			return messageInput(input);
		case 'decision': {
			const { decision: type, payload, target } = input;
			// A rejection with a payload, even an empty one, carries out what was rejected.
			const given = type === 'reject' ? {} : { payload };
			const toolCalls = type === 'reject' ? [] : changesOf(input.changedArguments);
			return {
				...{ action: 'resume', target: target ?? {}, decision: { type, ...given } },
				...(isEmpty(toolCalls) ? {} : { patch: { toolCalls } }),
			};
		}
		case 'retry':
			return { action: 'retry', source: {} };
	}
}

function changesOf(byCall: Record<string, unknown> = {}): unknown[] {
	return Object.entries(byCall).map(([id, args]) => ({ id, args }));
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

/** The body of a message with further file contexts (E12) after the files it has. */
export function withFileContexts(message: RunBody, ids: string[]): RunBody {
	const given: unknown = get(message, FILES);
	const files = [given ?? [], ids.map((fileId) => ({ fileId }))].flat();
	return set(cloneDeep(message), FILES, files);
}

/** What a body of E4 asks for, as far as it tells. */
export interface Asked {
	kind: RunInput['kind'];
	/** The text of its message. */
	text?: string;
	/** Whether its decision is a no. */
	rejects?: boolean;
	/** The calls whose arguments it changes, by their ids; one that it does not name has none. */
	changes?: unknown[];
}

const PATCH = 'input.patch';

/** Where a message has a mark of ours: the model does not get it, and the thread shows that of its newest question (recorded). */
const MARK = 'n8nMark';

/** What a message has beside the values that filters take from it. */
export const OWN_KEYS = ['input', 'files', 'references', 'clientMessageId', MARK];

/** Whether a message gives filters of the assistant anything to take. */
export function givesFilterValues(message: RunBody): boolean {
	return !isEmpty(omit(get(message, 'input.message.input') ?? {}, OWN_KEYS));
}

/** The body of a message with a mark; a body of another form stays as it is. */
export function withMark(message: RunBody, mark: string): RunBody {
	const isMarkable = isPlainObject(get(message, 'input.message.input'));
	return isMarkable ? set(cloneDeep(message), `input.message.input.${MARK}`, mark) : message;
}

/** The mark of the newest question of a thread. */
export function markOn(state: ThreadState): unknown {
	return get(state, `values.human.${MARK}`);
}

/** The body of a decision about a run by its number, which goes on under it (recorded); the user's own target stays. */
export function withTarget(decision: RunBody, executionId: string | undefined): RunBody {
	const isOpen = isEmpty(get(decision, 'input.target'));
	if (executionId === undefined || !isOpen) return decision;
	return set(cloneDeep(decision), 'input.target', { executionId });
}

/** The body of a decision that changes no arguments. */
export function withoutChanges(decision: RunBody): RunBody {
	return omit(decision, PATCH);
}

/** Whether a body of E4 is a rejection with a payload, of any value: the server carries out what it rejects. */
export function rejectsWithPayload(body: RunBody): boolean {
	const decision: unknown = get(body, 'input.decision');
	return get(decision, 'type') === 'reject' && get(decision, 'payload') !== undefined;
}

/** Reads what a body of E4 asks for, also one that the user wrote; anything unknown is a message. */
export function askedBy(body: RunBody): Asked {
	const action: unknown = get(body, 'input.action');
	const rejects = get(body, 'input.decision.type') === 'reject';
	if (action === 'resume') return { kind: 'decision', ...(rejects ? { rejects } : changed(body)) };
	if (action === 'retry') return { kind: 'retry' };
	// The older form has no action and no message around its input.
	const text: unknown = get(body, 'input.message.input.input') ?? get(body, 'input.input.input');
	return { kind: 'message', ...(typeof text === 'string' ? { text } : {}) };
}

function changed(body: RunBody): Pick<Asked, 'changes'> {
	const calls: unknown = get(body, `${PATCH}.toolCalls`);
	if (!Array.isArray(calls) || isEmpty(calls)) return {};
	return { changes: calls.map((call) => get(call, 'id') as unknown) };
}
