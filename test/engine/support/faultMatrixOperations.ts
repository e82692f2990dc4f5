import { has } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { isCoded, isFileBody } from '../../../nodes/XpertAi/execution/operation';
import type { DeclaredOperation, Operation } from '../../../nodes/XpertAi/execution/operation';
import { calledBy, goodParameters, titleOf } from './caseOperations';
import { ALL_CASES } from './cases';
import type { OperationCase } from './cases';

/** Operations that meet faults in the same way. */
export const KINDS = [
	'write',
	'update',
	'read',
	'upload',
	'submit',
	'withFile',
	'memory',
	'run',
	'runFile',
	'start',
	'follow',
	'cancel',
	'poll',
] as const;
export type Kind = (typeof KINDS)[number];

/** How `docs/reliability.md` names the kinds. */
export const KIND_TITLES: Record<Kind, string> = {
	write: 'Writes',
	update: 'Updates',
	read: 'Reads',
	upload: 'Uploads',
	submit: 'Submit',
	withFile: 'Submit, uploads',
	memory: 'Submit, memory',
	run: 'Ask and Wait',
	runFile: 'Ask and Wait, files',
	start: 'Start Run',
	follow: 'Wait for Run',
	cancel: 'Cancel Run',
	poll: 'Trigger',
};

/** Those of the operations; the trigger and the lists are tried for themselves. */
export const NODE_KINDS = KINDS.filter((kind) => kind !== 'poll');

/** The message to the assistant. */
export const ASKED = 'hello there';

/** An operation of the catalogue and a good call of it. */
export interface MatrixOperation {
	name: string;
	kind: Kind;
	parameters: INodeParameters;
	/** JSON a server without fault answers, or nothing. */
	answer: string;
	/** The addresses of its requests, where it sends others beside them; those meet no fault. */
	only?: RegExp;
	/** What is answered to those others, where a run's thread is no answer. */
	looked?: string;
	/** Faults whose answer is a right one of this operation. */
	right?: RegExp;
	/** Faults whose answer says that the record is not there, which ends the operation. */
	gone?: RegExp;
}

const ANOTHER_RECORD = /^Record of another/;
/** An empty list is all that a server has. */
const NOTHING_THERE = /^`\[\]`/;
/** What is deleted is answered with nothing. */
const NOTHING_SAID = /^Empty body/;
/** Servers say so of a conversation that is not there. */
const NOT_THERE = /^`\{\}`/;
const ANY_LIST = /^`\[\]`|^Record of another/;

const ID = '2f78e81b-096f-42ff-8ac0-8403fd81392d';
const OTHER_ID = '0f0b5d29-99cd-433a-8aed-09da49af709a';

/** Documents in one batch of Submit; each fault meets all of them. */
export const DOCUMENTS: Partial<Record<Kind, number>> = {
	submit: 2,
	withFile: 1,
	memory: 1,
};

/** Operations on runs by their number, each of which meets faults in its own way. */
const CODED: Record<string, Kind> = {
	...{ start: 'start', getRun: 'read', waitForRun: 'follow', cancelRun: 'cancel' },
};

/** What of their requests meets the fault. */
const ONLY: Partial<Record<string, RegExp>> = {
	E4: /\/runs\/wait$/,
	// Disable and Enable ask first whether the documents are there.
	E3: /\/bulk$/,
	runs: /^POST .*\/runs$/,
	run: /\/runs\/[^/]+$/,
	cancel: /\/cancel$/,
};

/** In which way an operation meets faults: it says itself what may be sent twice. */
function kindOf(operation: Operation): Kind {
	if (isCoded(operation)) return CODED[operation.value] ?? 'run';
	const { body, method, repeatable } = operation;
	if (body && isFileBody(body)) return 'upload';
	if (!repeatable) return 'write';
	return method === 'PUT' || method === 'PATCH' ? 'update' : 'read';
}

/**
 * Every operation of the catalogue; Submit and a run also with a file, whose upload meets the fault, and Submit with a
 * memory that cannot be read.
 */
export function matrixOperations(): MatrixOperation[] {
	const others = ALL_CASES.filter((one) => !isSubmit(one) && !isOtherRun(one)).map(
		(one): MatrixOperation => ({
			name: `${one.endpoint} ${titleOf(one)}`,
			kind: one.endpoint === 'E3' ? 'update' : kindOf(calledBy(one)),
			parameters: goodParameters(one),
			answer: one.answer === undefined ? '' : JSON.stringify(one.answer),
			right: rightAnswers(one),
			...(goodParameters(one).operation === 'get' ? goneAnswers(one) : {}),
			only: ONLY[one.endpoint] ?? (one.looked ? sentLast(one) : undefined),
			...(one.looked ? { looked: JSON.stringify(one.looked) } : {}),
			...(one.endpoint === 'E3' ? { looked: JSON.stringify(one.answer) } : {}),
		}),
	);
	return [
		...others,
		...ALL_CASES.filter((one) => 'precheck' in calledBy(one)).map(looking),
		submit(),
		submitFile(),
		submitChanged(),
		runFile(),
	];
}

const isSubmit = (one: OperationCase) => goodParameters(one).operation === 'submit';

/** Decide and Answer Again send what Ask and Wait sends, to a thread that is there. */
const isOtherRun = (one: OperationCase) =>
	one.endpoint === 'E4' && goodParameters(one).operation !== 'run';

