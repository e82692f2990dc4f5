import castArray from 'lodash/castArray';
import isEmpty from 'lodash/isEmpty';
import isNil from 'lodash/isNil';
import isUndefined from 'lodash/isUndefined';
import map from 'lodash/map';
import omitBy from 'lodash/omitBy';
import truncate from 'lodash/truncate';
import { z } from 'zod';

import { chatSessionOf, readAnswerOutput } from '../../../execution/audience';
import type { AnswerOutput } from '../../../execution/audience';
import type { Naming } from '../../../execution/badInput';
import type { FieldValues } from '../../../execution/fields';
import { splitList } from '../../../execution/ids';
import type { BinaryField, Item } from '../../../execution/item';
import { checkedKey, keyOf } from '../../../execution/keys';
import { typedValue, utcText } from '../../../execution/values';
import { freeForm, idList } from '../../../payloads/common';
import { derivedId } from '../../../payloads/derivedId';
import { changedArguments, runBodies } from '../../../payloads/run';
import { intentOf, MESSAGE_KEYS, rejectsWithPayload } from '../../../runs/input';
import type { Intent, RunBody, RunKind } from '../../../runs/input';
import { isJsonObject } from '../../../transport/answer';
import { rowSubject, valuesOfRows } from '../../shared/rowValues';
import type { Row } from '../../shared/rowValues';
import { decisionFields, messageFields, retryFields } from './fields';
import { ID_KINDS, idRows, runSettings } from './options';
import type { RunOptions } from './options';

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
	const body = runBodyOf(item, kind);
	const intent = intentOf(body);
	const { kind: sent } = intent;
	const { runOn, threadId } = threadOf(item, kind, body);
	if (runOn === 'new' && sent !== 'message') {
		const demand =
			'must be "Conversation With a Key" or "Existing Thread", as a new conversation has nothing to decide or to answer again';
		return item.refuse({ subject: `"${item.labelOf('threadSource')}"`, demand });
	}
	if (!waits && sent === 'decision') {
		const demand = 'must not decide: use Thread: Decide';
		return item.refuse({ subject: `"${item.labelOf('options.jsonBody')}"`, demand });
	}
	const withMessage = kind === 'message' && !item.isJsonBody;
	const start = withMessage ? truncate(item.text('message').trim(), { length: TITLE_LENGTH }) : '';
	return {
		item,
		runOn,
		threadId,
		body,
		intent,
		options,
		waits,
		attachments: withMessage ? item.binaries('options.attachments') : [],
		title: options.title || start || undefined,
		...(waits ? readAnswerOutput(item) : { simplify: true }),
	};
}

/**
 * The chosen thread, or the thread derived from assistant and key. Automatic uses the chat session as the key; without
 * one, a new conversation.
 */
function threadOf(
	item: Item,
	kind: RunKind,
	{ assistant_id: assistantId }: RunBody,
): Pick<RunRequest, 'runOn' | 'threadId'> {
	const chosen = kind === 'message' ? item.setting('threadSource', threadSource) : 'existing';
	if (chosen === 'existing') return { runOn: chosen, threadId: item.id('threadId') };
	const session = chosen === 'auto' ? chatSessionOf(item) : undefined;
	if (chosen !== 'key' && session === undefined) return { runOn: 'new' };
	const key =
		session === undefined
			? keyOf(item, 'conversationKey', true)
			: checkedKey(item, session, 'The sessionId of the Chat Trigger', true);
	if (typeof assistantId === 'string' && assistantId !== '')
		return { runOn: 'key', threadId: derivedId(assistantId, key) };
	const subject = `"${item.labelOf('options.jsonBody')}"`;
	return item.refuse({ subject, demand: 'must name the assistant_id, to which the key belongs' });
}

const CHANGES = 'options.changedArguments';

/** The field of each path in a body. */
const FIELD_BY_PATH = {
	assistant_id: 'assistantId',
	context: 'options.context',
	'input.message.input.input': 'message',
	'input.state': 'options.state',
	'input.patch': CHANGES,
	'input.decision.payload': 'options.payload',
	'input.decision.type': 'decision',
	'input.target': 'options.target',
};

/**
 * The body of E4 for an item, without the uploaded files and, for a thread that has run, without the assistant.
 *
 * @throws NodeOperationError naming the field, the item and the requirement
 */
export function runBodyOf(item: Item, kind: RunKind): RunBody {
	if (item.isJsonBody) return readOwnBody(item, kind);
	const { fields, schema, input } = BODIES[kind];
	const { options, assistantId, ...values } = item.values(fields);
	const optional: FieldValues = isJsonObject(options) ? options : {};
	const body = {
		assistant_id: assistantId,
		input: input(item, { ...optional, ...values }),
		context: optional.context,
	};
	const naming: Naming = { fields, fieldByPath: FIELD_BY_PATH };
	item.checkIds(body, ['assistant_id'], naming);
	const checked: RunBody = item.check(schema, body, naming);
	item.jsonText(checked, naming);
	return checked;
}

