import { orderBy } from 'lodash';
import { checkCondition, meets, momentMeets } from './conditions';
import { internal } from './errors';
import { asObject, type Loose } from './values';

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

/** The conditions as pairs; an unknown column or a malformed UUID fails. */
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
