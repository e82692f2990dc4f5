import { isEqual, isPlainObject, mapValues, omitBy } from 'lodash';
import { internal } from './errors';
import { asObject, isUuid, type Loose } from './values';

type Test = (value: unknown, wanted: unknown) => boolean;

/** Numbers, texts and moments in one order; nothing compares with null. */
function compared(value: unknown, wanted: unknown): number {
	if (typeof value === 'number' && typeof wanted === 'number') return value - wanted;
	const [one, other] = [String(value), String(wanted)];
	return one < other ? -1 : one > other ? 1 : 0;
}

/** SQL's LIKE, with % and _. */
function like(value: unknown, pattern: unknown, flags: string): boolean {
	const escaped = String(pattern).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
	const expression = escaped.replace(/%/g, '[\\s\\S]*').replace(/_/g, '[\\s\\S]');
	return new RegExp(`^${expression}$`, flags).test(String(value));
}

const among = (value: unknown, list: unknown) => Array.isArray(list) && list.includes(value);

const OPERATORS: Record<string, Test> = {
	$eq: (value, wanted) => isEqual(value, wanted),
	$ne: (value, wanted) => !isEqual(value, wanted),
	$gt: (value, wanted) => compared(value, wanted) > 0,
	$gte: (value, wanted) => compared(value, wanted) >= 0,
	$lt: (value, wanted) => compared(value, wanted) < 0,
	$lte: (value, wanted) => compared(value, wanted) <= 0,
	$in: among,
	$notIn: (value, list) => Array.isArray(list) && !list.includes(value),
	$like: (value, pattern) => like(value, pattern, ''),
	$ilike: (value, pattern) => like(value, pattern, 'i'),
	$contains: (value, wanted) =>
		Array.isArray(value)
			? [wanted].flat().every((one) => value.includes(one))
			: String(value).includes(String(wanted)),
};

/**
 * Whether a value meets a condition of `where`: a plain value, or an operator. Of several operators only the first
 * counts (`conversations-search-operators` "$gte and $lte in one"). Null meets `$isNull` alone, as in the database; an
 * operator with `$` that is not known matches nothing.
 */
export function meets(value: unknown, condition: unknown): boolean {
	if (!isPlainObject(condition)) return isEqual(value, condition);
	const [first] = Object.entries(asObject(condition));
	if (first === undefined) return true;
	const [operator, wanted] = first;
	if (operator === '$isNull') return (value === null) === (wanted !== false);
	return value !== null && (OPERATORS[operator]?.(value, wanted) ?? false);
}

/** The database keeps microseconds and answers with milliseconds: what it keeps is always a little later. */
const KEPT_LATER = 0.5;

/**
 * Whether a moment meets a condition. One that is written as it was answered is never the very moment that is kept:
 * `$gt` finds it, `$lte`, `$in` and a plain value do not; what is no date holds for all
 * (`conversations-search-operators`).
 */
export function momentMeets(moment: string, condition: unknown): boolean {
	const operators = isPlainObject(condition) ? asObject(condition) : { $eq: condition };
	const asked = mapValues(operators, (wanted) =>
		Array.isArray(wanted) ? wanted.map(dateOf) : dateOf(wanted),
	);
	const dated = omitBy(asked, (wanted) => Number.isNaN(wanted));
	return meets(Date.parse(moment) + KEPT_LATER, dated);
}

const dateOf = (value: unknown): unknown => (typeof value === 'string' ? Date.parse(value) : value);

/** Refuses what the server fails at: an operator without `$`, and a text that is no id where ids are. */
export function checkCondition(condition: unknown, ofIds: boolean): void {
	const operators: Loose = isPlainObject(condition) ? asObject(condition) : { $eq: condition };
	for (const [operator, wanted] of Object.entries(operators)) {
		if (!operator.startsWith('$')) throw internal();
		const compares = ofIds && operator !== '$isNull';
		if (compares && ![wanted].flat().every((id) => id === null || isUuid(id))) throw internal();
	}
}
