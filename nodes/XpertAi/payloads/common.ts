import { z } from 'zod';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The UUIDs in a text. */
export const EVERY_UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** Whether a text is a UUID, which Xpert AI servers require as an ID. */
export const isUuid = (text: string) => UUID.test(text);

/** What a message demands of a UUID. */
export const UUID_RULE = 'must be a UUID such as 123e4567-e89b-42d3-a456-426614174000';

/**
 * Whether a text holds a lone surrogate, as one does that was cut in the middle of an emoji. Encoded as UTF-8, it
 * becomes another character.
 */
export const hasLoneSurrogate = (text: string) => !text.isWellFormed();

/** What a message demands of a text with a lone surrogate. */
export const LONE_SURROGATE_RULE =
	'holds half of a character, as a text does that was cut in the middle of an emoji: cut it elsewhere';

/** A UUID, as the contract asks for `workspaceId`, `integrationId` and `storageFileId`. */
export const uuid = z.string().uuid(UUID_RULE);

/** An ISO 8601 date-time, with or without an offset, e.g. `2026-01-31T08:00:00Z`. */
export const dateTime = z.string().datetime({
	offset: true,
	local: true,
	message: 'must be an ISO 8601 date-time such as 2026-01-31T08:00:00Z',
});

/** A finite number: JSON would turn Infinity and NaN into `null`, which clears a field. */
export const finite = z.number().finite('must be a number');

/** A value of another type counts as missing, so that it does not hide other fields. */
export const textIfAny = z.string().optional().catch(undefined);
export const numberIfAny = z.number().optional().catch(undefined);

/** The same schema for each of these keys. */
export const eachOf = <Key extends string, Schema extends z.ZodTypeAny>(
	schema: Schema,
	...keys: Key[]
) => Object.fromEntries(keys.map((key) => [key, schema])) as Record<Key, Schema>;

export const optionalText = z.string().optional();
export const nullableText = z.string().nullish();
export const nullableNumber = z.number().nullish();

/** An object with these fields and any others, so that newer servers can be used. */
export const openObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
	z.object(shape).passthrough();

/** An object whose keys the contract leaves open (`metadata`, `options`, …). */
export const freeForm = z.record(z.unknown());

/** Fields that Document, Page and Chunk share: ID, dates and users. */
export const recordFields = {
	...eachOf(nullableText, 'id', 'createdById', 'updatedById'),
	...eachOf(dateTime.nullish(), 'createdAt', 'updatedAt'),
};

/** IDs of one or more records. */
export const idList = z.array(z.string().min(1)).min(1);

/**
 * Parses JSON. Integers that JavaScript would round become text, because they are IDs whose last digits count.
 *
 * @throws SyntaxError
 */
export function exactJson(text: string): unknown {
	return JSON.parse(ROUNDABLE.test(text) ? withExactNumbers(text) : text) as unknown;
}

/** Numbers with this many digits may be rounded. */
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

/** Texts that expressions without a value give. */
const MISSING_VALUES = new Set(['undefined', 'null', 'NaN', 'Invalid Date', 'Invalid DateTime']);

const OBJECT_AS_TEXT = /\[object [A-Z]\w*\]/;

/**
 * Such a text between separators. A dot is no separator before or after `null`, which is also a name:
 * `john.null@example.com`.
 */
const MISSING_PART =
	/(?<![\p{L}\p{N}])undefined(?![\p{L}\p{N}])|(?<![\p{L}\p{N}.])(?:null|NaN)(?![\p{L}\p{N}.])/u;

/**
 * The part of a text that stands for a missing value.
 *
 * @param inParts whether a part between separators counts, as in `chat-undefined`; otherwise `docs/undefined.md` is
 * allowed
 */
export function missingValueIn(text: string, inParts = false): string | undefined {
	if (MISSING_VALUES.has(text)) return text;
	const found = OBJECT_AS_TEXT.exec(text) ?? (inParts ? MISSING_PART.exec(text) : null);
	return found?.[0];
}

/**
 * The canonical form of a key: `Übersicht.txt` is the same document in NFC and in NFD, and with blanks around it or
 * U+0000 in it.
 */
export function canonicalKey(text: string): string {
	return text.replaceAll('\0', '').trim().normalize('NFC');
}

/** What is wrong with a key in its canonical form. */
export function keyRule(key: string, inParts = false): string | undefined {
	if (key === '') return 'must not be empty';
	if (hasLoneSurrogate(key)) return LONE_SURROGATE_RULE;
	const missing = missingValueIn(key, inParts);
	return missing && `holds "${missing}", which stands for a missing value`;
}
