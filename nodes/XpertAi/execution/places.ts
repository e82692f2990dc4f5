/** Where in a value a part of it stands, from the outside in. */
export type Place = Array<string | number>;

interface Visit {
	value: unknown;
	key?: string | number;
	parent?: Visit;
}

/**
 * The place of the first part of a value that is looked for, in the order of its JSON text; dates and
 * the like are looked at as they are written there. Walks without recursion, as values may be deep.
 */
export function placeOf(
	value: unknown,
	isWanted: (part: unknown, key?: string | number) => boolean,
): Place | undefined {
	const open: Visit[] = [{ value }];
	for (let visit = open.pop(); visit; visit = open.pop()) {
		const part = asWritten(visit.value);
		if (isWanted(part, visit.key)) return placeTo(visit);
		if (typeof part !== 'object' || part === null) continue;
		const entries = Array.isArray(part)
			? part.map((inner, index): [number, unknown] => [index, inner])
			: Object.entries(part);
		for (const [key, inner] of entries.reverse()) open.push({ value: inner, key, parent: visit });
	}
	return undefined;
}

function asWritten(value: unknown): unknown {
	const isObject = typeof value === 'object' && value !== null;
	return isObject && 'toJSON' in value && typeof value.toJSON === 'function'
		? (value.toJSON() as unknown)
		: value;
}

function placeTo(visit: Visit): Place {
	const place: Place = [];
	for (let at: Visit | undefined = visit; at; at = at.parent) {
		if (at.key !== undefined) place.unshift(at.key);
	}
	return place;
}
