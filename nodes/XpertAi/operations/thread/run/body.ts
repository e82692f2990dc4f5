import isEmpty from 'lodash/isEmpty';
import { z } from 'zod';

import { checkInput } from '../../../execution/badInput';
import { isJsonMode, readJsonBody } from '../../../execution/readBody';
import { readFields, splitIds } from '../../../execution/readFields';
import type { ItemReader } from '../../../execution/readFields';
import { anyJson, idList } from '../../../payloads/common';
import { runBodies } from '../../../payloads/run';
import { runInput } from '../../../runs/input';
import type { RunInput } from '../../../runs/input';
import type { FieldValues } from '../../operation';
import { runBodyFields } from './fields';

/**
 * The body of E4 for an item, from its fields or its JSON.
 *
 * @throws NodeOperationError naming the field, the item and what is expected
 */
export function readRunBody(reader: ItemReader): unknown {
	if (isJsonMode(reader)) return readJsonBody(reader, anyJson);
	const { context, itemIndex } = reader;
	const source = { node: context.getNode(), itemIndex };
	const given: unknown = context.getNodeParameter('inputType', itemIndex, 'message');
	const kind = checkInput(inputKind, given, { ...source, parameter: 'Input' });
	const own = runBodyFields.filter(({ displayOptions }) => {
		const shown = displayOptions?.show?.inputType;
		return !shown || shown.includes(kind);
	});
	const { assistantId, context: runContext, ...values } = readFields(reader, own);
	const body = {
		assistant_id: assistantId,
		input: runInput(toInput(reader, kind, values)),
		...(runContext === undefined ? {} : { context: runContext }),
	};
	return checkInput(runBodies[kind], body, { ...source, ...RUN_NAMES });
}

const inputKind = z.enum(['message', 'decision', 'retry']);

const LABELS = {
	assistant_id: 'Assistant',
	context: 'Context',
	input: 'Message',
	'input.message.input.input': 'Message',
	'input.state': 'State',
	'input.environmentId': 'Environment ID',
	'input.projectId': 'Project ID',
	'input.decision.payload': 'Payload',
	'input.decision.type': 'Decision',
	'input.target': 'Target',
};

/** How messages name the parts of a body that fields make. */
export const RUN_NAMES = { fields: runBodyFields, labels: LABELS };

function toInput(reader: ItemReader, kind: RunInput['kind'], values: FieldValues): RunInput {
	switch (kind) {
		case 'message': {
			const { message: text, state, environmentId, projectId } = values;
			const fileContextIds = fileIds(reader, values.fileContextIds, 'File Context IDs');
			const storageFileIds = fileIds(reader, values.storageFileIds, 'Storage File IDs');
			return { kind, text, fileContextIds, storageFileIds, state, environmentId, projectId };
		}
		case 'decision':
			return { kind, decision: values.decision, payload: values.payload, target: values.target };
		case 'retry':
			return { kind };
	}
}

/** Ids of files as text with commas or, from an expression, as a list. */
function fileIds({ context, itemIndex }: ItemReader, given: unknown, parameter: string): string[] {
	const ids = typeof given === 'string' ? splitIds(given) : given;
	if (ids === undefined || ids === null || (Array.isArray(ids) && isEmpty(ids))) return [];
	const source = { node: context.getNode(), itemIndex, parameter };
	const list: unknown[] = Array.isArray(ids) ? ids : [ids];
	return checkInput(
		idList,
		list.map((id) => (typeof id === 'number' ? String(id) : id)),
		source,
	);
}
