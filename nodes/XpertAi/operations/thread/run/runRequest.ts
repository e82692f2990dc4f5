import isEmpty from 'lodash/isEmpty';
import isNil from 'lodash/isNil';
import map from 'lodash/map';
import pickBy from 'lodash/pickBy';
import truncate from 'lodash/truncate';
import { z } from 'zod';

import { chatSessionOf, readAnswerOutput, type AnswerOutput } from '../../../execution/outputFor';
import { isNamedIn, fieldName, type Naming } from '../../../execution/inputIssues';
import { completeBody } from '../../../execution/body';
import type { FieldValues } from '../../../execution/fields';
import type { BinaryField, Item } from '../../../execution/item';
import { checkedKey, keyOf } from '../../../execution/keys';
import { typedValue } from '../../../execution/values';
import { derivedId } from '../../../payloads/derivedId';
import { changedArguments, runBodies } from '../../../payloads/run';
import { filterValuesIn, intentOf, MESSAGE_KEYS } from '../../../runs/run';
import type { Intent, RunBody, RunKind } from '../../../runs/run';
import { rowName, valuesOfRows, type Row } from '../../shared/rowValues';
import { decisionFields, messageFields, retryFields } from './fields';
import { runSettings, type RunOptions } from './options';

const threadSource = z.enum(['auto', 'new', 'key', 'existing']);

const TITLE_LENGTH = 80;

/** What to send for one item and how to output the answer, read and checked. */
export interface RunRequest extends AnswerOutput {
	item: Item;
	/** Where to run, after Automatic is resolved: a new conversation, that of a key, or an existing thread. */
	runOn: Exclude<z.infer<typeof threadSource>, 'auto'>;
	/** The thread to run; for a key, an ID made of assistant and key; undefined for a new conversation. */
	threadId?: string;
	/** Names no assistant if the thread has one. */
	body: RunBody;
	/** What the body asks for. */
	intent: Intent;
	/** The binary fields of the files to send. */
	attachments: BinaryField[];
	title?: string;
	options: RunOptions;
	/** Whether to wait for the answer. */
	waits: boolean;
}

/**
 * Reads the parameters of a run.
 *
 * @param kind what the operation sends to the assistant
 * @param waits whether the operation waits for the answer, unlike Start Run
 * @throws NodeOperationError naming the parameter, the item and the requirement
 */
export function readRunRequest(item: Item, kind: RunKind, waits: boolean): RunRequest {
	const { options } = item.settings(runSettings);
	const { key, ...place } = placeOf(item, kind);
	const body = runBodyOf(item, kind, key === undefined ? [] : ['assistant_id']);
	const intent = intentOf(kind, body);
	const start = truncate(intent.text?.trim(), { length: TITLE_LENGTH });
	return {
		item,
		...place,
		...(key !== undefined && { threadId: derivedId(String(body.assistant_id), key) }),
		body,
		intent,
		options,
		waits,
		attachments: kind === 'message' ? item.binaries('options.attachments') : [],
		title: options.title || start || undefined,
		...(waits ? readAnswerOutput(item) : { simplify: true }),
	};
}

/**
 * The chosen thread, or the key of a conversation. Automatic uses the chat session as the key; without one, a new
 * conversation.
 */
function placeOf(item: Item, kind: RunKind) {
	const chosen = kind === 'message' ? item.setting('threadSource', threadSource) : 'existing';
	if (chosen === 'existing') return { runOn: chosen, threadId: item.id('threadId') };
	if (chosen === 'key') return { runOn: chosen, key: keyOf(item, 'conversationKey', true) };
	const session = chosen === 'auto' ? chatSessionOf(item) : undefined;
	if (session === undefined) return { runOn: 'new' as const };
	const key = checkedKey(item, session, 'The sessionId of the Chat Trigger', true);
	return { runOn: 'key' as const, key };
}

const CHANGES = 'options.changedArguments';

/** The field of each path in a body. */
const FIELD_BY_PATH = {
	assistant_id: 'assistantId',
	'input.message.input.input': 'message',
	'input.patch': CHANGES,
	'input.decision.type': 'decision',
};

/**
 * The body of E4 for an item, without the uploaded files and, for a thread that has run, without the assistant.
 *
 * @param reserved paths that Additional Fields (JSON) must not name, beside those of the kind
 * @throws NodeOperationError naming the field, the item and the requirement
 */
