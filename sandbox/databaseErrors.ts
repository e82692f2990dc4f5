import { omitBy, isUndefined } from 'lodash';
import { ApiError } from './errors';
import { isObject } from './values';

interface Failure {
	code: string;
	file: string;
	line: string;
	routine: string;
	detail?: string;
	where?: string;
	schema?: string;
	table?: string;
	column?: string;
	constraint?: string;
}

interface Statement {
	query: string;
	parameters: unknown[];
}

/** Where each kind of bad value is noticed in the database behind the real server. */
const PARSERS = {
	uuid: { code: '22P02', file: 'uuid.c', line: '133', routine: 'string_to_uuid' },
	integer: { code: '22P02', file: 'numutils.c', line: '316', routine: 'pg_strtoint64' },
	decimal: { code: '22P02', file: 'float.c', line: '248', routine: 'float8in_internal' },
	boolean: { code: '22P02', file: 'bool.c', line: '150', routine: 'boolin' },
	date: { code: '22007', file: 'datetime.c', line: '4048', routine: 'DateTimeParseError' },
} as const;

/** The kinds of column whose text the database refuses when it cannot read it. */
export type ColumnKind = keyof typeof PARSERS;

const quoted = (names: string[]) => names.map((name) => `"${name}"`).join(', ');

/** A failed save leaves the server as a 400 with the database's own words and without `message`. */
function databaseError({ query, parameters }: Statement, failure: Failure): ApiError {
	const { code, file, line, routine, ...rest } = failure;
	const told = omitBy(rest, isUndefined);
	const shared = { severity: 'ERROR', code, ...told, file, line, routine };
	const length = JSON.stringify(shared).length;
	return new ApiError(400, {
		query,
		parameters,
		driverError: { length, name: 'error', ...shared },
		length,
		...shared,
	});
}

/** The statement that stores a row, as it is quoted in an error. */
export function insertInto(table: string, row: Record<string, unknown>): Statement {
	const columns = Object.keys(row);
	const places = columns.map((_, index) => `$${index + 1}`).join(', ');
	return {
		query: `INSERT INTO "${table}"(${quoted(columns)}) VALUES (${places}) RETURNING "id"`,
		parameters: Object.values(row),
	};
}

/** The statement that looks a row up by its id, as it is quoted in an error. */
export const selectById = (table: string, id: unknown): Statement => ({
	query: `SELECT "id" FROM "${table}" WHERE "id" IN ($1)`,
	parameters: [id],
});

/** A value the column's type cannot read (`E03` "tokenNum text", `E03` "id not uuid"). */
export const unreadable = (statement: Statement, kind: ColumnKind, value: unknown) =>
	databaseError(statement, {
		...PARSERS[kind],
		where: `unnamed portal parameter $${statement.parameters.indexOf(value) + 1} = '...'`,
	});

/** Whether a NUL stands in any text of a value; no column can hold it. */
export function hasNul(value: unknown): boolean {
	if (typeof value === 'string') return value.includes('\0');
	if (Array.isArray(value)) return value.some(hasNul);
	return isObject(value) && Object.values(value).some(hasNul);
}

/** A text with a NUL: `invalid byte sequence for encoding "UTF8": 0x00`. */
export const nulInText = (statement: Statement) =>
	databaseError(statement, {
		code: '22021',
		where: 'unnamed portal parameter $1',
		file: 'mbutils.c',
		line: '1665',
		routine: 'report_invalid_encoding',
	});

/** Text longer than its column (`E01` "type too long"). */
export const tooLong = (statement: Statement) =>
	databaseError(statement, { code: '22001', file: 'varchar.c', line: '632', routine: 'varchar' });

/** A reference to a row that is not there (`E13` "xpertId unknown"). */
export const missingReference = (
	statement: Statement,
	table: string,
	column: string,
	value: string,
	target: string,
) =>
	databaseError(statement, {
		code: '23503',
		detail: `Key (${column})=(${value}) is not present in table "${target}".`,
		schema: 'public',
		table,
		constraint: `FK_${table}_${column}`,
		file: 'ri_triggers.c',
		line: '2650',
		routine: 'ri_ReportViolation',
	});

/** A column that must have a value is empty (`E02` "name null"). */
export const notNull = (statement: Statement, table: string, column: string) =>
	databaseError(statement, {
		code: '23502',
		detail: `Failing row contains (${statement.parameters.map((value) => String(value)).join(', ')}).`,
		schema: 'public',
		table,
		column,
		file: 'execMain.c',
		line: '2039',
		routine: 'ExecConstraints',
	});

/** A second row with a value that must be unique (`E02` "body id differs"). */
export const duplicate = (statement: Statement, table: string, column: string, value: unknown) =>
	databaseError(statement, {
		code: '23505',
		detail: `Key (${column})=(${String(value)}) already exists.`,
		schema: 'public',
		table,
		constraint: `IDX_${table}_${column}`,
		file: 'nbtinsert.c',
		line: '664',
		routine: '_bt_check_unique',
	});
