import { attempt, get, isDate } from 'lodash';
import { z } from 'zod';

/** An ISO 8601 date-time, with or without an offset, e.g. `2026-01-31T08:00:00Z`. */
export const dateTimeSchema = z.string().datetime({
	offset: true,
	local: true,
	message: 'must be an ISO 8601 date-time such as 2026-01-31T08:00:00Z',
});

/** Matches the text of a luxon DateTime, as n8n writes it. */
const LUXON_TEXT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$/;

/**
 * Converts a Date, a luxon DateTime, or a text that matches `LUXON_TEXT` to ISO 8601 in UTC. Returns anything else
 * unchanged.
 */
export function dateAsUtcText(raw: unknown): unknown {
	const text = dateAsIsoText(raw);
	const wasConverted = text !== raw;
	if (typeof text !== 'string' || !(wasConverted || LUXON_TEXT.test(text))) return raw;
	// `attempt` returns an error for an impossible date, such as a day of a 13th month.
	const utc = attempt(() => new Date(text).toISOString());
	return typeof utc === 'string' ? utc : raw;
}

/** Converts a valid Date or luxon DateTime to ISO 8601. Returns anything else unchanged. */
export function dateAsIsoText(raw: unknown): unknown {
	if (isDate(raw)) return Number.isNaN(raw.getTime()) ? raw : raw.toISOString();
	const toISO: unknown = get(raw, 'toISO');
	return typeof toISO === 'function' ? ((toISO.call(raw) as unknown) ?? raw) : raw;
}
