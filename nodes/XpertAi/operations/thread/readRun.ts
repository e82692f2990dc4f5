import { z } from 'zod';

import { checkInput } from '../../execution/badInput';
import { isJsonMode, readJsonBody } from '../../execution/readBody';
import { readFields, splitIds } from '../../execution/readFields';
import type { ItemReader } from '../../execution/readFields';
import { anyJson } from '../../payloads/common';
import { chatInput, runBodies } from '../../payloads/run';
import { runInput } from '../../runs/input';
import type { RunInput, ServerFamily } from '../../runs/input';
import type { FieldValues } from '../operation';
import { langGraphFields } from './langGraphFields';
import { runBodyFields } from './runFields';

/**
 * The body of E4 for an item, from its fields or its JSON.
 *
 * @throws NodeOperationError naming the field, the item and what is expected
 */
export function readRunBody(reader: ItemReader, family: ServerFamily): unknown {
	if (isJsonMode(reader)) return readJsonBody(reader, anyJson);
	const { context, itemIndex } = reader;
	const source = { node: context.getNode(), itemIndex };
	const given: unknown = context.getNodeParameter('inputType', itemIndex, 'message');
	const kind = checkInput(inputKind, given, { ...source, parameter: 'Input' });
	const own = runBodyFields.filter(({ displayOptions }) => {
		const shown = displayOptions?.show?.inputType;
		return !shown || shown.includes(kind);
	});
	const { assistantId, ...values } = readFields(reader, own);
	const { langGraphFields: further } = readFields(reader, [langGraphFields]);
	if (kind === 'chat') {
		const labels = { ...chatLabels(values.chatMessages), messages: 'Chat Messages' };
		checkInput(chatInput, { messages: values.chatMessages }, { ...source, fields: [], labels });
	}
	const body = {
		...(family === 'langgraph' ? (further as FieldValues | undefined) : {}),
		assistant_id: assistantId,
		...runInput(family, toInput(kind, values)),
	};
	return checkInput(runBodies[family][kind], body, { ...source, ...RUN_NAMES });
}

const inputKind = z.enum(['message', 'chat', 'decision']);

const LABELS = {
	'input.decision.payload': 'Payload',
	'command.resume.payload': 'Payload',
	assistant_id: 'Assistant',
	input: 'Message',
	'input.message.input.input': 'Message',
	'input.message.input.files': 'File IDs',
	'input.messages': 'Chat Messages',
	'input.messages.0.content': 'Message',
	'command.resume.type': 'Decision',
	'input.decision.type': 'Decision',
	'input.target': 'Target',
};

/** How messages name the parts of a body that fields make. */
export const RUN_NAMES = { fields: [...runBodyFields, langGraphFields], labels: LABELS };

/** Names the fields of each chat message. */
function chatLabels(messages: unknown): Record<string, string> {
	if (!Array.isArray(messages)) return {};
	const labels = messages.flatMap((_, index) => [
		[`messages.${index}.role`, `Role" of message ${index + 1} in "Chat Messages`],
		[`messages.${index}.content`, `Content" of message ${index + 1} in "Chat Messages`],
	]);
	return Object.fromEntries(labels) as Record<string, string>;
}

function toInput(kind: RunInput['kind'], values: FieldValues): RunInput {
	switch (kind) {
		case 'chat':
			return { kind, messages: values.chatMessages };
		case 'decision':
			return { kind, decision: values.decision, payload: values.payload, target: values.target };
		default:
			return { kind: 'message', text: values.message, files: fileList(values.files) };
	}
}

function fileList(files: unknown): unknown {
	const ids = typeof files === 'string' ? splitIds(files) : files;
	if (!Array.isArray(ids)) return ids;
	return ids.map((id: unknown) => ({ id: typeof id === 'number' ? String(id) : id }));
}
