import compact from 'lodash/compact';
import truncate from 'lodash/truncate';

import {
	EVERY_UUID,
	UUID_DEMAND,
	hasLoneSurrogate,
	isUuid,
	missingValueIn,
} from '../payloads/common';
import { isJsonObject, recordWith } from '../transport/answer';
import type { Flaw } from './badInput';

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
	subject: string;
	id: string;
}

/** What is wrong with an ID; undefined if it may be sent. */
export function idFlaw({ name, subject, id }: NamedId): Flaw | undefined {
	if (!mayBeId(id)) return { subject, demand: 'must be an ID', value: id };
	if (isAddress(id))
		return { subject, demand: 'must be an ID, or the address of a page that has it', value: id };
	if (name === CHOSEN_ID || isUuid(id)) return undefined;
	// Without other characters it is part of a UUID rather than the name of a record.
	if (!/[^\da-f-]/i.test(id)) return { subject, demand: UUID_DEMAND, value: id };
	const given = truncate(`"${id}"`, { length: 80 });
	const cure = 'paste the ID, or the address of its page';
	return { subject, demand: `must be an ID, but ${given} is a name: ${cure}` };
}

/** Whether a text may be an ID of any kind. Dots change the path; a lone surrogate cannot be part of an address. */
function mayBeId(text: string): boolean {
	return !/^\.\.?$/.test(text) && !hasLoneSurrogate(text) && missingValueIn(text) === undefined;
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
