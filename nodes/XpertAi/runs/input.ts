import cloneDeep from 'lodash/cloneDeep';
import get from 'lodash/get';
import isEmpty from 'lodash/isEmpty';
import map from 'lodash/map';
import omit from 'lodash/omit';
import set from 'lodash/set';

import type { ThreadState } from '../threads/thread';

/** The request body of E4, which can be written as JSON. */
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

/** The values for filters in a message, by their keys. */
export function filterValuesIn(body: RunBody): object {
	return omit(get(body, 'input.message.input') ?? {}, MESSAGE_KEYS);
}

/** Puts a mark into the body of a message. */
export function withMessageMark(message: RunBody, mark: string): RunBody {
	return set(cloneDeep(message), `input.message.input.${MARK}`, mark);
}

/** The mark of the newest question of a thread. */
export function messageMarkOf(state: ThreadState | undefined): unknown {
	return get(state, `values.human.${MARK}`);
}

/** Targets a decision at a run, which continues under its own ID (recorded). */
export function withTarget(decision: RunBody, runId: string): RunBody {
	return set(cloneDeep(decision), 'input.target', { executionId: runId });
}

/** What a body asks for. */
export function intentOf(kind: RunKind, body: RunBody): Intent {
	const calls: unknown = get(body, `${PATCH}.toolCalls`);
	return {
		kind,
		text: get(body, 'input.message.input.input') as string | undefined,
		rejects: get(body, 'input.decision.type') === 'reject',
		changes: isEmpty(calls) ? undefined : map(calls as unknown[], 'id'),
	};
}