/** A body that the user wrote. In Ask and Wait it may also decide, or have a message answered again. */
function readOwnBody(item: Item, kind: RunKind): RunBody {
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

function messageInput(item: Item, values: FieldValues) {
	const { message: text, state } = values;
	const { files, ...ids } = messageIds(item, values);
	const input = { ...filterValuesOf(item, values), input: text, files };
	return { action: 'send', message: { input: omitBy(input, isUndefined) }, state, ...ids };
}

function decisionInput(item: Item, values: FieldValues) {
	const { payload, changedArguments: changes = {} } = values;
	const target = values.target ?? {};
	const type = decisionOf(values.decision);
	// The user gives new arguments of waiting calls by call ID.
	const byCallId = item.check(changedArguments, changes, { parameter: item.labelOf(CHANGES) });
	const toolCalls = map(byCallId, (args, id) => ({ id, args }));
	// The server carries out a rejection that has a payload, even an empty one.
	if (type === 'reject') return { action: 'resume', target, decision: { type } };
	const patch = isEmpty(toolCalls) ? {} : { patch: { toolCalls } };
	return { action: 'resume', target, decision: { type, payload }, ...patch };
}

const retryInput = () => ({ action: 'retry', source: {} });

/** Only messages name the assistant, as a thread that has run already has one. */
const ASSISTANT = { assistant_id: true } as const;
const { message, decision, retry } = runBodies;

/** The fields, the `input` and the schema of each body of E4 (service behaviour, E4). */
const BODIES = {
	message: { fields: messageFields, input: messageInput, schema: message },
	decision: { fields: decisionFields, input: decisionInput, schema: decision.omit(ASSISTANT) },
	retry: { fields: retryFields, input: retryInput, schema: retry.omit(ASSISTANT) },
};

/** Normalizes a decision: people and models capitalize it, and approvals are often true or false. */
function decisionOf(raw: unknown): unknown {
	const text = typedValue('string', raw);
	return typeof text === 'string' ? (DECISIONS.get(text.trim().toLowerCase()) ?? text) : raw;
}

const DECISIONS = new Map(
	Object.entries({ confirm: 'confirm', true: 'confirm', reject: 'reject', false: 'reject' }),
);

const rowsOfIds = z.object({
	ids: z.array(z.object({ kind: z.enum(ID_KINDS).default('fileContext'), id: z.unknown() })),
});

const LABEL = 'ID" in "IDs';
const SUBJECT = `"${LABEL}"`;

/**
 * The files that a message names, and the environment and project of its run.
 *
 * @throws NodeOperationError for invalid IDs, and for more than one environment or project
 */
function messageIds(item: Item, { ids = [] }: FieldValues) {
	const { ids: rows } = item.check(rowsOfIds, { ids }, { fields: [idRows] });
	const all = (kind: (typeof ID_KINDS)[number]) =>
		rows.flatMap((row) => (row.kind === kind ? idsOf(item, row.id) : []));
	const one = (kind: (typeof ID_KINDS)[number]) => {
		const [id, ...more] = all(kind);
		const demand = `must name one ${kind} at most`;
		return more.length === 0 ? id : item.refuse({ subject: SUBJECT, demand });
	};
	// The names of the two kinds of file IDs must not be swapped (recorded).
	const files = [
		...all('fileContext').map((fileId) => ({ fileId })),
		...all('storageFile').map((id) => ({ id })),
	];
	return {
		files: files.length > 0 ? files : undefined,
		environmentId: one('environment'),
		projectId: one('project'),
	};
}

/** IDs as text with commas or as a list. */
function idsOf(item: Item, raw: unknown): string[] {
	const ids = castArray<unknown>(typeof raw === 'string' ? splitList(raw) : (raw ?? []));
	const texts = ids.map((id) => (typeof id === 'number' ? String(id) : id));
	if (texts.length === 0) return [];
	const checked = item.check(idList, texts, { parameter: LABEL });
	for (const id of checked) item.checkId({ subject: SUBJECT, id });
	return checked;
}

/**
 * The values for the assistant's filters, by key, from JSON and from rows.
 *
 * @throws NodeOperationError if a key belongs to the message itself, or a value is empty: `contains` with an empty
 * text, or `under` with an empty folder, finds everything (recorded, `knowledge-filter-5`)
 */
function filterValuesOf(
	item: Item,
	{ filterValues: rows, filterValuesJson = {} }: FieldValues,
): FieldValues {
	const label = item.labelOf('options.filterValues');
	const jsonLabel = item.labelOf('options.filterValuesJson');
	const mayBeEmptyKeys = new Set<string>();
	const rowValues = valuesOfRows(item, label, rows, ({ type, mayBeEmpty }: Row, key) => {
		if (mayBeEmpty && (type ?? 'string') === 'string') mayBeEmptyKeys.add(key);
		return '';
	});
	const json = item.check(freeForm, filterValuesJson, { parameter: jsonLabel });
	checkFilters(item, jsonLabel, json);
	checkFilters(item, label, rowValues, mayBeEmptyKeys);
	const jsonEntries = Object.entries(json).map(([key, value]) => [key, utcText(value)]);
	return { ...Object.fromEntries(jsonEntries), ...rowValues };
}

function checkFilters(
	item: Item,
	label: string,
	values: FieldValues,
	mayBeEmpty = new Set<string>(),
): void {
	item.jsonText(values, { parameter: label });
	for (const [key, value] of Object.entries(values)) {
		const subject = rowSubject(key, label);
		if (MESSAGE_KEYS.includes(key))
			item.refuse({ subject, demand: 'is a part of the message itself: choose another key' });
		if (isEmptyValue(value) && !mayBeEmpty.has(key))
			item.refuse({ subject, demand: 'must not be empty', cure: EMPTY_CURE });
	}
}

const EMPTY_CURE =
	'With an empty value, some filters find everything. Where that is meant, give the value as a row with "May Be Empty".';

/** Slashes in a folder do not count (recorded, `knowledge-filter-2`). */
const isEmptyValue = (value: unknown): boolean =>
	isNil(value) ||
	(typeof value === 'string' && /^[\s/]*$/.test(value)) ||
	(Array.isArray(value) && value.length === 0);
