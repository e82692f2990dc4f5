import { findKey, isEmpty, isNil, map, pickBy, truncate } from 'lodash';
import { CHAT_TRIGGER_NODE_TYPE, type INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import { binariesOf } from '../../../execution/binary';
import { typedValue } from '../../../execution/fieldSchemas';
import type { FieldValues } from '../../../execution/fields';
import { checkedKey, conversationKeyOf, throwMissingPart } from '../../../execution/identity';
import { fieldName, type FieldNames, isNamedIn } from '../../../execution/issueText';
import type { Item } from '../../../execution/item';
import { isInLoop, isTool, readOutput } from '../../../execution/outputs';
import { mergeAdditionalFields } from '../../../execution/runOperation';
import { changedArguments, runBodies } from '../../../payloads/bodies';
import { missingValueIn, missingValueIssue } from '../../../payloads/identity';
import { derivedId } from '../../../payloads/ids';
import {
	filterValuesIn,
	intentOf,
	MESSAGE_KEYS,
	type RunBody,
	type RunKind,
} from '../../../runs/runBody';
import { type Row, rowName, valuesOfRows } from '../../shared/rowValues';
import { askedFields, decisionField } from './fields';
import { runOptions, runSettingsSchema } from './options';

const threadSource = z.enum(['auto', 'new', 'key', 'existing']);

const TITLE_LENGTH = 80;

/** What to send for an item, and how to output the answer. */
export type RunRequest = ReturnType<typeof readRunRequest>;

/**
 * Reads the parameters of a run.
 *
 * @param kind what the operation sends to the assistant
 * @param waits false for Start Run, which does not wait for the answer
 * @throws NodeOperationError if a parameter is invalid
 */
export function readRunRequest(item: Item, kind: RunKind, waits: boolean) {
	const { options, tuning } = item.settings(runSettingsSchema);
	const { key, threadId, runOn, lacksChat } = placeOf(item, kind);
	// If a conversation key is set, the thread ID below depends on the assistant, so additional fields must not change
	// the assistant.
	const body = runBodyOf(item, kind, key === undefined ? [] : ['assistant_id']);
	const intent = intentOf(kind, body);
	const start = truncate(intent.text?.trim(), { length: TITLE_LENGTH });
	return {
		item,
		runOn,
		lacksChat,
		// With a key, `openConversationByKey` derives the actual thread ID from this value.
		threadId: key === undefined ? threadId : derivedId(String(body.assistant_id), key),
		body,
		intent,
		options,
		tuning,
		waits,
		attachments: kind === 'message' ? binariesOf(item, 'options.attachments') : [],
		title: options.title || start || undefined,
		...(waits ? readOutput(item) : { simplify: true }),
	};
}

/** Where a message goes. */
interface RunPlace {
	runOn: Exclude<z.output<typeof threadSource>, 'auto'>;
	key?: string;
	threadId?: string;
	/** Why "Of This Chat" means a new conversation: no chat at all, or a chat message without a session. */
	lacksChat?: 'chat' | 'session';
}

/** Returns where the message goes. Without a chat session, "Automatic" means a new conversation. */
function placeOf(item: Item, kind: RunKind): RunPlace {
	const chosen = kind === 'message' ? item.setting('threadSource', threadSource) : 'existing';
	if (chosen === 'existing') return { runOn: chosen, threadId: item.filledText('threadId') };
	if (chosen === 'key') return { runOn: chosen, key: conversationKeyOf(item) };
	const session = chosen === 'auto' ? chatSessionOf(item) : undefined;
	if (isNil(session)) {
		// In a tool, the setting is left over from a node: the panel does not offer it.
		const isOutside = chosen === 'auto' && !isTool(item.context);
		return {
			runOn: 'new',
			lacksChat: session === null ? 'session' : isOutside ? 'chat' : undefined,
		};
	}
	const key = checkedKey(item, session, 'The sessionId of the Chat Trigger', true);
	return { runOn: 'key', key };
}

const CHANGES = 'options.changedArguments';

/** The parameter that sets each path of the body. Used in error messages. */
const FIELD_BY_PATH = {
	assistant_id: 'assistantId',
	'input.message.input.input': 'message',
	'input.patch': CHANGES,
	'input.decision.type': 'decision',
};

/**
 * Builds the request body of a run, without the uploaded files.
 *
 * @param reserved paths that Additional Fields (JSON) must not set, in addition to those of every run of this kind
 * @throws NodeOperationError if a parameter is invalid
 */
export function runBodyOf(item: Item, kind: RunKind, reserved: string[] = []): RunBody {
	const { fields, schema, bodyOf } = BODIES[kind];
	const { options, ...values } = item.values(fields);
	const optional = options as FieldValues | undefined;
	const { body, ...own } = bodyOf(item, { ...optional, ...values });
	const panel = { fields, fieldByPath: FIELD_BY_PATH };
	const taken = [...reserved, ...own.reserved];
	const { value: complete, fieldNames } = mergeAdditionalFields<RunBody>(
		item,
		body,
		schema,
		panel,
		taken,
	);
	checkFilterValues(item, complete, fieldNames, optional?.filterValues);
	item.jsonText(complete, fieldNames);
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
	// The user enters arguments by call ID, but the server expects a list of calls.
	const byCallId = item.check(changedArguments, changes, { parameter: item.labelOf(CHANGES) });
	const toolCalls = map(byCallId, (args, id) => ({ id, args }));
	const patch = isEmpty(toolCalls) || !isConfirmed ? {} : { patch: { toolCalls } };
	// A rejection must not have a payload. With any payload, even null, the server executes the rejected call.
	// So Additional Fields (JSON) must not set any part of a rejection.
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

const BODIES = {
	message: { fields: [...askedFields, runOptions], bodyOf: messageBody, schema: message },
	decision: { fields: [decisionField, runOptions], bodyOf: decisionBody, schema: decision },
	retry: { fields: [runOptions], bodyOf: retryBody, schema: retry },
};

/** Normalizes a decision. Ignores case, and accepts true for confirm and false for reject. */
function decisionOf(raw: unknown): unknown {
	const value = typedValue('string', raw);
	if (typeof value !== 'string') return raw;
	const text = value.trim().toLowerCase();
	return APPROVALS.get(text) ?? text;
}

const APPROVALS = new Map([
	['true', 'confirm'],
	['false', 'reject'],
]);

const FILTERS = 'options.filterValues';

/** Reads the values for filters, by key. Rejects the keys in `MESSAGE_KEYS`. */
function rowsOfFilters(item: Item, rows: unknown): FieldValues {
	const label = item.labelOf(FILTERS);
	const values = valuesOfRows(item, label, rows, {
		whenEmpty: () => '',
		whenMissing: (missing, key) => throwMissingPart(item, rowName(key, label), missing),
	});
	const taken = MESSAGE_KEYS.find((key) => key in values);
	if (taken === undefined) return values;
	const issue = 'is a part of the message itself: choose another key';
	return item.throwIssue({ field: rowName(taken, label), issue });
}

/**
 * Rejects filter values that are wholly a word such as `undefined`. Rejects empty filter values, except text rows with "May Be Empty". An empty value makes some filters match
 * everything. Recorded in `test/recordings/knowledge-filter-5.json`.
 */
function checkFilterValues(item: Item, body: RunBody, fieldNames: FieldNames, rows: unknown = []) {
	const mayBeEmpty = (rows as Row[])
		.filter((row) => row.mayBeEmpty && isTextRow(row))
		.map(trimmedKey);
	const values: FieldValues = { ...filterValuesIn(body) };
	const fieldOf = (key: string) => {
		const path = ['input', 'message', 'input', key];
		const isAdditional = isNamedIn(fieldNames.additional, path);
		return isAdditional ? fieldName(path, fieldNames) : rowName(key, item.labelOf(FILTERS));
	};
	const missing = findKey(values, (value) => [value].flat().some(isMissingText));
	if (missing !== undefined) {
		const [text] = [values[missing]].flat().filter(isMissingText);
		item.throwIssue({ field: fieldOf(missing), issue: missingValueIssue(String(text)) });
	}
	const empty = pickBy(values, isEmptyValue);
	const key = Object.keys(empty).find((one) => !mayBeEmpty.includes(one));
	if (key === undefined) return;
	item.throwIssue({ field: fieldOf(key), issue: 'must not be empty', advice: EMPTY_ADVICE });
}

/** Whether a value is a text that stands for a missing value, such as `undefined`. */
const isMissingText = (value: unknown) =>
	typeof value === 'string' && missingValueIn(value.trim()) !== undefined;

const isTextRow = ({ type = 'string' }: Row) => type === 'string';
const trimmedKey = ({ key }: Row) => String(key).trim();

const EMPTY_ADVICE =
	'With an empty value, some filters find everything. Where that is meant, give the value as a row with "May Be Empty".';

/** Whether a filter value is empty. A text such as `/` is an empty folder path. */
const isEmptyValue = (value: unknown): boolean =>
	isNil(value) ||
	(typeof value === 'string' && /^[\s/]*$/.test(value)) ||
	(Array.isArray(value) && (value.length === 0 || value.some(isNil)));

/**
 * The node type of Loop Over Items. Each round of this loop has other items. These items must not share the
 * conversation of the chat session. Other loops come back with the same chat message, so they keep its conversation.
 */
const LOOP_OVER_ITEMS = 'n8n-nodes-base.splitInBatches';

const chatMessage = z.object({ sessionId: z.string().trim().min(1).or(z.number()) });

/**
 * The session ID of the chat message that started the execution.
 *
 * @returns null if the chat message has no session; undefined without a chat message, in the tool of an agent, and
 * inside Loop Over Items
 */
export function chatSessionOf({ context, index }: Item): string | number | null | undefined {
	if (isTool(context)) return undefined;
	const triggers = context
		.getParentNodes(context.getNode().name)
		.filter(({ type, disabled }) => type === CHAT_TRIGGER_NODE_TYPE && !disabled);
	if (triggers.length === 0 || isInLoop(context, LOOP_OVER_ITEMS)) return undefined;
	const { $: outputOf } = context.getWorkflowDataProxy(index) as {
		$: (name: string) => { isExecuted: boolean; first: () => INodeExecutionData | undefined };
	};
	const started = triggers.map(({ name }) => outputOf(name)).find(({ isExecuted }) => isExecuted);
	if (!started) return undefined;
	return chatMessage.safeParse(started.first()?.json).data?.sessionId ?? null;
}
