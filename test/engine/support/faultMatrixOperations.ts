import { has } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { isCoded } from '../../../nodes/XpertAi/execution/operation';
import type { Operation } from '../../../nodes/XpertAi/execution/operation';
import { calledBy, caseTitled, titleOf } from './caseOperations';
import { ALL_CASES, type OperationCase } from './cases';
import type { World } from './records';
import { clock } from './clock';
import type { Kind } from './faultMatrixReactions';

/** Requests, as a rule of the sandbox picks them. */
export interface Picked {
	endpoint?: string;
	method?: string;
	path?: string;
}

/** An operation of the catalogue and a good call of it. */
export interface MatrixOperation {
	name: string;
	kind: Kind;
	parameters: (world: World) => INodeParameters;
	/** The requests that meet the fault; others beside them meet none. */
	meets: Picked;
	/** JSON a server without fault answers, or nothing. */
	answer: (world: World) => string;
	/** What is answered to all other requests; the sandbox answers by itself without it. */
	beside?: string;
	/** Faults whose answer is a right one of this operation. */
	right?: RegExp;
	/** Faults whose answer says that the record is not there, which ends the operation. */
	gone?: RegExp;
	/** Faults that cannot be: a server has a file under the ID that it has given. */
	not?: RegExp;
}

const ANOTHER_RECORD = /^Record of another/;
/** An empty list is all that a server has. */
const EMPTY_LIST = /^`\[\]`/;
/** What is deleted is answered with nothing. */
const EMPTY = /^Empty body/;
/** Servers say so of a conversation that is not there. */
const NOT_THERE = /^`\{\}`/;
const ANY_LIST = /^`\[\]`|^Record of another/;

const ID = '2f78e81b-096f-42ff-8ac0-8403fd81392d';
const OTHER_ID = '0f0b5d29-99cd-433a-8aed-09da49af709a';

const CODED: Record<string, Kind> = {
	start: 'start',
	getRun: 'read',
	waitForRun: 'follow',
	cancelRun: 'cancel',
	run: 'run',
	disable: 'update',
	enable: 'update',
};

/** In which way an operation meets faults: it says itself what may be sent twice. */
function kindOf(operation: Operation): Kind {
	if (isCoded(operation)) return CODED[operation.value] ?? 'write';
	const { body, method, repeatable } = operation;
	if (body?.isForm) return 'upload';
	if (!repeatable) return 'write';
	return method === 'PUT' || method === 'PATCH' ? 'update' : 'read';
}

/** Submit has rows of its own, and Find Changes reads what it remembers; Decide and Answer Again send what Ask and Wait sends. */
const LEFT_OUT = ['document: submit', 'document: findChanges', 'thread: decide', 'thread: retry'];

/**
 * Every operation of the catalogue, its precheck too; Submit with IDs, with files and with its memory; a run also with a
 * file.
 */
export function matrixOperations(): MatrixOperation[] {
	const cases = ALL_CASES.filter((one) => !LEFT_OUT.includes(titleOf(one)));
	return [
		...cases.map(operationOf),
		...ALL_CASES.filter((one) => 'precheck' in calledBy(one)).map(precheckOf),
		...SUBMITS,
		RUN_WITH_FILE,
	];
}

const jsonOf = (value: unknown) => (value === undefined ? '' : JSON.stringify(value));

function operationOf(one: OperationCase): MatrixOperation {
	const isOnSandbox = isCoded(calledBy(one));
	return {
		name: titleOf(one),
		kind: kindOf(calledBy(one)),
		parameters: one.good,
		meets: { endpoint: one.endpoint },
		answer: ({ threadId }) =>
			jsonOf(
				one.endpoint === 'runs' ? { ...(one.answer as object), thread_id: threadId } : one.answer,
			),
		beside: isOnSandbox ? undefined : jsonOf(one.looked),
		right: rightAnswers(one),
		// What is answered without a run is not taken for one: its thread tells.
		...(titleOf(one) === 'thread: run' && { not: /^(?:Record of another|Wrong content type)/ }),
		...(titleOf(one) === 'conversation: get' ? goneAnswers(one) : {}),
	};
}

