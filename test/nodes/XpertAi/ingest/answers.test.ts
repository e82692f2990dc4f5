import path from 'node:path';
import { readdirSync, readFileSync } from 'node:fs';
import { matchRecords } from 'nodes/XpertAi/ingest/matchRecords';
import type { ReadyDocument } from 'nodes/XpertAi/ingest/readyDocuments';
import { documentListSchema } from 'nodes/XpertAi/ingest/documentList';
import {
	fetchStatuses,
	unfindableReason,
	processingState,
	statusesById,
} from 'nodes/XpertAi/ingest/statuses';
import { disableOrEnableDocuments } from 'nodes/XpertAi/ingest/disableOrEnableDocuments';
import type { DocumentRecord } from 'nodes/XpertAi/payloads/document';
import { answerIssue } from 'nodes/XpertAi/transport/answer';
import type { Failure } from 'nodes/XpertAi/transport/failure';

import { prepared } from '../../support/documents';
import { calling, success } from '../../support/send';
import { virtualTime } from '../../support/virtualTime';
import { answered, failure } from './support/outcomes';

const ID_A = 'aaaaaaaa-0000-4000-8000-000000000000';
const ID_B = 'bbbbbbbb-0000-4000-8000-000000000000';

const A = prepared({ name: 'A' }, 0, ID_A);
const B = prepared({ name: 'B' }, 1, ID_B);
const ofNewId = {
	...prepared({ name: 'C' }, 2, 'cccccccc-1111-4000-8000-000000000000'),
	lacksStableId: true,
};

const recordA = { id: ID_A, name: 'A' };
const recordB = { id: ID_B, name: 'B' };
const recordC = { id: 'cccccccc-0000-4000-8000-000000000000', name: 'C' };

describe('the record of each document in the answer', () => {
	const shouted = prepared({ name: 'B' }, 1, ID_B.toUpperCase());
	it.each<[string, Array<ReadyDocument<number>>, object[], Array<object | undefined>]>([
		['as sent', [A, B], [recordA, recordB], [recordA, recordB]],
		['in another order', [A, B], [recordB, recordA], [recordA, recordB]],
		['with more than were sent', [A, B], [recordC, recordB, recordA], [recordA, recordB]],
		['with IDs in another case', [A, shouted], [recordB, recordA], [recordA, recordB]],
		['without the first', [A, B], [recordB], [undefined, recordB]],
		[
			'with an ID of the server for a new one',
			[A, ofNewId],
			[recordA, recordC],
			[recordA, recordC],
		],
		["with another document's ID", [ofNewId, A], [recordA, recordC], [undefined, recordA]],
	])('is found where records come %s', (_, documents, answer, expected) => {
		expect(matchRecords(documents, answer)).toEqual(expected);
	});

	it.each([
		['another id', [recordC, recordB]],
		['no id', [{ name: 'A' }, recordB]],
		['an empty id', [{ id: '' }, recordB]],
		['nothing in its place', [null, recordB]],
	])('is not one with %s', (_, answer) => {
		expect(matchRecords([A, B], answer)).toEqual([undefined, recordB]);
		expect(matchRecords([ofNewId, B], [{ name: 'C' }, recordB])).toEqual([undefined, recordB]);
	});

	it.each([
		['nothing', undefined],
		['an empty list', []],
		['an object', { statusCode: 500, message: 'Internal server error' }],
		['a list of something else', [{ success: false }]],
		['text', 'ok'],
		['records with empty ids', [{ id: '' }, { id: '' }]],
		['fewer records than were sent, with other ids', [recordC]],
		['more records than were sent, with other ids', [recordC, recordC, recordC]],
	])('is missing in %s', (_, answer) => {
		expect(matchRecords([ofNewId, ofNewId], answer)).toEqual([undefined, undefined]);
		expect(matchRecords([A], [answer])).toEqual([undefined]);
	});
});

