import { get, isEqual, isString } from 'lodash';
import type { Loose } from './values';

/** A value that stands in a filter, or is taken from what a question brings. */
type FilterValue = { kind: 'literal'; value: unknown } | { kind: 'variable'; selector: string };

interface Condition {
	kind: 'condition';
	field: string;
	operator: string;
	value: FilterValue;
}

/** A filter of an assistant, as the server keeps it (`knowledge-filter-4` "what a key sees of the filter"). */
export type Filter = Condition | { kind: 'group'; operator: 'and' | 'or'; children: Filter[] };

export interface Filtered {
	metadata: Loose;
	document: Loose;
}

/** Why a search with a filter finds nothing, in the server's words. */
export class FilterError extends Error {}

const LONGEST_TEXT = 512;
const MOST_VALUES = 100;

const DOCUMENT_FIELDS = [
	'id',
	'folderPath',
	'fileName',
	'fileExtension',
	'mimeType',
	'category',
	'sourceType',
	'createdAt',
	'updatedAt',
];

/** A filter with the values of its variables put in; every variable must be there, also in an `or` (`knowledge-filter-5`). */
export function withValues(filter: Filter, variables: Loose): Filter {
	if (filter.kind === 'group') {
		return { ...filter, children: filter.children.map((one) => withValues(one, variables)) };
	}
	if (filter.value.kind === 'literal') return filter;
	const { selector } = filter.value;
	const value: unknown = get(variables, selector);
	if (value === undefined) {
		throw new FilterError(`Required fixed-filter variable '${selector}' is missing.`);
	}
	return { ...filter, value: { kind: 'literal', value } };
}

/** Refuses fields that are not there and values that do not fit them. */
export function checkFilter(filter: Filter, schema: unknown): void {
	if (filter.kind === 'group') return filter.children.forEach((one) => checkFilter(one, schema));
	const { field, operator } = filter;
	const { type, enumValues } = fieldOf(field, schema);
	const value = valueOf(filter);
	if (operator === 'in' && !(Array.isArray(value) && isBetween(value.length, 1, MOST_VALUES))) {
		throw new FilterError(`'in' requires between 1 and ${MOST_VALUES} values.`);
	}
	if (operator === 'containsAny' && !(Array.isArray(value) && value.length > 0)) {
		throw new FilterError(`'${operator}' requires a non-empty value array.`);
	}
	const values: unknown[] = operator === 'in' ? (value as unknown[]) : [value];
	for (const one of values) checkValue(field, String(type), enumValues, one);
}

const isBetween = (value: number, least: number, most: number) => value >= least && value <= most;

/** Texts that end in `Z`, as E3 wants them as well (`knowledge-filter-4` "what E3 refuses"). */
export const isDatetime = (value: unknown): boolean =>
	isString(value) && /^\d{4}-\d\d-\d\dT.*Z$/.test(value) && !Number.isNaN(Date.parse(value));

function checkValue(field: string, type: string, enumValues: unknown, value: unknown): void {
	const texts = [value].flat().filter(isString);
	if (texts.some(({ length }) => length > LONGEST_TEXT)) {
		throw new FilterError(`Filter strings cannot exceed ${LONGEST_TEXT} characters.`);
	}
	if (type === 'string[]') {
		if (texts.length === [value].flat().length) return;
		throw new FilterError(`Field '${field}' requires string array values.`);
	}
	if (type === 'datetime' && !isDatetime(value)) {
		throw new FilterError(`Field '${field}' requires an ISO-8601 datetime.`);
	}
	if (type === 'enum' && !(Array.isArray(enumValues) && enumValues.includes(value))) {
		throw new FilterError(`Value is not allowed for enum field '${field}'.`);
	}
	const wanted = type === 'datetime' || type === 'enum' ? 'string' : type;
	if (typeof value === wanted) return;
	throw new FilterError(`Value type does not match field '${field}' (${type}).`);
}

function fieldOf(field: string, schema: unknown): Loose {
	const [scope, name = ''] = field.split(/\.(.*)/s);
	const fields = Array.isArray(schema) ? (schema as Loose[]) : [];
	const own = scope === 'metadata' ? fields.find(({ key }) => key === name) : undefined;
	const isKnown = scope === 'document' && DOCUMENT_FIELDS.includes(name);
	if (!own && !isKnown) throw new FilterError(`Unknown knowledge filter field '${field}'.`);
	return own ?? { type: 'string' };
}

const valueOf = ({ value }: Condition): unknown =>
	value.kind === 'literal' ? value.value : undefined;

/** Whether a document is found with a filter that has been checked; one without the field is not. */
export function isMet(filter: Filter, document: Filtered): boolean {
	if (filter.kind === 'group') {
		const isMetIn = (one: Filter) => isMet(one, document);
		return filter.operator === 'and'
			? filter.children.every(isMetIn)
			: filter.children.some(isMetIn);
	}
	const has: unknown = get(document, filter.field);
	if (has === undefined || has === null) return false;
	const compare = OPERATORS[filter.operator];
	if (!compare) throw new Error(`The operator ${filter.operator} was not recorded`);
	return compare(has, valueOf(filter));
}

const lower = (value: unknown) => String(value).toLowerCase();
const comparable = (value: unknown) => (isDatetime(value) ? Date.parse(String(value)) : value);
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Capitals count but for `startsWith` and `contains`; `%` is a plain sign (`knowledge-filter-2`). */
const OPERATORS: Record<string, (has: unknown, wanted: unknown) => boolean> = {
	eq: isEqual,
	in: (has, wanted) => list(wanted).includes(has),
	startsWith: (has, wanted) => lower(has).startsWith(lower(wanted)),
	contains: (has, wanted) => lower(has).includes(lower(wanted)),
	gte: (has, wanted) => Number(comparable(has)) >= Number(comparable(wanted)),
	containsAny: (has, wanted) => list(has).some((one) => list(wanted).includes(one)),
	under: (has, wanted) => isUnder(String(has), String(wanted).replace(/^\/+|\/+$/g, '')),
};

const isUnder = (path: string, folder: string) =>
	folder === '' || path === folder || path.startsWith(`${folder}/`);