/** An operation whose precheck meets the fault: a read, whatever the operation does. */
function precheckOf(one: OperationCase): MatrixOperation {
	const isSearch = titleOf(one) === 'conversation: rate';
	return {
		name: `${titleOf(one)}, precheck`,
		kind: 'read',
		parameters: one.good,
		meets: isSearch
			? { method: 'POST', path: '/conversations/[^/]+/messages/search$' }
			: { method: 'GET', path: '/conversations/[^/]+$' },
		answer: () => jsonOf(one.looked),
		beside: jsonOf(one.answer),
		right: has(one.looked, 'id') ? NOT_THERE : ANOTHER_RECORD,
		...goneAnswers(one),
	};
}

/** Faults that are right answers: an empty list is a list, and what has no ID of its own is about no record. */
function rightAnswers(one: OperationCase): RegExp | undefined {
	if (one.answer === undefined) return EMPTY;
	// What was switched has to be listed, and a run is known by its ID and its thread.
	if (isCoded(calledBy(one))) return undefined;
	const isRead = kindOf(calledBy(one)) === 'read';
	if (Array.isArray(one.answer)) return isRead ? ANY_LIST : EMPTY_LIST;
	return isRead && !has(one.answer, 'id') ? ANOTHER_RECORD : undefined;
}

/** A conversation that is read or changed has to be there; one that is deleted may be gone. */
function goneAnswers(one: OperationCase): Pick<MatrixOperation, 'right' | 'gone'> {
	const [resource, operation] = titleOf(one).split(': ');
	const isLooked = resource === 'conversation' && has(one.looked, 'id');
	return isLooked && operation !== 'delete' ? { right: undefined, gone: NOT_THERE } : {};
}

/** A list of the editor. */
export function listOperation(method: 'searchAssistants' | 'searchThreads'): MatrixOperation {
	const isThreads = method === 'searchThreads';
	const assistants = [{ assistant_id: ID, name: 'one' }];
	const threads = { items: [{ id: ID, threadId: 't', title: 'one' }], total: 1 };
	return {
		name: method,
		kind: 'read',
		parameters: () => ({}),
		meets: { endpoint: isThreads ? 'E5' : 'E7' },
		answer: () => JSON.stringify(isThreads ? threads : assistants),
		beside: '',
		right: isThreads ? ANOTHER_RECORD : ANY_LIST,
	};
}

/** A poll of the trigger; one conversation has changed. */
export const POLL: MatrixOperation = {
	name: 'a poll of the trigger',
	kind: 'poll',
	meets: { endpoint: 'E5' },
	beside: jsonOf({ thread_id: 't', status: 'idle', values: { messages: [] } }),
	parameters: () => ({ events: ['answered'] }),
	answer: () =>
		jsonOf({
			items: [
				{
					id: ID,
					threadId: 't',
					title: 'one',
					status: 'idle',
					updatedAt: new Date(clock.now()).toISOString(),
				},
			],
			total: 1,
		}),
};

const DOCUMENTS = [
	{ id: ID, name: 'one' },
	{ id: OTHER_ID, name: 'two' },
];

const submit = (
	name: string,
	kind: Kind,
	endpoint: string,
	answer: unknown,
	parameters: INodeParameters,
	not?: RegExp,
): MatrixOperation => ({
	not,
	name: `document: submit${name}`,
	kind,
	meets: { endpoint },
	answer: () => jsonOf(answer),
	parameters: ({ knowledgebaseId }) => ({
		resource: 'document',
		operation: 'submit',
		knowledgebaseId,
		source: 'json',
		options: { afterStoring: 'nothing' },
		...parameters,
	}),
});

const SUBMITS = [
	submit('', 'submit', 'E3', DOCUMENTS, { jsonBody: JSON.stringify(DOCUMENTS) }),
	submit(
		', upload',
		'withFile',
		'E16',
		{ id: OTHER_ID, url: 'https://files.example/hello.txt', size: 11 },
		{ source: 'files', documentSettings: {} },
		ANOTHER_RECORD,
	),
	submit(', memory', 'memory', 'status', [], {
		jsonBody: JSON.stringify(DOCUMENTS.slice(0, 1)),
		mode: 'changed',
	}),
];

const RUN_WITH_FILE: MatrixOperation = {
	name: 'thread: run, upload',
	kind: 'runFile',
	meets: { endpoint: 'E12' },
	parameters: (world) => ({
		...caseTitled('thread: run').good(world),
		options: { attachments: 'data' },
		tuning: { inOneRequest: true },
	}),
	answer: () => JSON.stringify({ id: OTHER_ID }),
	not: ANOTHER_RECORD,
};
