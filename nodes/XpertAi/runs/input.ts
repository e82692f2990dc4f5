import get from 'lodash/get';
import has from 'lodash/has';
import isEmpty from 'lodash/isEmpty';
import omitBy from 'lodash/omitBy';
import set from 'lodash/set';

import { parseAnswer } from '../transport/answer';
import { textOf } from './messages';

/** What is said to the assistant, as it was read of fields. */
export type RunInput =
	| {
			kind: 'message';
			text: unknown;
			/** Ids of file contexts (E12) and of storage files (E12's `storageFileId`, E16). */
			fileContextIds?: string[];
			storageFileIds?: string[];
			state?: unknown;
			environmentId?: unknown;
			projectId?: unknown;
	  }
	| { kind: 'decision'; decision: unknown; payload?: unknown; target?: unknown }
	| { kind: 'retry' };

/** The `input` of E4's body that says it (service behaviour, E4). Checked with the whole body. */
export function runInput(input: RunInput): Record<string, unknown> {
	switch (input.kind) {
		case 'message':
			return messageInput(input);
		case 'decision': {
			const { decision: type, payload, target } = input;
			// A rejection with a payload, even an empty one, carries out what was rejected.
			const given = payload === undefined || type === 'reject' ? {} : { payload };
			return { action: 'resume', target: target ?? {}, decision: { type, ...given } };
		}
		case 'retry':
			return { action: 'retry', source: {} };
	}
}

function messageInput(input: Extract<RunInput, { kind: 'message' }>): Record<string, unknown> {
	const { text, fileContextIds = [], storageFileIds = [] } = input;
	const { state, environmentId, projectId } = input;
	const files = [
		...fileContextIds.map((fileId) => ({ fileId })),
		...storageFileIds.map((id) => ({ id })),
	];
	return {
		action: 'send',
		message: { input: { input: text, ...(isEmpty(files) ? {} : { files }) } },
		...omitBy({ state, environmentId, projectId }, (value) => value === undefined),
	};
}

const FILES = 'input.message.input.files';

/** The body of a message, as JSON text, with further file contexts (E12) after the files it has. */
export function withFileContexts(message: string, ids: string[]): string {
	const body = JSON.parse(message) as object;
	const given: unknown = get(body, FILES);
	const files = [given ?? [], ids.map((fileId) => ({ fileId }))].flat();
	return JSON.stringify(set(body, FILES, files));
}

/** What a body of E4 asks for, as far as it tells. */
export interface Asked {
	kind: RunInput['kind'];
	/** The text of its message. */
	text?: string;
	/** Whether its decision is a no. */
	rejects?: boolean;
}

/** Whether a body of E4 is a rejection with a payload, of any value: the server carries out what it rejects. */
export function rejectsWithPayload(body: string): boolean {
	const decision: unknown = get(parseAnswer(body), 'input.decision');
	return get(decision, 'type') === 'reject' && has(decision, 'payload');
}

/** Reads what a body of E4 asks for, also one that the user wrote; anything unknown is a message. */
export function askedBy(body: string): Asked {
	const json = parseAnswer(body);
	const action: unknown = get(json, 'input.action');
	const rejects = get(json, 'input.decision.type') === 'reject';
	if (action === 'resume') return { kind: 'decision', ...(rejects ? { rejects } : {}) };
	if (action === 'retry') return { kind: 'retry' };
	const text: unknown = get(json, 'input.message.input.input') ?? get(json, 'input.input.input');
	if (typeof text === 'string') return { kind: 'message', text };
	const messages: unknown = get(json, 'input.messages');
	const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
	return last === undefined
		? { kind: 'message' }
		: { kind: 'message', text: textOf(get(last, 'content')) };
}
