import cloneDeep from 'lodash/cloneDeep';
import get from 'lodash/get';
import isEmpty from 'lodash/isEmpty';
import isPlainObject from 'lodash/isPlainObject';
import map from 'lodash/map';
import omit from 'lodash/omit';
import set from 'lodash/set';

import type { ThreadState } from '../threads/thread';

/** The request body of E4, which can be written as JSON. The user may have written it. */
export type RunBody = Record<string, unknown>;

/** What a run does. */
export type RunKind = 'message' | 'decision' | 'retry';

const FILES = 'input.message.input.files';

/** Appends file contexts (E12) to the files of a message body. */
export function withFileContexts(message: RunBody, ids: string[]): RunBody {
	const present: unknown = get(message, FILES);
	const files = [present ?? [], ids.map((fileId) => ({ fileId }))].flat();
	return set(cloneDeep(message), FILES, files);
}

/** What a body of E4 asks the server to do. */
export interface Intent {
	kind: RunKind;
	/** The text of the message. */
	text?: string;
	/** Whether the decision is a rejection. */
	rejects?: boolean;
	/** The IDs of the tool calls whose arguments are changed; undefined for a change that names no call. */
	changes?: unknown[];
}

/** Path of the changed arguments in a decision. */
export const PATCH = 'input.patch';

/** Key of the mark to find a lost run by. Models do not get it; the thread shows the newest one (recorded). */
const MARK = 'n8nMark';

/** The keys of a message that are not values for filters. */
export const MESSAGE_KEYS = ['input', 'files', 'references', 'clientMessageId', MARK];

/** Whether a message contains values for filters. */
export function hasFilterValues(message: RunBody): boolean {
	return !isEmpty(omit(get(message, 'input.message.input') ?? {}, MESSAGE_KEYS));
}

/** Puts a mark into a message body; a body of another form is returned unchanged. */
export function withMessageMark(message: RunBody, mark: string | undefined): RunBody {
	const isMarkable = isPlainObject(get(message, 'input.message.input'));
	return isMarkable ? set(cloneDeep(message), `input.message.input.${MARK}`, mark) : message;
}

/** The mark of the newest question of a thread. */
export function messageMarkOf(state: ThreadState | undefined): unknown {
	return get(state, `values.human.${MARK}`);
}

/** Targets a decision at a run, which continues under its own ID (recorded). A target that the user set is kept. */
export function withTarget(decision: RunBody, runId: string): RunBody {
	const isOpen = isEmpty(get(decision, 'input.target'));
	return isOpen ? set(cloneDeep(decision), 'input.target', { executionId: runId }) : decision;
}

/** Whether a body is a rejection with a payload of any value. The server would carry out what it rejects. */
export function rejectsWithPayload(body: RunBody): boolean {
	const decision: unknown = get(body, 'input.decision');
	return get(decision, 'type') === 'reject' && get(decision, 'payload') !== undefined;
}

/** Classifies a body of E4, also one that the user wrote. Any unknown form is a message. */
export function intentOf(body: RunBody): Intent {
	switch (get(body, 'input.action')) {
		case 'resume': {
			if (get(body, 'input.decision.type') === 'reject') return { kind: 'decision', rejects: true };
			const calls: unknown = get(body, `${PATCH}.toolCalls`);
			if (!Array.isArray(calls) || isEmpty(calls)) return { kind: 'decision' };
			return { kind: 'decision', changes: map(calls, 'id') };
		}
		case 'retry':
			return { kind: 'retry' };
		default: {
			// The older form has no action, and no message around its input.
			const text: unknown =
				get(body, 'input.message.input.input') ?? get(body, 'input.input.input');
			return { kind: 'message', ...(typeof text === 'string' && { text }) };
		}
	}
}
