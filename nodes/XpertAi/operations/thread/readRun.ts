import { checkInput } from '../../execution/badInput';
import { isJsonMode, readJsonBody } from '../../execution/readBody';
import { readFields, splitIds } from '../../execution/readFields';
import type { ItemReader } from '../../execution/readFields';
import { anyJson } from '../../payloads/common';
import { runBodies } from '../../payloads/run';
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
	const kind = context.getNodeParameter('inputType', itemIndex, 'message') as RunInput['kind'];
	const own = runBodyFields.filter(({ displayOptions }) => {
		const shown = displayOptions?.show?.inputType;
		return !shown || shown.includes(kind);
	});
	const { assistantId, ...values } = readFields(reader, own);
	const { langGraphFields: further } = readFields(reader, [langGraphFields]);
	const body = {
		...(family === 'langgraph' ? (further as FieldValues | undefined) : {}),
		assistant_id: assistantId,
		...runInput(family, toInput(kind, values)),
	};
	const source = { node: context.getNode(), itemIndex };
	return checkInput(runBodies[family][kind], body, {
		...source,
		fields: [...own, langGraphFields],
		labels: { ...LABELS, ...chatLabels(kind, values.chatMessages) },
	});
}

const LABELS = {
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

/** Names the fields of each chat message. */
function chatLabels(kind: RunInput['kind'], messages: unknown): Record<string, string> {
	if (kind !== 'chat' || !Array.isArray(messages)) return {};
	const labels = messages.flatMap((_, index) => [
		[`input.messages.${index}.role`, `Role" of message ${index + 1} in "Chat Messages`],
		[`input.messages.${index}.content`, `Content" of message ${index + 1} in "Chat Messages`],
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
	return Array.isArray(ids) ? ids.map((id: unknown) => ({ id: String(id) })) : ids;
}