export function runBodyOf(item: Item, kind: RunKind, reserved: string[] = []): RunBody {
	const { fields, schema, bodyOf } = BODIES[kind];
	const { options, ...values } = item.values(fields);
	const optional = options as FieldValues | undefined;
	const { body, ...own } = bodyOf(item, { ...optional, ...values });
	const { value, naming } = completeBody(item, {
		value: body,
		schema,
		naming: { fields, fieldByPath: FIELD_BY_PATH },
		ids: ['assistant_id'],
		reserved: [...reserved, ...own.reserved],
	});
	const complete: RunBody = value;
	checkFilterValues(item, complete, naming, optional?.filterValues);
	item.jsonText(complete, naming);
	return complete;
}

function messageBody(item: Item, { assistantId, message: text, filterValues }: FieldValues) {
	const input = { ...rowsOfFilters(item, filterValues), input: text };
	const body = { assistant_id: assistantId, input: { action: 'send', message: { input } } };
	return { body, reserved: ['input.action'] };
}

function decisionBody(item: Item, values: FieldValues) {
	const type = decisionOf(values.decision);
	const isConfirmed = type === 'confirm';
	const changes = values.changedArguments ?? {};
	// The user gives new arguments of waiting calls by call ID.
	const byCallId = item.check(changedArguments, changes, { parameter: item.labelOf(CHANGES) });
	const toolCalls = map(byCallId, (args, id) => ({ id, args }));
	const patch = isEmpty(toolCalls) || !isConfirmed ? {} : { patch: { toolCalls } };
	// The server carries out a rejection that has a payload, even an empty one.
	const decided = isConfirmed ? ['input.decision.type'] : ['input.decision', 'input.patch'];
	return {
		body: { input: { action: 'resume', target: {}, decision: { type }, ...patch } },
		reserved: ['input.action', 'input.target', ...decided],
	};
}

const retryBody = () => ({
	body: { input: { action: 'retry', source: {} } },
	reserved: ['input.action'],
});

const { message, decision, retry } = runBodies;

/** The fields, the body and the schema of each kind of run (E4). */
const BODIES = {
	message: { fields: messageFields, bodyOf: messageBody, schema: message },
	decision: { fields: decisionFields, bodyOf: decisionBody, schema: decision },
	retry: { fields: retryFields, bodyOf: retryBody, schema: retry },
};

/** Normalizes a decision: people and models capitalize it, and approvals are often true or false. */
function decisionOf(raw: unknown): unknown {
	const text = typedValue('string', raw);
	return typeof text === 'string' ? (DECISIONS.get(text.trim().toLowerCase()) ?? text) : raw;
}

const DECISIONS = new Map(
	Object.entries({ confirm: 'confirm', true: 'confirm', reject: 'reject', false: 'reject' }),
);

const FILTERS = 'options.filterValues';

/** The values of the rows, by key. @throws NodeOperationError if a key belongs to the message itself */
function rowsOfFilters(item: Item, rows: unknown): FieldValues {
	const label = item.labelOf(FILTERS);
	const values = valuesOfRows(item, label, rows, () => '');
	const taken = MESSAGE_KEYS.find((key) => key in values);
	if (taken === undefined) return values;
	const rule = 'is a part of the message itself: choose another key';
	return item.refuse({ field: rowName(taken, label), rule });
}

/**
 * Refuses empty values for filters, from rows or from Additional Fields (JSON): `contains` with an empty text, or `under`
 * with an empty folder, finds everything (recorded, `knowledge-filter-5`).
 */
function checkFilterValues(item: Item, body: RunBody, naming: Naming, rows: unknown = []): void {
	const mayBeEmpty = (rows as Row[]).filter((row) => row.mayBeEmpty && isText(row)).map(keyIn);
	const empty = pickBy(filterValuesIn(body), isEmptyValue);
	const key = Object.keys(empty).find((one) => !mayBeEmpty.includes(one));
	if (key === undefined) return;
	const path = ['input', 'message', 'input', key];
	const field = isNamedIn(naming.additional, path)
		? fieldName(path, naming)
		: rowName(key, item.labelOf(FILTERS));
	item.refuse({ field, rule: 'must not be empty', fix: EMPTY_FIX });
}

const isText = ({ type = 'string' }: Row) => type === 'string';
const keyIn = ({ key }: Row) => String(key).trim();

const EMPTY_FIX =
	'With an empty value, some filters find everything. Where that is meant, give the value as a row with "May Be Empty".';

/** Slashes in a folder do not count (recorded, `knowledge-filter-2`). */
const isEmptyValue = (value: unknown): boolean =>
	isNil(value) ||
	(typeof value === 'string' && /^[\s/]*$/.test(value)) ||
	(Array.isArray(value) && value.length === 0);
