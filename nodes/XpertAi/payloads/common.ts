import { hash } from 'crypto';

import { attempt, get, isError } from 'lodash';
import { z } from 'zod';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Matches every UUID in a text. */
export const EVERY_UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** Whether a text is a UUID: Xpert AI servers require this form of most IDs. */
export const isUuid = (text: string) => UUID.test(text);

const UUID_RULE = 'must be a UUID such as 123e4567-e89b-42d3-a456-426614174000';

/**
 * Whether a text holds a lone surrogate, e.g. because it was cut in the middle of an emoji. In UTF-8, a lone surrogate
 * would become another character.
 */
export const hasLoneSurrogate = (text: string) => !text.isWellFormed();

export const LONE_SURROGATE_RULE =
	'holds half of a character, as a text does that was cut in the middle of an emoji: cut it elsewhere';

/** A UUID, which the contract requires for `workspaceId`, `integrationId` and `storageFileId`. */
export const uuid = z.string().uuid(UUID_RULE);

/** An ISO 8601 date-time, with or without an offset, e.g. `2026-01-31T08:00:00Z`. */
export const dateTime = z.string().datetime({
	offset: true,
	local: true,
	message: 'must be an ISO 8601 date-time such as 2026-01-31T08:00:00Z',
});

/** A finite number: JSON would turn Infinity and NaN into `null`, which clears a field. */
export const finite = z.number().finite('must be a number');

/**
 * Schemas that read a value of an unexpected type as missing, so that the other fields of the record can still be read.
 */
export const textIfAny = z.string().optional().catch(undefined);
export const numberIfAny = z.number().optional().catch(undefined);

/** An object that has the same schema for each of these keys. */
export const eachOf = <Key extends string, Schema extends z.ZodTypeAny>(
	schema: Schema,
	...keys: Key[]
) => Object.fromEntries(keys.map((key) => [key, schema])) as Record<Key, Schema>;

/** Returns a schema that accepts the keys of `names`; the values of `names` are display names. */
export const keyIn = <Key extends string>(names: Record<Key, string>) =>
	z.enum(Object.keys(names) as [Key, ...Key[]]);

export const optionalText = z.string().optional();
export const nullableText = z.string().nullish();
export const nullableNumber = z.number().nullish();

/**
 * Returns the schema of an object with these fields. Other fields are kept, so that the node also works with newer
 * servers.
 */
export const openObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
	z.object(shape).passthrough();

/** An object whose keys the contract leaves open (`metadata`, `options`, …). */
export const freeForm = z.record(z.unknown());

/** Fields that Document, Page and Chunk share: ID, dates and users. */
export const recordFields = {
	...eachOf(nullableText, 'id', 'createdById', 'updatedById'),
	...eachOf(dateTime.nullish(), 'createdAt', 'updatedAt'),
};

/** A list of at least one ID. */
export const idList = z.array(z.string().min(1)).min(1);

/**
 * Parses JSON. Integers that JavaScript would round become text, because they are usually IDs, in which every digit
 * counts.
 *
 * @throws SyntaxError if the text is not JSON
 */
export const exactJson = (text: string): unknown =>
	JSON.parse(ROUNDABLE.test(text) ? withExactNumbers(text) : text) as unknown;

/** `JSON.parse` might round numbers with 16 or more digits. */
const ROUNDABLE = /\d{16}/;

function withExactNumbers(json: string): string {
	let inString = false;
	return json.replace(/\\.|"|-?\d[\d.eE+-]*/g, (token) => {
		if (token === '"') inString = !inString;
		const isRounded =
			!inString && /^-?[1-9]\d{15,}$/.test(token) && String(Number(token)) !== token;
		return isRounded ? `"${token}"` : token;
	});
}

/** The texts that an expression gives if its value is missing. */
const MISSING_VALUES = new Set(['undefined', 'null', 'NaN', 'Invalid Date', 'Invalid DateTime']);

const OBJECT_AS_TEXT = /\[object [A-Z]\w*\]/;

/**
 * Matches `undefined`, `null` or `NaN` without a letter or digit beside it. A dot beside `null` or `NaN` is not allowed
 * either, because Null is also a surname: `john.null@example.com`.
 */
