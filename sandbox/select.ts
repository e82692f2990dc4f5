import { isEqual, isPlainObject, mapValues, omitBy, orderBy } from 'lodash';
import { internal } from './errors';
import { asObject, isUuid, type Loose } from './values';

interface Dated {
	createdAt: string;
	updatedAt: string;
}

const MOMENTS = ['createdAt', 'updatedAt'] as const;

export interface Selection<Row> {
	items: Row[];
	total: number;
}

/**
 * The rows that `where` asks for, in the order asked for, cut by `limit` (0 is all) and `offset`.
 *
 * @param columns those that can be asked for; any other fails (`E05` "where unknown column")
 * @param ids the columns among them that hold ids
 * @param isWanted whether a row may be found at all
 */
export function select<Row extends Dated>(
	rows: Row[],
	{ where, order, limit, offset }: Loose,
	columns: string[],
	ids: string[] = [],
	isWanted: (row: Row) => boolean = () => true,
): Selection<Row> {
	const [take, skip, pairs] = [count(limit), count(offset), conditions(where, columns, ids)];
	const found = rows.filter(
		(row) => isWanted(row) && pairs.every(([column, condition]) => isMet(row, column, condition)),
	);
	const sorted = inOrder(found, order, columns);
	return { items: sorted.slice(skip, take === 0 ? undefined : skip + take), total: found.length };
}

function conditions(where: unknown, columns: string[], ids: string[]): Array<[string, unknown]> {
	if (where === undefined || where === null) return [];
	const pairs = Object.entries(Object(where) as Loose);
	for (const [column, condition] of pairs) {
		if (!columns.includes(column)) throw internal();
		checkCondition(condition, ids.includes(column));
	}
	return pairs;
}

function isMet(row: Dated, column: string, condition: unknown): boolean {
	const moment = MOMENTS.find((one) => one === column);
	return moment
		? momentMeets(row[moment], condition)
		: meets((row as unknown as Loose)[column], condition);
}

function inOrder<Row>(rows: Row[], order: unknown, known: string[]): Row[] {
	const columns = Object.keys(asObject(order));
	if (columns.some((column) => !known.includes(column))) throw internal();
	const directions = Object.values(asObject(order)).map((direction) =>
		String(direction).toUpperCase() === 'DESC' ? 'desc' : 'asc',
	);
	return columns.length === 0 ? rows : orderBy(rows, columns, directions);
}

function count(value: unknown): number {
	const number = Number(value ?? 0);
	if (!(number >= 0)) throw internal();
	return number;
}

type Test = (value: unknown, wanted: unknown) => boolean;

function compared(value: unknown, wanted: unknown): number {
	if (typeof value === 'number' && typeof wanted === 'number') return value - wanted;
	const [one, other] = [String(value), String(wanted)];
	return one < other ? -1 : one > other ? 1 : 0;
}

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
function meets(value: unknown, condition: unknown): boolean {
	if (!isPlainObject(condition)) return isEqual(value, condition);
	const [first] = Object.entries(asObject(condition));
	if (first === undefined) return true;
	const [operator, wanted] = first;
	if (operator === '$isNull') return (value === null) === (wanted !== false);
	return value !== null && (OPERATORS[operator]?.(value, wanted) ?? false);
}

const KEPT_LATER = 0.5;

/**
 * Whether a moment meets a condition. One that is written as it was answered is never the very moment that is kept:
 * `$gt` finds it, `$lte`, `$in` and a plain value do not; what is no date holds for all
 * (`conversations-search-operators`).
 */
function momentMeets(moment: string, condition: unknown): boolean {
	const operators = isPlainObject(condition) ? asObject(condition) : { $eq: condition };
	const asked = mapValues(operators, (wanted) =>
		Array.isArray(wanted) ? wanted.map(dateOf) : dateOf(wanted),
	);
	const dated = omitBy(asked, (wanted) => Number.isNaN(wanted));
	return meets(Date.parse(moment) + KEPT_LATER, dated);
}

const dateOf = (value: unknown): unknown => (typeof value === 'string' ? Date.parse(value) : value);

/** Refuses what the server fails at: an operator without `$`, and a text that is no id where ids are. */
function checkCondition(condition: unknown, ofIds: boolean): void {
	const operators: Loose = isPlainObject(condition) ? asObject(condition) : { $eq: condition };
	for (const [operator, wanted] of Object.entries(operators)) {
		if (!operator.startsWith('$')) throw internal();
		const compares = ofIds && operator !== '$isNull';
		if (compares && ![wanted].flat().every((id) => id === null || isUuid(id))) throw internal();
	}
}
