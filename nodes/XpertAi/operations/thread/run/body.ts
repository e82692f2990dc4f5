import isEmpty from 'lodash/isEmpty';
import { z } from 'zod';

import type { Item } from '../../../execution/item';
import type { FieldValues } from '../../../execution/fields';
import { splitIds } from '../../../execution/ids';
import { anyJson, idList } from '../../../payloads/common';
import { runBodies } from '../../../payloads/run';
import { runInput } from '../../../runs/input';
import type { RunInput } from '../../../runs/input';
import { attachments, runBodyFields } from './fields';

/** What may be sent to an assistant. */
export const inputKind = z.enum(['message', 'decision', 'retry']);

/** The fields that the places of a body come from. */
export const RUN_NAMING = {
	fields: runBodyFields,
	sources: {
		assistant_id: 'assistantId',
		input: 'message',
		'input.message.input.input': 'message',
		'input.state': 'state',
		'input.environmentId': 'environmentId',
		'input.projectId': 'projectId',
		'input.decision.payload': 'payload',
		'input.decision.type': 'decision',
		'input.target': 'target',
	},
};

/** Places of ids in it. */
const RUN_IDS = ['assistant_id', 'input.environmentId', 'input.projectId'];

/**
 * The body of E4 for an item, from its fields or its JSON, but for the files that are yet to be uploaded.
 *
 * @throws NodeOperationError naming the field, the item and what is expected
 */
export function runBodyOf(item: Item): unknown {
	if (item.isJsonBody) return item.jsonBody(anyJson);
	const kind = item.choice('inputType', inputKind);
	const own = runBodyFields.filter(({ name, displayOptions }) => {
		const shown = displayOptions?.show?.inputType;
		return name !== attachments.name && (!shown || shown.includes(kind));
	});
	const { assistantId, context, ...values } = item.values(own);
	const body = {
		assistant_id: assistantId,
		input: runInput(inputOf(item, kind, values)),
		...(context === undefined ? {} : { context }),
	};
	item.checkIds(body, RUN_IDS, RUN_NAMING);
	return item.check(runBodies[kind], body, RUN_NAMING);
}

function inputOf(item: Item, kind: RunInput['kind'], values: FieldValues): RunInput {
	switch (kind) {
		case 'message': {
			const { message: text, state, environmentId, projectId } = values;
			const fileContextIds = fileIds(item, 'fileContextIds', values);
			const storageFileIds = fileIds(item, 'storageFileIds', values);
			return { kind, text, fileContextIds, storageFileIds, state, environmentId, projectId };
		}
		case 'decision':
			return { kind, decision: values.decision, payload: values.payload, target: values.target };
		case 'retry':
			return { kind };
	}
}

/** Ids of files as text with commas or, from an expression, as a list. */
function fileIds(item: Item, name: string, { [name]: given }: FieldValues): string[] {
	const ids = typeof given === 'string' ? splitIds(given) : given;
	if (ids === undefined || ids === null || (Array.isArray(ids) && isEmpty(ids))) return [];
	const list: unknown[] = Array.isArray(ids) ? ids : [ids];
	const texts = list.map((id) => (typeof id === 'number' ? String(id) : id));
	const parameter = item.labelOf(name);
	const checked = item.check(idList, texts, { parameter });
	for (const id of checked) item.checkId({ subject: `"${parameter}"`, id });
	return checked;
}