const MISSING_PART =
	/(?<![\p{L}\p{N}])undefined(?![\p{L}\p{N}])|(?<![\p{L}\p{N}.])(?:null|NaN)(?![\p{L}\p{N}.])/u;

/**
 * Returns the part of a text that stands for a missing value, such as `null` or `[object Object]`; undefined if there
 * is no such part.
 *
 * @param inParts whether `undefined`, `null` and `NaN` also count within a text, as in `chat-undefined`. If false, they
 * count only as the whole text, so `docs/undefined.md` is allowed.
 */
export function missingValueIn(text: string, inParts = false): string | undefined {
	if (MISSING_VALUES.has(text)) return text;
	const found = OBJECT_AS_TEXT.exec(text) ?? (inParts ? MISSING_PART.exec(text) : null);
	return found?.[0];
}

/**
 * Returns the canonical form of a key: in NFC, without blanks around it and without U+0000. `Übersicht.txt` in NFC and
 * in NFD must be the same document.
 */
export const canonicalKey = (text: string): string =>
	text.replaceAll('\0', '').trim().normalize('NFC');

/**
 * Returns the rule that a key in its canonical form breaks; undefined if the key is valid.
 *
 * @param inParts see `missingValueIn`
 */
export function keyRule(key: string, inParts = false): string | undefined {
	if (key === '') return 'must not be empty';
	if (hasLoneSurrogate(key)) return LONE_SURROGATE_RULE;
	const missing = missingValueIn(key, inParts);
	return missing && `holds "${missing}", which stands for a missing value`;
}

/** The UUID namespace for owner IDs that are not UUIDs; generated once for this package. */
const FOREIGN_OWNERS = '6f1d2c0e-3b7a-5a44-9d0b-2f7c8e51a913';

/**
 * Returns a UUID of version 5 (RFC 9562): the same namespace and name always give the same UUID.
 *
 * @param namespace a UUID
 */
export function uuidV5(namespace: string, name: string): string {
	const bytes = Buffer.from(namespace.replace(/-/g, ''), 'hex');
	// `hash` needs a third of the time that a hash object (`createHash`) needs.
	const hex = hash('sha1', Buffer.concat([bytes, Buffer.from(name)]));
	const variant = '89ab'.charAt(parseInt(hex.charAt(16), 16) % 4);
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Derives an ID from a key, e.g. the ID of a document from its path or address, or the ID of a thread from its user.
 * Every run derives the same ID from the same owner and key; another owner gives another ID.
 *
 * @param ownerId the ID of the knowledgebase or assistant that the record belongs to, or another derived ID
 */
export const derivedId = (ownerId: string, key: string): string =>
	uuidV5(isUuid(ownerId) ? ownerId : uuidV5(FOREIGN_OWNERS, ownerId), key);

/**
 * A schema that parses JSON text. Blank text and null become undefined. Other values, e.g. an object from an
 * expression, stay unchanged.
 */
export const jsonValue = z.unknown().transform((raw, { addIssue }): unknown => {
	if (typeof raw !== 'string') return raw ?? undefined;
	// `trim` also removes a byte order mark, with which the text would be no JSON.
	const text = raw.trim();
	if (text === '') return undefined;
	const parsed: unknown = attempt(() => exactJson(text));
	if (!isError(parsed)) return parsed;
	addIssue({ code: 'custom', message: `must be JSON (${parsed.message})` });
	return z.NEVER;
});

/** The text into which n8n converts a luxon DateTime in a parameter. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$/;

/**
 * Converts a Date, a luxon DateTime, or the text that n8n makes of a DateTime, to ISO 8601 in UTC, ending in `Z`.
 * Returns anything else unchanged.
 */
export function utcText(raw: unknown): unknown {
	const text = isoText(raw);
	const isDate = typeof text === 'string' && (text !== raw || DATE_TIME.test(text));
	return isDate ? new Date(text).toISOString() : raw;
}

/** Converts a valid Date or luxon DateTime to ISO 8601. Returns anything else unchanged. */
export function isoText(raw: unknown): unknown {
	if (raw instanceof Date) return Number.isNaN(raw.getTime()) ? raw : raw.toISOString();
	const toISO: unknown = get(raw, 'toISO');
	return typeof toISO === 'function' ? ((toISO.call(raw) as unknown) ?? raw) : raw;
}
