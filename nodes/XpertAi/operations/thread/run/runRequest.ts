import { findKey, isEmpty, isNil, map, truncate } from 'lodash';
import { z } from 'zod';

import { chosenBinaryFields } from '../../../execution/binary';
import { convertToType } from '../../../execution/fieldSchemas';
import type { FieldValues } from '../../../execution/fieldBuilders';
import { checkedKey, type ItemParameterReader, keyOf } from '../../../execution/identityFields';
import { throwMissingPart } from '../../../execution/missingExpressionPart';
import { fieldLabel, type FieldNaming } from '../../../execution/issueText';
import { setsPath } from '../../../execution/jsonParts';
import type { Item } from '../../../execution/item';
import { readOutputFormat } from '../../../execution/outputs';
import { isTool } from '../../../execution/n8nExecution';
import { mergeAdditionalFields } from '../../../execution/requestBody';
import { changedArguments, runBodySchemas } from '../../../payloads/requestSchemas';
import { missingValueIssue, missingValueOrObjectText } from '../../../payloads/missingValues';
import { derivedId } from '../../../payloads/ids';
import {
	intentOf,
	NON_FILTER_KEYS,
	type RunBody,
	type RunKind,
	valuesForFilters,
} from '../../../runs/runBody';
import { type Row, rowName, valuesOfRows } from '../../shared/typedRows';
import { decisionField, messageFields } from './fields';
import { runOptionsField } from './optionFields';
import { runSettingsSchema } from './runSettings';
import { chatSessionIdOf } from './chatTriggerSession';
import { unresolvedValue } from '../../../execution/givenValues';

const threadSourceSchema = z.enum(['auto', 'new', 'key', 'existing']);

/** Maximum length of a title that is taken from the message. */
const TITLE_LENGTH = 80;

/** What to send for an item, and how to output the answer. */
export type RunInput = ReturnType<typeof readRunInput>;

/**
 * Reads the parameters of a run. Sends nothing.
 *
 * @param kind what the operation sends to the assistant
 * @param waits false for Start Run, which does not wait for the answer
 * @throws NodeOperationError if a parameter is invalid
 */
export function readRunInput(item: Item, kind: RunKind, waits: boolean) {
	const { options, tuning } = item.settings(runSettingsSchema);
	const { key, threadId, conversationKind, noChatReason } = readConversationChoice(item, kind);
	// If a conversation key is set, the thread ID below depends on the assistant, so additional fields must not change
	// the assistant.
	const body = runBodyOf(item, kind, key === undefined ? [] : ['assistant_id']);
	const intent = intentOf(kind, body);
	const startOfMessage = truncate(intent.text?.trim(), { length: TITLE_LENGTH });
	return {
		item,
		conversationKind,
		noChatReason,
		// With a key, `openConversationByKey` derives the actual thread ID from this value.
		threadOrKeyId: key === undefined ? threadId : derivedId(String(body.assistant_id), key),
		body,
		intent,
		options,
		tuning,
		waits,
		attachments: kind === 'message' ? chosenBinaryFields(item, 'options.attachments') : [],
		title: options.title || startOfMessage || undefined,
		...(waits ? readOutputFormat(item) : { simplify: true }),
	};
}

/** The conversation of a run, as the user chose it. */
interface ConversationChoice {
	conversationKind: Exclude<z.output<typeof threadSourceSchema>, 'auto'>;
	/** The "Conversation Key", or the session of the chat. */
	key?: string;
	threadId?: string;
	/** Why "Of This Chat" means a new conversation: no chat message at all, or a chat message without a session. */
	noChatReason?: 'chat' | 'session';
}

/**
 * Reads which conversation the run belongs to. A decision and a retry are about an existing thread. Without a chat session,
 * "Of This Chat" means a new conversation.
 */
function readConversationChoice(item: Item, kind: RunKind): ConversationChoice {
	const chosen = kind === 'message' ? item.setting('threadSource', threadSourceSchema) : 'existing';
	if (chosen === 'existing')
		return { conversationKind: chosen, threadId: item.filledText('threadId') };
	if (chosen === 'key') return { conversationKind: chosen, key: conversationKeyOf(item) };
	if (chosen === 'new') return { conversationKind: chosen };
	const session = chatSessionIdOf(item);
	if (!isNil(session)) {
		const key = checkedKey(item, session, 'The sessionId of the Chat Trigger', { isShared: true });
		return { conversationKind: 'key', key };
	}
	if (session === null) return { conversationKind: 'new', noChatReason: 'session' };
	// Tools do not offer "Of This Chat". The value was set when the node was not a tool, so the user needs no hint.
	return { conversationKind: 'new', noChatReason: isTool(item.context) ? undefined : 'chat' };
}

