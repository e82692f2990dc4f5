import { countBy, isPlainObject, map, maxBy, uniq } from 'lodash';

/** The part of JSON schema that n8n's previews of a node's output are written in. */
export interface Preview {
	type: string;
	properties?: Record<string, Preview>;
	items?: Preview;
}

/** Share of the objects of a place that must have a key for the key to be described. */
const USUAL = 0.9;

/** Objects further inside are not taken apart: what is in them differs from one server to the next. */
const LEVELS = 2;

const FREE_FORM = new Set(['value']);

/**
 * Describes values of one place: their most frequent type, and of objects the keys they usually have. A
 * value is called null only where no other was seen.
 */
export function previewOf(values: unknown[], levels = LEVELS): Preview {
	const counts = countBy(values.map(typeOf).filter((type) => type !== 'null'));
	const type = maxBy(Object.keys(counts), (name) => counts[name]) ?? 'null';
	const typical = values.filter((value) => typeOf(value) === type);
	if (type === 'object') {
		return { type, properties: levels > 0 ? propertiesOf(typical as object[], levels - 1) : {} };
	}
	if (type === 'array') {
		const elements = (typical as unknown[][]).flat();
		return elements.length > 0 ? { type, items: previewOf(elements, levels) } : { type };
	}
	return { type };
}

function propertiesOf(objects: object[], levels: number): Record<string, Preview> {
	const all = objects.map((object) => object as Record<string, unknown>);
	const usual = uniq(all.flatMap((object) => Object.keys(object))).filter(
		(key) => all.filter((object) => key in object).length >= all.length * USUAL,
	);
	return Object.fromEntries(
		usual.map((key) => [key, previewOf(map(all, key), FREE_FORM.has(key) ? 0 : levels)]),
	);
}

function typeOf(value: unknown): string {
	if (value === null || value === undefined) return 'null';
	if (Array.isArray(value)) return 'array';
	return isPlainObject(value) ? 'object' : typeof value;
}
