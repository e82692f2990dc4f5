import compact from 'lodash/compact';

import { EVERY_UUID, hasLoneSurrogate, isUuid, missingValueIn } from '../payloads/common';
import { isJsonObject, recordWith } from '../transport/answer';
import type { InputIssue } from './inputIssues';

/** The ID from a resource locator or a plain value; any other value is returned unchanged. */
export function chosenId(raw: unknown): unknown {
	const value = isJsonObject(raw) && 'value' in raw ? raw.value : raw;
	const id = typeof value === 'number' ? String(value) : value;
	return typeof id === 'string' ? idInAddress(id.trim()) : id;
}

/** Only thread IDs may be any text, as the caller may choose them. */
const CHOSEN_ID = 'threadId';

/** An ID to send, and the parameter it came from. */
export interface NamedId {
	/** The parameter with the ID, or the last key of its path in a body; only a `threadId` may be any text. */
	name?: string;
	/** The parameter as messages name it, e.g. `"Thread"`. */
	field: string;
	id: string;
}

/**
 * What is wrong with an ID; undefined if it may be sent. Dots change the path; a lone surrogate cannot be part of an
 * address.
 */
export function idIssue({ name, field, id }: NamedId): InputIssue | undefined {
	const isText = !hasLoneSurrogate(id) && missingValueIn(id) === undefined;
	const mayBeChosen = isText && !/^\.\.?$/.test(id) && !isAddress(id);
	if (isUuid(id) || (name === CHOSEN_ID && mayBeChosen)) return undefined;
	const fix = 'Paste the ID, or the address of its own page: a name is no ID.';
	return { field, rule: 'must be an ID', value: id, fix };
}

/** Takes the last UUID from a pasted address. */
function idInAddress(text: string): string {
	if (!isAddress(text)) return text;
	return text.match(EVERY_UUID)?.at(-1) ?? text;
}

const isAddress = (text: string): boolean => /^https?:\/\//i.test(text);

/** The IDs or names in a list. */
export const splitList = (text: string, separator: string | RegExp = ',') =>
	compact(text.split(separator).map((one) => one.trim()));

/**
 * Makes the schema of an answer that is the record asked for.
 *
 * @param what the kind of record, as users call it
 * @param key the key of its ID
 */
export function recordAbout(what: string, key = 'id') {
	return (asked: Record<string, string>) =>
		recordWith(key).refine(
			(answer) => String(answer[key]).toLowerCase() === Object.values(asked)[0]?.toLowerCase(),
			`it is about another ${what}`,
		);
}
