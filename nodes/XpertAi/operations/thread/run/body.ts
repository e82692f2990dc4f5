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

/** The fields that the places of a body come from. */
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

/** Places of ids in it. */
const RUN_IDS = ['assistant_id'];

type Changes = z.infer<typeof changedArguments>;

const FIELDS = { message: messageFields, decision: decisionFields, retry: retryFields };

/** What each is made of; of a run that is there, the thread names the assistant. */
const SCHEMAS = {
	message: runBodies.message,
	decision: runBodies.decision.omit({ assistant_id: true }),
	retry: runBodies.retry.omit({ assistant_id: true }),
};

/**
 * The body of E4 for an item, but for the files that are yet to be uploaded and the assistant of a run that is there.
 *
 * @throws NodeOperationError naming the field, the item and what is expected
 */
export function runBodyOf(item: Item, kind: RunInput['kind']): RunBody {
	if (item.isJsonBody) return ownBody(item, kind);
	const fields = FIELDS[kind];
	const { options, assistantId, ...values } = item.values(fields);
	const along: FieldValues = isJsonObject(options) ? options : {};
	const body = {
		...(assistantId === undefined ? {} : { assistant_id: assistantId }),
		input: runInput(inputOf(item, kind, { ...along, ...values })),
		...(along.context === undefined ? {} : { context: along.context }),
	};
	const naming = { fields, sources: SOURCES };
	item.checkIds(body, RUN_IDS, naming);
	const checked: RunBody = item.check(SCHEMAS[kind], body, naming);
	item.jsonText(checked, naming);
	return checked;
}

/** A body that the user wrote; one of Ask and Wait may also decide, or have a message answered again. */
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
				changedArguments: changesIn(item, values),
			};
		case 'retry':
			return { kind };
	}
}

/** A decision in the server's word for it: people and models write it with a capital, and approvals are often a yes or no. */
function decisionOf(given: unknown): unknown {
	const text = typedValue('string', given);
	return typeof text === 'string' ? (DECISIONS.get(text.trim().toLowerCase()) ?? text) : given;
}

const DECISIONS = new Map([
	...['confirm', 'true'].map((word) => [word, 'confirm'] as const),
	...['reject', 'false'].map((word) => [word, 'reject'] as const),
]);

/** Other arguments for the calls that wait; none where nothing is given. */
function changesIn(item: Item, { changedArguments: given }: FieldValues): Changes | undefined {
	if (given === undefined) return undefined;
	return item.check(changedArguments, given, { parameter: item.labelOf(CHANGES) });
}