describe('the record of a source, which a knowledgebase with incremental sync keeps under its first id', () => {
	const source = { sourceType: 'file', sourceKey: 'crm:42' };
	const moved = prepared({ name: 'A', ...source }, 0, ID_A);
	const kept = { id: recordC.id, ...source };

	it('is that of a document sent under another id', () => {
		expect(matchRecords([moved], [kept])).toEqual([kept]);
	});

	it('is that of both documents of one source', () => {
		const first = { ...recordB, ...source };
		const second = prepared({ name: 'B', ...source }, 1, ID_B);
		expect(matchRecords([second, moved], [first, first])).toEqual([first, first]);
	});

	it.each([
		['key', { ...kept, sourceKey: 'crm:43' }],
		['type', { ...kept, sourceType: 'web' }],
		['key and type', recordC],
	])('is not one of another %s', (_, record) => {
		expect(matchRecords([moved], [record])).toEqual([undefined]);
	});

	it.each([
		['none', {}],
		['a type alone', { sourceType: 'file' }],
		['a key alone', { sourceKey: 'crm:42' }],
	])('is not looked for where the document names %s', (_, named) => {
		const document = prepared({ name: 'A', ...named }, 0, ID_A);
		expect(matchRecords([document], [{ ...recordC, ...named }])).toEqual([undefined]);
	});
});

/** Every recorded success of E3 that is there as a whole. */
function recordedSuccesses() {
	const folder = path.join(__dirname, '../../../recordings');
	return readdirSync(folder).flatMap((file) => {
		const { exchanges = [] } = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as {
			exchanges?: Array<{
				label: string;
				request?: { path?: string; body?: unknown };
				response: { status: number; body: unknown };
			}>;
		};
		return exchanges.flatMap(({ label, request, response }) => {
			if (!request?.path?.endsWith('/bulk') || response.status >= 300) return [];
			const { body: sent } = request;
			const { body: answer } = response;
			const name = `${file}: ${label}`;
			return Array.isArray(sent) && Array.isArray(answer) ? [{ name, sent, answer }] : [];
		});
	});
}

describe('every recorded success', () => {
	const all = recordedSuccesses();
	it('is checked', () => expect(all.length).toBeGreaterThan(30));

	it.each(all)('shows all documents as stored: $name', ({ sent, answer }) => {
		const documents = sent.map((document: unknown, place) => {
			const { id } = Object(document) as { id?: string };
			return {
				...prepared(document as DocumentRecord, place, id),
				lacksStableId: id === undefined,
			};
		});
		expect(matchRecords(documents, answer)).not.toContain(undefined);
	});
});

it.each([
	['finish', 'finish'],
	['error', 'error'],
	['cancel', 'cancel'],
	['waiting', 'running'],
	['validate', 'running'],
	['embedding', 'running'],
	[null, 'none'],
	['none', 'none'],
])('the status %s is the state %s', (status, state) => {
	expect(processingState({ id: 'a', status })).toBe(state);
	expect(processingState(undefined)).toBe('none');
});

it('why the processing of a document could not be started is said', () => {
	const flaw = unfindableReason({
		state: 'none',
		startFailure: failure({ kind: 'status', status: 403 }),
	});
	expect(flaw).toMatch(/could not be started\. This key may not do this/);
});

it.each<[string, string[], unknown, boolean]>([
	[
		'is right with more, in any case and order',
		['a', 'B'],
		[{ id: 'b' }, { id: 'A' }, { id: 'c' }],
		true,
	],
	['is wrong where one is missing', ['a', 'b'], [{ id: 'a' }], false],
	['is wrong where it is an object', ['a', 'b'], { a: 1, b: 2 }, false],
	['is wrong where its entries have no ID', ['a', 'b'], [{}, 'a', 'b'], false],
	['is right where it is empty and none is asked for', [], [], true],
	['is wrong where an ID is empty', [], [{ id: '' }], false],
	['is wrong where it is an empty object', [], {}, false],
])('a list of documents %s', (_, ids, answer, isRight) => {
	const { error } = documentListSchema(ids).safeParse(answer);
	const flaw = isRight ? undefined : 'it does not list the documents that it should';
	expect(error && answerIssue(answer, error)).toBe(flaw);
});

