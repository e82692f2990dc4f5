import { get, inRange, isInteger } from 'lodash';
import { z } from 'zod';

import { isJsonObject } from '../payloads/json';
import { openObject, sameSchemaForKeys, type Schema } from '../payloads/zodHelpers';

/**
 * The schema of an answer. Custom messages start with "it ", because errors show the message after "cannot be read:".
 */
export type AnswerSchema<Answer = unknown> = Schema<Answer>;

/** Accepts any answer, even an empty answer, except one that reports a failure (see `reportedFailureStatus`). */
export const anySuccessfulAnswer = z
	.unknown()
	.refine((answer) => reportedFailureStatus(answer, 200) === undefined);

const filledValueSchema = z.unknown().refine((value) => (value ?? '') !== '');

/** Returns a schema for a record with a non-empty value for each key. The record can have more fields. */
export const recordSchemaWith = (...keys: string[]) =>
	openObject(sameSchemaForKeys(filledValueSchema, ...keys));

/**
 * Returns a function that creates a schema for one record. The record must have the ID that the request asked for,
 * which is the first path parameter. The comparison ignores case.
 *
 * @param what the kind of record, for the error message
 * @param key the field with the ID of the record
 */
export function schemaOfAskedRecord(what: string, key = 'id') {
	return (asked: Record<string, string>) =>
		recordSchemaWith(key).refine(
			(answer) => String(answer[key]).toLowerCase() === Object.values(asked)[0]?.toLowerCase(),
			`it is about another ${what}`,
		);
}

/**
 * Returns a schema for a list of results.
 *
 * @param resultsKey the field of the answer that contains the list; by default, the answer itself is the list
 */
export const listAnswerSchema = (resultsKey?: string): AnswerSchema<unknown[]> =>
	z.preprocess(
		(answer) => (resultsKey ? get(answer, [resultsKey]) : answer),
		z.array(z.unknown(), { message: 'it holds no list of results' }),
	);

/**
 * Returns the status of a failure that a 2xx answer reports in its body: its `statusCode`, or the status of the answer
 * for `success: false`. A valid record may have such fields, too. So call this function only for an answer that does
 * not match its schema. The exception is the schema `anySuccessfulAnswer`, which calls it for each answer. This schema
 * accepts every answer that reports no failure.
 *
 * @returns undefined if the answer reports no failure
 */
export function reportedFailureStatus(answer: unknown, status: number): number | undefined {
	const { statusCode, success } = isJsonObject(answer) ? answer : {};
	if (isInteger(statusCode) && inRange(Number(statusCode), 400, 600)) return Number(statusCode);
	return success === false ? status : undefined;
}
