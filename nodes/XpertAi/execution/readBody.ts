import type { JsonBody } from '../operations/operation';
import { DISPLAY_NAMES } from '../operations/shared/fields';
import { anyJson } from '../payloads/common';
import { badInput, checkInput } from './badInput';
import { readFields, readJson } from './readFields';
import type { ItemReader } from './readFields';

/** Whether the item gives its body as JSON. */
export function isJsonMode({ context, itemIndex }: ItemReader): boolean {
	return context.getNodeParameter('bodyMode', itemIndex, 'fields') === 'json';
}

/**
 * Reads and checks the body of an item, from its fields or from its JSON.
 *
 * @throws NodeOperationError naming the parameter, the item and what is expected
 */
export function readBody(reader: ItemReader, body: JsonBody): unknown {
	const source = { node: reader.context.getNode(), itemIndex: reader.itemIndex };
	if (!isJsonMode(reader)) {
		const values = readFields(reader, body.fields);
		const composed = body.compose ? body.compose(values) : values;
		return checkInput(body.schema, composed, {
			...source,
			fields: body.fields,
			labels: body.labels,
		});
	}
	const parameter = DISPLAY_NAMES.jsonBody;
	const raw: unknown = reader.context.getNodeParameter('jsonBody', reader.itemIndex, undefined);
	const json = readJson(reader, parameter, raw);
	if (json === undefined) throw badInput(source, `"${parameter}"`, 'must not be empty');
	return checkInput(body.notShown ? anyJson : body.schema, json, { ...source, parameter });
}