describe('fetching statuses', () => {
	/** Asks a server that gives this answer. */
	async function ask(answer: unknown, requiredId?: string) {
		const paths: string[] = [];
		const send = calling(({ path }) => {
			paths.push(path);
			return success(answer);
		});
		const routes = {
			clock: virtualTime(),
			processPath: '',
			statusPathOf: (ids: string[]) => ids.join(','),
			send,
		};
		return { paths, ...(await fetchStatuses(['A', 'b'], routes, requiredId)) };
	}

	it('leaves out documents that the server does not know', async () => {
		const { statuses, paths } = await ask([{ id: 'a', status: 'finish' }]);
		expect([...statuses]).toEqual([['a', { id: 'a', status: 'finish' }]]);
		expect(paths).toEqual(['A,b']);
	});

	it('adds the required document, without which an answer does not count', async () => {
		const { statuses, paths, failure } = await ask([{ id: 'a' }, { id: 'w' }], 'w');
		expect([[...statuses.keys()], paths, failure]).toEqual([['a', 'w'], ['A,b,w'], undefined]);
		const reason = 'it does not list the documents that it should';
		expect(await ask([], 'w')).toMatchObject({ failure: { kind: 'unreadable', reason } });
	});

	it.each<[string, unknown, string]>([
		['nothing', undefined, 'it is empty'],
		['an object', { message: 'later' }, 'it does not list the documents that it should'],
		[
			'a list of something else',
			[{ status: 'finish' }],
			'it does not list the documents that it should',
		],
		[
			'a list with something else in it',
			[{ id: 'a' }, null],
			'it does not list the documents that it should',
		],
		[
			'a list of what has numbers',
			[{ id: 5, status: 'finish' }],
			'it does not list the documents that it should',
		],
	])('refuses an answer that is %s', async (_, answer, reason) => {
		const { failure, statuses } = await ask(answer);
		expect(failure).toMatchObject({ kind: 'unreadable', reason });
		expect(statuses.size).toBe(0);
	});
});

it('an entry of another shape is ignored', () => {
	const answer = [null, { status: 'finish' }, { id: 5 }, { id: 'B', status: 7 }, { id: 'A' }];
	expect([...statusesById(answer)]).toEqual([['a', { id: 'A' }]]);
	expect(statusesById({ id: 'A' }).size).toBe(0);
});

interface Switched {
	disabled?: boolean;
	/** Which request fails. */
	failing?: number;
	fieldsOf?: (id: string) => object;
	/** Why the documents must not be changed. */
	refusal?: Failure;
	stopped?: boolean;
	/** What the server answers; else the documents that it was sent. */
	answer?: unknown;
}

async function switched(
	ids: string[],
	{ disabled = true, failing, fieldsOf = () => ({}), refusal, stopped, answer }: Switched = {},
) {
	const sent: unknown[][] = [];
	const switchedIds: string[] = [];
	const failure = await disableOrEnableDocuments(ids, {
		disabled,
		fieldsOf,
		beforeChange: refusal && (async () => await Promise.resolve(refusal)),
		onChanged: (id) => switchedIds.push(id),
		routes: {
			storePath: '/store',
			signal: virtualTime(stopped ? 0 : Infinity).signal,
			send: calling(({ body }) => {
				const rows = JSON.parse(String(body)) as unknown[];
				return sent.push(rows) === failing ? answered(403) : success(answer ?? rows);
			}),
		},
	});
	return { sent, switchedIds, failure };
}

const many = Array.from({ length: 150 }, (_, n) => `d${n}`);

it('sends a hundred documents at a time, with their fields, and reports each once', async () => {
	const fieldsOf = (id: string) => (id === 'd0' ? { name: 'A' } : {});
	const { sent, switchedIds } = await switched(many, { disabled: false, fieldsOf });
	expect(sent.map(({ length }) => length)).toEqual([100, 50]);
	expect(sent[0]?.slice(0, 2)).toEqual([
		{ name: 'A', id: 'd0', disabled: false },
		{ id: 'd1', disabled: false },
	]);
	expect(switchedIds).toEqual(many);
});

const { failure: refusal } = answered(422) as { failure: Failure };
it.each<[string, Switched, object]>([
	['the memory refuses the change', { refusal }, { failure: refusal }],
	['the execution was stopped', { stopped: true }, { failure: undefined }],
])('sends nothing when %s', async (_, how, came) => {
	expect(await switched(['a'], how)).toMatchObject({ sent: [], switchedIds: [], ...came });
});

it('stops at a failure, and at an answer that does not list the documents', async () => {
	const { failure, switchedIds } = await switched(many, { failing: 2 });
	expect([failure?.status, switchedIds.length]).toEqual([403, 100]);
	const other = await switched(['a'], { answer: [] });
	expect(other.failure?.reason).toBe('it does not list the documents that it should');
});
