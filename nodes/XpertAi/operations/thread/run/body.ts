import type { z } from 'zod';

import type { Naming } from '../../../execution/badInput';
import type { Item } from '../../../execution/item';
import type { FieldValues } from '../../../execution/fields';
import { typedValue } from '../../../execution/values';
import { freeForm } from '../../../payloads/common';
import { changedArguments, runBodies } from '../../../payloads/run';
import { intentOf, rejectsWithPayload, runInput } from '../../../runs/input';
import type { RunBody, RunInput } from '../../../runs/input';
import { isJsonObject } from '../../../transport/answer';
import { filterValuesOf } from './filterValues';
import { decisionFields, messageFields, retryFields } from './fields';
import { messageIds } from './idRows';

const CHANGES = 'options.changedArguments';

/** The field of each path in a body. */
const SOURCES = {
	assistant_id: 'assistantId',
	context: 'options.context',
	'input.message.input.input': 'message',
	'input.state': 'options.state',
	'input.patch': CHANGES,
	'input.decision.payload': 'options.payload',
	'input.decision.type': 'decision',
	'input.target': 'options.target',
};

/** Paths of IDs in the body. */
const RUN_IDS = ['assistant_id'];

type Changes = z.infer<typeof changedArguments>;

const FIELDS = { message: messageFields, decision: decisionFields, retry: retryFields };

/** The schema of each body; only messages name the assistant, as a thread that has run already has one. */
const SCHEMAS = {
	message: runBodies.message,
	decision: runBodies.decision.omit({ assistant_id: true }),
	retry: runBodies.retry.omit({ assistant_id: true }),
};

/**
 * The body of E4 for an item, without the uploaded files and, for a thread that has run, without the assistant.
 *
 * @throws NodeOperationError naming the field, the item and the requirement
 */
export function runBodyOf(item: Item, kind: RunInput['kind']): RunBody {
	if (item.isJsonBody) return ownBody(item, kind);
	const fields = FIELDS[kind];
	const { options, assistantId, ...values } = item.values(fields);
	const optional: FieldValues = isJsonObject(options) ? options : {};
	const body = {
		...(assistantId === undefined ? {} : { assistant_id: assistantId }),
		input: runInput(inputOf(item, kind, { ...optional, ...values })),
		...(optional.context === undefined ? {} : { context: optional.context }),
	};
	const naming = { fields, sources: SOURCES };
	item.checkIds(body, RUN_IDS, naming);
	const checked: RunBody = item.check(SCHEMAS[kind], body, naming);
	item.jsonText(checked, naming);
	return checked;
}

/** A body that the user wrote. In Ask and Wait it may also decide, or have a message answered again. */
function ownBody(item: Item, kind: RunInput['kind']): RunBody {
	const value: RunBody = item.jsonBody(freeForm);
	const naming: Naming = { parameter: item.labelOf('options.jsonBody') };
	const subject = `"${naming.parameter}"`;
	item.jsonText(value, naming);
	if (kind !== 'message' && intentOf(value).kind !== kind)
		return item.refuse({ subject, demand: `must have the "input" of this operation` });
	if (!rejectsWithPayload(value)) return value;
	const demand =
		'must not give a rejection a "payload", as the server then carries out what was rejected';
	return item.refuse({ subject, demand });
}

function inputOf(item: Item, kind: RunInput['kind'], values: FieldValues): RunInput {
	switch (kind) {
		case 'message': {
			const { message: text, state } = values;
			return {
				kind,
				text,
				values: filterValuesOf(item, values),
				...messageIds(item, values),
				state,
			};
		}
		case 'decision':
			return {
				...{
					kind,
					decision: decisionOf(values.decision),
					payload: values.payload,
					target: values.target,
				},
				changedArguments: argumentChanges(item, values),
			};
		case 'retry':
			return { kind };
	}
}

/** Normalizes a decision: people and models capitalize it, and approvals are often true or false. */
function decisionOf(raw: unknown): unknown {
	const text = typedValue('string', raw);
	return typeof text === 'string' ? (DECISIONS.get(text.trim().toLowerCase()) ?? text) : raw;
}

const DECISIONS = new Map([
	...['confirm', 'true'].map((word) => [word, 'confirm'] as const),
	...['reject', 'false'].map((word) => [word, 'reject'] as const),
]);

/** New arguments for waiting calls, if any. */
function argumentChanges(
	item: Item,
	{ changedArguments: changes }: FieldValues,
): Changes | undefined {
	if (changes === undefined) return undefined;
	return item.check(changedArguments, changes, { parameter: item.labelOf(CHANGES) });
}