/** Path of the parameter "Changed Arguments". */
const CHANGED_ARGUMENTS_PARAMETER = 'options.changedArguments';

/** The parameter that sets each path of the body, for error messages. */
const FIELD_BY_PATH = {
	assistant_id: 'assistantId',
	'input.message.input.input': 'message',
	'input.patch': CHANGED_ARGUMENTS_PARAMETER,
	'input.decision.type': 'decision',
};

/**
 * Builds the request body of a run, without the uploaded files.
 *
 * @param reserved paths that Additional Fields (JSON) must not set, in addition to those of every run of this kind
 * @throws NodeOperationError if a parameter is invalid
 */
export function runBodyOf(item: Item, kind: RunKind, reserved: string[] = []): RunBody {
	const { fields, schema, bodyOf } = BODY_PARTS_BY_KIND[kind];
	const { options, ...parameters } = item.values(fields);
	const optionValues = options as FieldValues | undefined;
	const { body, reserved: reservedOfKind } = bodyOf(item, { ...optionValues, ...parameters });
	const { value: complete, fieldNaming } = mergeAdditionalFields<RunBody>(
		item,
		body,
		schema,
		{ fields, fieldByPath: FIELD_BY_PATH },
		[...reserved, ...reservedOfKind],
	);
	checkFilterValues(item, complete, fieldNaming, optionValues?.filterValues);
	// Throws if the body cannot be written as JSON.
	item.toJsonText(complete, fieldNaming);
	return complete;
}

/** Returns the body of a message, and the paths that Additional Fields (JSON) must not set. */
function messageBodyAndReserved(
	item: Item,
	{ assistantId, message: text, filterValues }: FieldValues,
) {
	const input = { ...readFilterValues(item, filterValues), input: text };
	const body = { assistant_id: assistantId, input: { action: 'send', message: { input } } };
	return { body, reserved: ['input.action'] };
}

