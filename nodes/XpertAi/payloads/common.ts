import { hash } from 'crypto';
import { attempt, cloneDeepWith, get, isDate, isError, isPlainObject, some } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Matches every UUID in a text. */
export const EVERY_UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** Whether a text is a UUID. Xpert AI servers require UUIDs for most IDs. */
export const isUuid = (text: string) => UUID.test(text);

export const UUID_ISSUE = 'must be a UUID such as 123e4567-e89b-42d3-a456-426614174000';

/** Whether a text contains a lone surrogate, e.g. half of an emoji. UTF-8 cannot encode a lone surrogate. */
export const hasLoneSurrogate = (text: string) => !text.isWellFormed();

export const LONE_SURROGATE_ISSUE =
	'holds half of a character, as a text does that was cut in the middle of an emoji: cut it elsewhere';

/** A UUID, as the API contract requires for `workspaceId`, `integrationId` and `storageFileId`. */
export const uuid = z.string().uuid(UUID_ISSUE);

/** An ISO 8601 date-time, with or without an offset, e.g. `2026-01-31T08:00:00Z`. */
export const dateTime = z.string().datetime({
	offset: true,
	local: true,
	message: 'must be an ISO 8601 date-time such as 2026-01-31T08:00:00Z',
});

/** A finite number. JSON turns Infinity and NaN into `null`, which clears a field on the server. */
export const finite = z.number().finite('must be a number');

/** Schemas that treat a value of the wrong type as missing, so that the rest of the record stays readable. */
export const lenientText = z.string().optional().catch(undefined);
export const lenientNumber = z.number().optional().catch(undefined);

/** Returns an object with the same schema for each key. */
export const eachOf = <Key extends string, Schema extends z.ZodTypeAny>(
	schema: Schema,
	...keys: Key[]
) => Object.fromEntries(keys.map((key) => [key, schema])) as Record<Key, Schema>;

/** Returns a schema that accepts the keys of `names`. */
export const keyIn = <Key extends string>(names: Record<Key, string>) =>
	z.enum(Object.keys(names) as [Key, ...Key[]]);

export const optionalText = z.string().optional();
export const nullableText = z.string().nullish();
export const nullableNumber = z.number().nullish();

/** Returns an object schema that keeps unknown fields, so that the node works with newer servers. */
export const openObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
	z.object(shape).passthrough();

/** An object with arbitrary keys (`metadata`, `options`, …). */
export const freeForm = openObject({});

/** Fields that Document, Page and Chunk share: ID, dates and users. */
export const recordFields = {
	...eachOf(nullableText, 'id', 'createdById', 'updatedById'),
	...eachOf(dateTime.nullish(), 'createdAt', 'updatedAt'),
};

/** A list of at least one ID. */
export const idList = z.array(z.string().min(1)).min(1);

/**
 * Parses JSON. Integers that JavaScript would round become text, because they are usually IDs.
 *
 * @throws SyntaxError if the text is not JSON
 */
export const exactJson = (text: string): unknown =>
	JSON.parse(ROUNDABLE.test(text) ? exactNumbers(text) : text) as unknown;

/** Matches 16 digits in a row. `JSON.parse` may round such numbers. */
const ROUNDABLE = /\d{16}/;

function exactNumbers(json: string): string {
	let inString = false;
	return json.replace(/\\.|"|-?\d[\d.eE+-]*/g, (token) => {
		if (token === '"') inString = !inString;
		const isRounded =
			!inString && /^-?[1-9]\d{15,}$/.test(token) && String(Number(token)) !== token;
		return isRounded ? `"${token}"` : token;
	});
}

/** The UUID namespace for owner IDs that are not UUIDs. */
const FOREIGN_OWNERS = '6f1d2c0e-3b7a-5a44-9d0b-2f7c8e51a913';

/** The last namespace. Kept, because callers often use the same namespace several times in a row. */
let lastNamespace = { namespace: '', bytes: Buffer.alloc(0) };

/**
 * Returns a version 5 UUID (RFC 9562). The same namespace and name always give the same UUID.
 *
 * @param namespace a UUID
 */
