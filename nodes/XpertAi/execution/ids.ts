import truncate from 'lodash/truncate';

import {
	EVERY_UUID,
	UUID_DEMAND,
	hasLoneSurrogate,
	isUuid,
	missingValueIn,
} from '../payloads/common';
import { answerWith, holds, isJsonObject } from '../transport/answer';
import type { Flaw } from './badInput';

/** The id a resource locator, or an expression in its place, gives; what cannot be one stays as it is. */
export function chosenId(raw: unknown): unknown {
	const value = isLocator(raw) ? raw.value : raw;
	const id = typeof value === 'number' ? String(value) : value;
	return typeof id === 'string' ? idInAddress(id.trim()) : id;
}

/** The one id that callers may choose: a thread's may be any text (E13). */
const CHOSEN_ID = 'threadId';

/** An id that is sent, by what it came from. */
export interface NamedId {
	/** The parameter as messages have it, e.g. `"Thread"`. */
	subject: string;
	id: string;
	/** Whether any text may be such an id, so that it is right also where it is no UUID. */
	isAnyText?: boolean;
}

/** @param name the parameter that holds the id, or the last key of its place in a body */
export function namedId(name: string, subject: string, id: string): NamedId {
	return { subject, id, ...(name === CHOSEN_ID ? { isAnyText: true } : {}) };
}

/** What is wrong with an id; nothing where it may be sent. */
export function idFlaw({ subject, id, isAnyText }: NamedId): Flaw | undefined {
	if (!mayBeId(id)) return { subject, demand: 'must be an ID', value: id };
	if (isAddress(id))
		return { subject, demand: 'must be an ID, or the address of a page that has it', value: id };
	if (isAnyText || isUuid(id)) return undefined;
	if (!isName(id)) return { subject, demand: UUID_DEMAND, value: id };
	const name = truncate(`"${id}"`, { length: 80 });
	const cure = 'paste the ID, or the address of its page';
	return { subject, demand: `must be an ID, but ${name} is a name: ${cure}` };
}

/** Whether it is no part of a UUID either, but what people call a record. */
const isName = (text: string): boolean => /[^\da-f-]/i.test(text);

/** Segments of a path that lead elsewhere. */
const OTHER_PLACES = ['.', '..'];

/** Whether a text may be an id of whatever kind; half a surrogate pair cannot stand in an address. */
function mayBeId(text: string): boolean {
	return (
		!OTHER_PLACES.includes(text) && !hasLoneSurrogate(text) && missingValueIn(text) === undefined
	);
}

/** A pasted address stands for the last UUID in it. */
function idInAddress(text: string): string {
	if (!isAddress(text)) return text;
	return text.match(EVERY_UUID)?.at(-1) ?? text;
}

const isAddress = (text: string): boolean => /^https?:\/\//i.test(text);

function isLocator(value: unknown): value is { value: unknown } {
	return isJsonObject(value) && 'value' in value;
}

/** The ids, or the names, in a text with commas. */
export function splitIds(text: string): string[] {
	return text
		.split(',')
		.map((id) => id.trim())
		.filter(Boolean);
}

/**
 * Makes the check of an answer that must be the record that was asked for: the id of another one is somebody
 * else's answer.
 *
 * @param what what the record is, in the user's words
 * @param key where it has its id
 */
export function answerAbout(what: string, key = 'id') {
	return (answer: unknown, [asked]: NamedId[]): string | undefined => {
		if (!holds(answer, key)) return answerWith(key)(answer);
		const isAsked = String(answer[key]).toLowerCase() === asked?.id.toLowerCase();
		return isAsked ? undefined : `it is about another ${what}`;
	};
}