/** Faults that are right answers: an empty list is a list, and what has no ID of its own is about no record. */
function rightAnswers(one: OperationCase): RegExp | undefined {
	if (one.answer === undefined) return NOTHING_SAID;
	// What was switched has to be listed.
	if (one.endpoint === 'E3') return undefined;
	// A run is known by its ID and its thread.
	if (isCoded(calledBy(one))) return undefined;
	const isRead = kindOf(calledBy(one)) === 'read';
	if (Array.isArray(one.answer)) return isRead ? ANY_LIST : NOTHING_THERE;
	return isRead && !has(one.answer, 'id') ? ANOTHER_RECORD : undefined;
}

/** What is read or changed has to be there; what is deleted may be gone. */
function goneAnswers(one: OperationCase): Pick<MatrixOperation, 'right' | 'gone'> {
	const { resource, operation } = goodParameters(one);
	const isLooked = resource === 'conversation' && has(one.looked, 'id');
	return isLooked && operation !== 'delete' ? { right: undefined, gone: NOT_THERE } : {};
}

/** An operation whose precheck meets the fault: a read, whatever the operation does. */
function looking(one: OperationCase): MatrixOperation {
	const { precheck } = calledBy(one) as DeclaredOperation;
	return {
		name: `${one.endpoint} ${titleOf(one)}, precheck`,
		kind: 'read',
		parameters: goodParameters(one),
		answer: JSON.stringify(one.looked),
		only: requestOf(precheck?.method ?? '', precheck?.path ?? ''),
		looked: one.answer === undefined ? '' : JSON.stringify(one.answer),
		right: has(one.looked, 'id') ? NOT_THERE : ANOTHER_RECORD,
		...goneAnswers(one),
	};
}

/** The request of an operation that looks first, by its method and the end of its path. */
function sentLast(one: OperationCase): RegExp {
	const { method, path } = calledBy(one) as DeclaredOperation;
	return requestOf(method, path);
}

function requestOf(method: string, path: string): RegExp {
	return path.endsWith('}') ? new RegExp(`^${method} `) : new RegExp(`${path.split('/').at(-1)}$`);
}

/** A list of the editor, as the fault server sees it. */
export function listOperation(method: 'searchAssistants' | 'searchThreads'): MatrixOperation {
	const answers = {
		searchAssistants: [{ assistant_id: ID, name: 'one' }],
		searchThreads: { items: [{ id: ID, threadId: 't', title: 'one' }], total: 1 },
	};
	const right = Array.isArray(answers[method]) ? ANY_LIST : ANOTHER_RECORD;
	const answer = JSON.stringify(answers[method]);
	return { name: method, kind: 'read', parameters: {}, answer, right };
}

/** A poll of the trigger, which asks for the changes of conversations; one has changed. */
export function pollOperation(): MatrixOperation {
	const conversation = {
		id: ID,
		threadId: 't',
		title: 'one',
		status: 'idle',
		updatedAt: new Date().toISOString(),
	};
	return {
		name: 'E5 trigger: poll',
		kind: 'poll',
		only: /\/conversations\/search$/,
		parameters: { events: ['answered'] },
		answer: JSON.stringify({ items: [conversation], total: 1 }),
	};
}

const SUBMIT = {
	...{ resource: 'document', operation: 'submit', knowledgebaseId: ID },
	options: { afterStoring: 'nothing', retryMinutes: 0.1 },
};

function submit(): MatrixOperation {
	const documents = [
		{ id: ID, name: 'one' },
		{ id: OTHER_ID, name: 'two' },
	];
	return {
		name: 'E3 document: submit',
		kind: 'submit',
		parameters: {
			...SUBMIT,
			source: 'json',
			jsonBody: JSON.stringify(documents),
			documentSettings: { documentIdMode: 'field' },
		},
		answer: JSON.stringify(documents),
	};
}

/** Submit with a file to upload; nothing but the upload goes wrong. */
function submitFile(): MatrixOperation {
	return {
		name: 'E16 document: submit (files)',
		kind: 'withFile',
		only: /\/v1\/file$/,
		parameters: { ...SUBMIT, source: 'files' },
		answer: JSON.stringify({ id: OTHER_ID, url: 'https://files.example/hello.txt', size: 11 }),
	};
}

/** Submit that asks what earlier runs have stored; nothing but that goes wrong. */
function submitChanged(): MatrixOperation {
	const { parameters } = submit();
	return {
		name: 'E3 document: submit (memory)',
		kind: 'memory',
		only: /\/status\?/,
		parameters: {
			...parameters,
			jsonBody: JSON.stringify([{ id: ID, name: 'one' }]),
			mode: 'changed',
		},
		answer: '[]',
	};
}

/** A run with a file to send along; nothing but its upload goes wrong. */
function runFile(): MatrixOperation {
	const run = ALL_CASES.find(({ endpoint }) => endpoint === 'E4');
	if (!run) throw new Error('there is no case of a run');
	return {
		name: 'E12 thread: run (files)',
		kind: 'runFile',
		only: /\/contexts\/file$/,
		parameters: { ...goodParameters(run), options: { attachments: 'data', inOneRequest: true } },
		answer: JSON.stringify({ id: OTHER_ID }),
	};
}