/** Returns the body of a decision, and the paths that Additional Fields (JSON) must not set. */
function decisionBodyAndReserved(item: Item, values: FieldValues) {
	const type = normalizedDecision(values.decision);
	const isConfirmed = type === 'confirm';
	const changes = values.changedArguments ?? {};
	// The user enters arguments by call ID, but the server expects a list of calls.
	const byCallId = item.check(changedArguments, changes, {
		parameterLabel: item.labelOf(CHANGED_ARGUMENTS_PARAMETER),
	});
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

/** Returns the body of a retry, and the paths that Additional Fields (JSON) must not set. */
const retryBodyAndReserved = () => ({
	body: { input: { action: 'retry', source: {} } },
	reserved: ['input.action'],
});

const { message, decision, retry } = runBodySchemas;

/** How to build the body of each kind of run. */
const BODY_PARTS_BY_KIND = {
	message: {
		fields: [...messageFields, runOptionsField],
		bodyOf: messageBodyAndReserved,
		schema: message,
	},
	decision: {
		fields: [decisionField, runOptionsField],
		bodyOf: decisionBodyAndReserved,
		schema: decision,
	},
	retry: { fields: [runOptionsField], bodyOf: retryBodyAndReserved, schema: retry },
};

/** Normalizes a decision. Ignores case, and accepts the answers in `DECISION_BY_ANSWER`. */
function normalizedDecision(raw: unknown): unknown {
	const value = convertToType('string', raw);
	if (typeof value !== 'string') return raw;
	const text = value.trim().toLowerCase();
	return DECISION_BY_ANSWER.get(text) ?? text;
}

/** The decision for each answer to the question whether the tool may be called: a boolean, or the words of a form. */
const DECISION_BY_ANSWER = new Map([
	['true', 'confirm'],
	['yes', 'confirm'],
	['false', 'reject'],
	['no', 'reject'],
]);

/** Path of the parameter "Values for Filters". */
const FILTER_VALUES_PARAMETER = 'options.filterValues';

/** Reads the values for filters, by key. Rejects the keys in `NON_FILTER_KEYS`. */
function readFilterValues(item: Item, rows: unknown): FieldValues {
	const label = item.labelOf(FILTER_VALUES_PARAMETER);
	const values = valuesOfRows(item, label, rows, {
		whenEmpty: () => '',
		whenMissing: (missing, key) => throwMissingPart(item, rowName(key, label), missing),
	});
	const taken = NON_FILTER_KEYS.find((key) => key in values);
	if (taken === undefined) return values;
	const issue = 'is a part of the message itself: choose another key';
	const advice = 'Change the Key of this row.';
	return item.throwIssue({ label: rowName(taken, label), issue, advice });
}

/**
 * Checks the filter values of a complete body.
 *
 * @param rows the rows of "Values for Filters"
 * @throws NodeOperationError if a value stands for a missing value, such as `undefined`, or is empty. Only a value with a
 * text row with "May Be Empty" may be empty. A value from Additional Fields (JSON) without such a row may not.
 */
function checkFilterValues(
	item: Item,
	body: RunBody,
	fieldNaming: FieldNaming,
	rows: unknown = [],
) {
	const values: FieldValues = { ...valuesForFilters(body) };
	const fieldOf = (key: string) => {
		const path = ['input', 'message', 'input', key];
		const isAdditional = setsPath(fieldNaming.additionalJson, path);
		return isAdditional
			? fieldLabel(path, fieldNaming)
			: rowName(key, item.labelOf(FILTER_VALUES_PARAMETER));
	};
	const missingKey = findKey(values, (value) => [value].flat().some(isMissingValueText));
	if (missingKey !== undefined) {
		const text = [values[missingKey]].flat().find(isMissingValueText);
		item.throwIssue({ label: fieldOf(missingKey), issue: missingValueIssue(String(text)) });
	}
	const mayBeEmpty = keysThatMayBeEmpty(rows as Row[]);
	const emptyKey = findKey(
		values,
		(value, key) => isEmptyFilterValue(value) && !mayBeEmpty.includes(key),
	);
	if (emptyKey === undefined) return;
	item.throwIssue({ label: fieldOf(emptyKey), issue: 'must not be empty', advice: EMPTY_ADVICE });
}

/** The keys of the text rows with "May Be Empty". */
const keysThatMayBeEmpty = (rows: Row[]) =>
	rows
		.filter(({ mayBeEmpty, type = 'string' }) => mayBeEmpty && type === 'string')
		.map(({ key }) => String(key).trim());

/** Whether a value is a text that stands for a missing value, such as `undefined`. */
const isMissingValueText = (value: unknown) =>
	typeof value === 'string' && missingValueOrObjectText(value.trim()) !== undefined;

/* With an empty value, some filters match everything. Recorded in `test/recordings/knowledge-filter-5.json`. */
const EMPTY_ADVICE =
	'Correct the value, or the expression or column it comes from. Only a row with "May Be Empty" may hold an empty one, and some filters then find everything.';

/** Whether a filter value is empty. A text such as `/` is an empty folder path. */
const isEmptyFilterValue = (value: unknown): boolean =>
	isNil(value) ||
	(typeof value === 'string' && /^[\s/]*$/.test(value)) ||
	(Array.isArray(value) && (value.length === 0 || value.some(isNil)));

/**
 * Reads the key of a conversation. Visitors with the same key share a conversation, so each part must be there.
 *
 * @throws NodeOperationError if a part of the key is missing, or the key is not valid
 */
export function conversationKeyOf(item: ItemParameterReader): string {
	const readsSession = /\bsessionId\b/.test(String(unresolvedValue(item.node, 'conversationKey')));
	const issueAddition =
		readsSession && isTool(item.expressionScope.context) ? NO_CHAT_IN_TEST_TEXT : '';
	return keyOf(item, 'conversationKey', { needsEveryPart: true, isShared: true, issueAddition });
}

/** Added to the issue, and not given as advice, because the output of a tool shows only the message of an error. */
const NO_CHAT_IN_TEST_TEXT =
	'. A tool that is tested alone has no chat: for the test, write {{ $json.sessionId || "test" }}';
