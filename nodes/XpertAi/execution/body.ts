import isPlainObject from 'lodash/isPlainObject';
import { z, type ZodTypeAny } from 'zod';

import { freeForm } from '../payloads/common';
import { isNamedIn, fieldName, type Naming } from './inputIssues';
import { ADDITIONAL_FIELDS_JSON } from './fields';
import { idsInBody } from './hints';
import type { Item } from './item';

/** What the panel of an operation makes of a body, and how the whole of it is checked. */
interface PanelBody<Schema extends ZodTypeAny> {
	/** The body as the fields of the panel make it. */
	value: unknown;
	schema: Schema;
	naming: Naming;
	/** Paths of record IDs. Those that Additional Fields (JSON) name may have any form. */
	ids?: string[];
	/** Paths that the node fills in itself, which Additional Fields (JSON) must not name. */
	reserved?: string[];
}

/**
 * Merges Additional Fields (JSON) into the body that the panel makes, and checks the whole.
 *
 * @returns the body, and how messages name its parts
 * @throws NodeOperationError naming the field, the item and the requirement
 */
export function completeBody<Schema extends ZodTypeAny>(
	item: Item,
	{ value, schema, naming: panelNaming, ids = [], reserved = [] }: PanelBody<Schema>,
): { value: z.output<Schema>; naming: Naming } {
	const additional = item.has(ADDITIONAL_FIELDS_JSON) ? additionalFieldsOf(item) : undefined;
	const naming = { ...panelNaming, additional };
	for (const path of reserved.map((text) => text.split('.'))) {
		if (isNamedIn(additional, path))
			item.refuse({ field: fieldName(path, naming), rule: RESERVED });
	}
	const whole = additional ? deepMerged(value, additional) : value;
	const body: unknown = item.check(schema, whole, naming);
	const ofPanel = ids.filter((path) => !isNamedIn(additional, path.split('.')));
	for (const named of idsInBody(body, ofPanel, naming)) item.checkId(named);
	return { value: body as z.output<Schema>, naming };
}

const RESERVED = 'is what the node sets itself: leave it out';

/** Additional Fields (JSON) of an item, empty if it has none. */
function additionalFieldsOf(item: Item): Record<string, unknown> {
	const parameter = item.labelOf(ADDITIONAL_FIELDS_JSON);
	const json = item.setting(ADDITIONAL_FIELDS_JSON, z.unknown(), '');
	const fields = item.check(freeForm, json ?? {}, { parameter });
	// A value that is too deep is refused before it is merged.
	item.jsonText(fields, { parameter });
	return fields;
}

/** Merges plain objects, also those inside; any other value replaces what was there. */
function deepMerged(base: unknown, over: unknown): unknown {
	if (!isPlainObject(base) || !isPlainObject(over)) return over;
	const merged = new Map(Object.entries(base as object));
	for (const [key, value] of Object.entries(over as object))
		merged.set(key, deepMerged(merged.get(key), value));
	return Object.fromEntries(merged);
}
