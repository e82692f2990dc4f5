import { cloneDeep, get, isEmpty, map, omit, set } from 'lodash';

import type { ThreadState } from '../threads/thread';

/** The body of a request that starts a run. */
export type RunBody = Record<string, unknown>;

/** The kind of request: a new message, a decision on a waiting run, or a retry of the last message. */
export type RunKind = 'message' | 'decision' | 'retry';

/** Path of the attached files in the body of a message. */
const FILES_BODY_PATH = ['input', 'message', 'input', 'files'];

const withValue = (body: RunBody, path: string[], value: unknown) =>
	set(cloneDeep(body), path, value);

/** Returns a copy of a message body with additional files. `ids` are the IDs of uploaded file contexts (E12). */
export function withFileContexts(message: RunBody, ids: string[]): RunBody {
	const present: unknown = get(message, FILES_BODY_PATH) ?? [];
	const added = ids.map((fileId) => ({ fileId }));
	return withValue(message, FILES_BODY_PATH, [present, added].flat());
}

/** What a run is to do. */
export interface Intent {
	kind: RunKind;
	/** The text of a message; undefined for a decision or a retry. */
	text?: string;
	/** Whether a decision rejects the waiting tool calls. */
	rejects?: boolean;
	/** IDs of the tool calls with changed arguments; undefined if a decision changes no arguments. */
	changedCallIds?: unknown[];
}

/** Path of the changed arguments in the body of a decision. */
const CHANGED_ARGUMENTS_BODY_PATH = ['input', 'patch'];

/**
 * Key of the message mark, a random ID that the node adds to a message. If the server's answer is lost, the node finds
 * the run by its message mark. The server does not send the message mark to models.
 */
const MARK_KEY = 'n8nMark';

/** Keys in the input of a message that do not contain filter values. */
export const NON_FILTER_KEYS = ['input', 'files', 'references', 'clientMessageId', MARK_KEY];

/** Returns the filter values of a message body, by key. */
export const valuesForFilters = (body: RunBody): object =>
	omit(get(body, ['input', 'message', 'input']) ?? {}, NON_FILTER_KEYS);

/** Returns a copy of a message body with a message mark. */
export const withMessageMark = (message: RunBody, mark: string) =>
	withValue(message, ['input', 'message', 'input', MARK_KEY], mark);

/** Returns the message mark of the newest user message on a thread; undefined if this message has none. */
export const newestMessageMarkOf = (state: ThreadState | undefined): unknown =>
	get(state, `values.human.${MARK_KEY}`);

/** Returns a copy of a decision without the changed arguments. */
export const withoutChanges = (decision: RunBody) =>
	withValue(decision, CHANGED_ARGUMENTS_BODY_PATH, undefined);

/** Returns a copy of a decision with the waiting run as its target. Without a target, the run would get a new ID. */
export const withTargetRun = (decision: RunBody, runId: string) =>
	withValue(decision, ['input', 'target'], { executionId: runId });

/** Reads from a request body what the run is to do. */
export function intentOf(kind: RunKind, body: RunBody): Intent {
	const calls: unknown = get(body, [...CHANGED_ARGUMENTS_BODY_PATH, 'toolCalls']);
	return {
		kind,
		text: get(body, ['input', 'message', 'input', 'input']) as string | undefined,
		rejects: get(body, ['input', 'decision', 'type']) === 'reject',
		changedCallIds: isEmpty(calls) ? undefined : map(calls as unknown[], 'id'),
	};
}
