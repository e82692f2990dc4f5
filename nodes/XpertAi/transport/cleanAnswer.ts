import { forOwn } from 'lodash';

import type { Redact } from './redact';

/**
 * Keys whose values are error texts of a server. `cleanAnswer` also treats the names of `tasks` and the outputs of
 * failed tools as error texts.
 */
const ERROR_TEXT_KEY_PATTERN = /^(?:error|processMsg|embeddingRebuildError)$/;

/**
 * The prefix of texts that the node stores in the `processMsg` of documents. These texts are not redacted, because the
 * node must read them unchanged.
 */
export const MEMORY_NOTE_PREFIX = 'n8n-memory-';

/** Keys whose values belong to the user: `args` of a tool call, `metadata` of a document, and `value` of the store. */
const USER_DATA_KEY_PATTERN = /^(?:args|metadata|value)$/;

/** Where a field of an answer is. Decides how its value is cleaned. */
interface FieldPlace {
	/** The key of the field. For an entry of a list, the key of the list. */
	key: string;
	/** Whether the field or an outer field has a key of error texts. `isErrorText` makes exceptions. */
	hasErrorKey: boolean;
	isMetadata: boolean;
	/** Whether the field or an outer field matches `USER_DATA_KEY_PATTERN`. */
	isUserData: boolean;
	isOfTool: boolean;
}

const ROOT_PLACE: FieldPlace = {
	key: '',
	hasErrorKey: false,
	isMetadata: false,
	isUserData: false,
	isOfTool: false,
};

/**
 * Cleans an answer in place. Deletes `credentials`, which can contain API keys of model providers. Keeps a field of this
 * name in the user's own data (see `USER_DATA_KEY_PATTERN`), unless it is directly in `modelProvider`. Redacts error texts
 * (see `ERROR_TEXT_KEY_PATTERN`), and the token in the inputs and outputs of tools. Other texts stay unchanged. Uses no
 * recursion, because answers can be nested deeply.
 */
export function cleanAnswer(answer: unknown, redact: Redact): void {
	const redactToken = redact.redactTokenOnly ?? redact;
	const left = [{ value: answer, outer: ROOT_PLACE }];
	for (let next = left.pop(); next; next = left.pop()) {
		const { value, outer } = next;
		forOwn(value as Record<string, unknown>, (child, key, record) => {
			const place = placeOf(key, record, outer);
			const mayHoldApiKeys = !place.isUserData || outer.key === 'modelProvider';
			if (key === 'credentials' && mayHoldApiKeys) delete record[key];
			else if (typeof child !== 'string') left.push({ value: child, outer: place });
			else if (isErrorText(key, child, place)) record[key] = redact(child);
			else if (place.isOfTool) record[key] = redactToken(child);
		});
	}
}

/**
 * Returns the place of a field.
 *
 * @param record the object or the list that contains the field
 * @param outer the place of `record`
 */
function placeOf(key: string, record: Record<string, unknown>, outer: FieldPlace): FieldPlace {
	const isTaskName = outer.key === 'tasks' && key === 'name';
	return {
		key: Array.isArray(record) ? outer.key : key,
		hasErrorKey: outer.hasErrorKey || isTaskName || ERROR_TEXT_KEY_PATTERN.test(key),
		// The metadata of a document belongs to the user. A key `error` in metadata is not an error text.
		isMetadata: outer.isMetadata || (key === 'metadata' && !outer.hasErrorKey),
		isUserData: outer.isUserData || USER_DATA_KEY_PATTERN.test(key),
		isOfTool: outer.isOfTool || isToolKey(key, record),
	};
}

/** Whether a text is an error text of the server or of a tool. A note of the node is not. */
function isErrorText(key: string, text: string, place: FieldPlace): boolean {
	if (place.isMetadata) return false;
	return (place.hasErrorKey && !text.startsWith(MEMORY_NOTE_PREFIX)) || isToolError(key, text);
}

/** Whether a field holds the call or the result of a tool, in a part of an answer or in a message on a thread. */
const isToolKey = (key: string, { type, tool_call_id: callId }: Record<string, unknown>) =>
	(key === 'data' && type === 'component') ||
	(key === 'content' && typeof callId === 'string') ||
	key === 'tool_calls';

/** Whether a text is the output of a tool that failed. */
const isToolError = (key: string, text: string) => key === 'output' && text.startsWith('Error: ');
