import { attempt, cloneDeepWith, isError, isPlainObject, some } from 'lodash';
import { z } from 'zod';

import { dateAsIsoText } from '../payloads/dates';
import { parseExactJson } from '../payloads/json';
import { ConvertingSchema } from './convertingSchema';

/**
 * A schema that parses JSON text. Blank text and the value null become undefined; the text `null` becomes null. In any
 * value that is not text, dates become ISO 8601 text.
 */
export const jsonValueSchema = new ConvertingSchema(z.unknown(), (raw, reject): unknown => {
	if (typeof raw !== 'string') return withIsoDates(raw) ?? undefined;
	// `trim` also removes a byte order mark, which would make the JSON invalid.
	const text = raw.trim();
	if (text === '') return undefined;
	const parsed: unknown = attempt(() => parseExactJson(text));
	if (isError(parsed)) reject(`must be JSON (${parsed.message})`);
	return parsed;
});

const isListOrObject = (value: unknown): value is object =>
	Array.isArray(value) || isPlainObject(value);

/** Whether a value is or contains a Date or a luxon DateTime. */
const holdsDate = (value: unknown): boolean =>
	dateAsIsoText(value) !== value || (isListOrObject(value) && some(value, holdsDate));

/** Converts every Date and luxon DateTime inside a value to ISO 8601. Other n8n nodes can output such values. */
function withIsoDates(value: unknown): unknown {
	// `attempt` returns an error for a value that is nested too deeply. Such a value fails later, when it is written as JSON.
	if (attempt(holdsDate, value) !== true) return value;
	return cloneDeepWith(value, (part: unknown) => {
		const text = dateAsIsoText(part);
		return text === part ? undefined : text;
	}) as unknown;
}
