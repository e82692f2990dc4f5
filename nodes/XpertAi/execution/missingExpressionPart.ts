import { attempt, isEmpty, isObject } from 'lodash';

import { hasLostDigits, type MissingPart } from '../payloads/identity';
import { missingValueIssue, missingValueWordIn } from '../payloads/missingValues';
import { LOST_DIGITS_ADVICE } from './fieldSchemas';
import {
	EMPTY_EXPRESSION_ADVICE,
	emptyExpressionIssue,
	emptyValueName,
	isBlank,
} from './givenValues';
import type { ParameterReader } from './parameterReader';
import { shownValue } from './issueText';

const missingPartErrors = new WeakSet<object>();

/**
 * Whether `throwMissingPart` threw this error. After such an error, it is unclear which documents the source contains.
 */
export const isMissingPartError = (error: unknown): boolean =>
	isObject(error) && missingPartErrors.has(error);

/**
 * Throws an error about a part that is missing.
 *
 * @param texts `howToCorrect`: the advice, unless the item is empty or the value has lost digits. `issueAddition`: what the
 * message says in addition if the part is blank
 */
export function throwMissingPart(
	item: ParameterReader,
	label: string,
	missing: MissingPart,
	{ howToCorrect = EMPTY_EXPRESSION_ADVICE, issueAddition = '' } = {},
): never {
	const advice =
		item.emptyItemAdvice ??
		(hasLostDigits(missing.gave) ? LOST_DIGITS_ADVICE : `${item.fieldsInWords}${howToCorrect}`);
	const issue = `${missingPartIssue(missing)}${isBlank(missing.gave) ? issueAddition : ''}`;
	const error = attempt(() => item.throwIssue({ label, issue, advice }));
	missingPartErrors.add(error as object);
	throw error as Error;
}

/** Returns what is wrong with the value that a part gave, as the end of a sentence. */
function missingPartIssue(missing: MissingPart): string {
	const { gave, isAlone } = missing;
	const lacksPart = `lacks a part: ${shownCode(missing)} gave`;
	const isNothingInside = isBlank(gave) || (isObject(gave) && isEmpty(gave));
	if (isAlone && isNothingInside) return emptyExpressionIssue(gave);
	if (isBlank(gave)) return `${lacksPart} ${emptyValueName(gave)} for this item`;
	// A word such as `undefined` stands for a missing value.
	const word = typeof gave === 'string' ? missingValueWordIn(gave) : undefined;
	if (word !== undefined) return missingValueIssue(word);
	return `${lacksPart} ${hasLostDigits(gave) ? 'a number without its last digits' : shownValue(gave)}`;
}

/** Returns the code of a part as in an expression, in at most 80 characters. */
const shownCode = ({ code }: MissingPart): string =>
	`{{ ${code.length > 80 ? `${code.slice(0, 80)}…` : code} }}`;