export function uuidV5(namespace: string, name: string): string {
	if (namespace !== lastNamespace.namespace)
		lastNamespace = { namespace, bytes: Buffer.from(namespace.replace(/-/g, ''), 'hex') };
	// `hash` is three times as fast as `createHash`.
	const hex = hash('sha1', Buffer.concat([lastNamespace.bytes, Buffer.from(name)]));
	const variant = '89ab'.charAt(parseInt(hex.charAt(16), 16) % 4);
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Derives an ID from an owner and a key. The same owner and key always give the same ID.
 *
 * @param ownerId ID of a knowledgebase or assistant, or a derived ID
 */
export const derivedId = (ownerId: string, key: string): string =>
	uuidV5(isUuid(ownerId) ? ownerId : uuidV5(FOREIGN_OWNERS, ownerId), key);

export type Schema<Value> = z.ZodType<Value, z.ZodTypeDef, unknown>;

/**
 * A schema that converts the values of another schema. Use it for values of each document, instead of `transform`: for
 * each value, `transform` makes a getter, which V8 keeps until a full garbage collection.
 */
export class Converting<Given, Value> extends z.ZodType<Value, z.ZodTypeDef, unknown> {
	/** @param convert calls `reject` with the issue if the value is not valid */
	constructor(
		private readonly inner: Schema<Given>,
		private readonly convert: (given: Given, reject: (issue: string) => void) => Value,
	) {
		super({});
	}

	_parse(input: z.ParseInput): z.SyncParseReturnType<Value> {
		const parsed = this.inner._parseSync(input);
		if (!z.isValid(parsed)) return z.INVALID;
		let status: z.SyncParseReturnType['status'] = 'valid';
		const value = this.convert(parsed.value, (message) => {
			z.addIssueToContext(this._getOrReturnCtx(input), { code: 'custom', message });
			status = 'aborted';
		});
		return status === 'valid' ? z.OK(value) : z.INVALID;
	}
}

/** A schema that parses JSON text. Blank text and null become undefined. In an object, dates become text. */
export const jsonValue = new Converting(z.unknown(), (raw, reject): unknown => {
	if (typeof raw !== 'string') return withIsoDates(raw) ?? undefined;
	// `trim` also removes a byte order mark, which would make the JSON invalid.
	const text = raw.trim();
	if (text === '') return undefined;
	const parsed: unknown = attempt(() => exactJson(text));
	if (isError(parsed)) reject(`must be JSON (${parsed.message})`);
	return parsed;
});

/** Matches a luxon DateTime that n8n has converted to text. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$/;

/**
 * Converts a Date, a luxon DateTime, or a text that matches `DATE_TIME` to ISO 8601 in UTC. Returns anything else
 * unchanged.
 */
export function utcText(raw: unknown): unknown {
	const text = isoText(raw);
	const isDate = typeof text === 'string' && (text !== raw || DATE_TIME.test(text));
	// A text can have the form of a date without being one, such as a day of a 13th month.
	const utc = isDate && attempt(() => new Date(text).toISOString());
	return typeof utc === 'string' ? utc : raw;
}

/** Converts a valid Date or luxon DateTime to ISO 8601. Returns anything else unchanged. */
export function isoText(raw: unknown): unknown {
	if (isDate(raw)) return Number.isNaN(raw.getTime()) ? raw : raw.toISOString();
	const toISO: unknown = get(raw, 'toISO');
	return typeof toISO === 'function' ? ((toISO.call(raw) as unknown) ?? raw) : raw;
}

const isNested = (value: unknown): value is object => Array.isArray(value) || isPlainObject(value);

/** Whether a value is or contains a Date or a luxon DateTime. */
const holdsDate = (value: unknown): boolean =>
	isoText(value) !== value || (isNested(value) && some(value, holdsDate));

/** Converts every Date and luxon DateTime inside a JSON value to ISO 8601, as other nodes of n8n hand them on. */
function withIsoDates(value: unknown): unknown {
	// An error means that the value is nested too deeply. The caller finds that when it writes the value as JSON.
	if (attempt(holdsDate, value) !== true) return value;
	return cloneDeepWith(value, (part: unknown) => {
		const text = isoText(part);
		return text === part ? undefined : text;
	}) as unknown;
}

/**
 * Sorts the keys of all objects inside a JSON value, so that equal values have the same JSON text. A value that is
 * nested too deeply stays unchanged.
 */
export function withSortedKeys<Value>(value: Value): Value {
	const sorted: unknown = attempt(sortKeys, value);
	return isError(sorted) ? value : (sorted as Value);
}

function sortKeys(value: unknown): unknown {
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value)) return value.map(sortKeys);
	const given = value as Record<string, unknown>;
	if (typeof given.toJSON === 'function') return value;
	// Without a prototype, a key such as `__proto__` is a key like any other.
	const sorted = Object.create(null) as Record<string, unknown>;
	for (const key of Object.keys(value).sort()) sorted[key] = sortKeys(given[key]);
	return sorted;
}

/** Whether a value is a JSON object (not an array, not null). */
export const isJsonObject = (value: unknown): value is IDataObject =>
	typeof value === 'object' && value !== null && !Array.isArray(value);
