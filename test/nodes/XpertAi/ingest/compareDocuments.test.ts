import { chunk, range } from 'lodash';
import { hash } from 'node:crypto';
import type { ReadyDocument } from 'nodes/XpertAi/ingest/readyDocuments';
import {
	Fingerprints,
	HASH_KIND_MARKS,
	newStoredEntry,
} from 'nodes/XpertAi/ingest/memory/fingerprints';
import {
	compareDocuments,
	type CompareOptions,
	planDocuments,
} from 'nodes/XpertAi/ingest/compareDocuments';
import type { StatusRecord } from 'nodes/XpertAi/ingest/statuses';
import { derivedId } from 'nodes/XpertAi/payloads/ids';
import { MAX_IDS_PER_URL } from 'nodes/XpertAi/transport/api';
import type { Failure } from 'nodes/XpertAi/transport/failure';

import { prepared } from '../../support/documents';
import { failure } from './support/outcomes';

/** The document with a short name, under an id made of it. */
const document = (name: string, text = 'same') => ({
	...prepared({ name }, 0, idOf(name)),
	comparisonHash: HASH_KIND_MARKS.content + hash('sha256', `${name}: ${text}`, 'binary'),
});

const idOf = (name: string) => derivedId('kb', name);

/** A memory of documents that were stored, of which some are settled as well. */
function knowing(stored: string[], settled: string[] = []): Fingerprints {
	const memory = new Fingerprints();
	for (const name of stored) memory.set(newStoredEntry(idOf(name), document(name).comparisonHash));
	for (const name of settled) memory.markProcessed(idOf(name));
	return memory;
}

/** What the server says when it is asked: these statuses by the names of documents, or nothing. */
interface Server {
	has: Record<string, string | null>;
	failure?: Failure;
}

const nameOf = ({ record }: ReadyDocument<number>) => record.name ?? undefined;

/** A server that is asked where documents stand. */
function answering({ has, failure: broken }: Server) {
	const asked: string[][] = [];
	const statusesOf = async (ids: string[]) => {
		const names = Object.keys(has).filter((name) => ids.includes(idOf(name)));
		asked.push(ids);
		const statuses = new Map(
			names.map((name): [string, StatusRecord] => [
				idOf(name),
				{ id: idOf(name), status: has[name] },
			]),
		);
		return { statuses, failure: broken };
	};
	return { asked, statusesOf };
}

/** What is sent and what is left out. */
async function sift(
	documents: Array<ReadyDocument<number>>,
	memory: Fingerprints,
	server: Server,
	{ mustBeProcessed = true, ...more }: Partial<CompareOptions> = {},
) {
	const unchanged: Array<[string | undefined, string | null | undefined]> = [];
	const sent: Array<string | undefined> = [];
	const { asked, statusesOf } = answering(server);
	const older: Array<string | undefined> = [];
	const groups = chunk(documents, 3);
	const all = compareDocuments(groups, {
		fingerprints: memory,
		mustBeProcessed,
		statusesOf,
		...more,
	});
	for await (const compared of all)
		for (const { document: one, standing, status } of compared)
			if (standing === 'unchanged') unchanged.push([nameOf(one), status?.status]);
			else (standing === 'older' ? older : sent).push(nameOf(one));
	return { sent, unchanged, older, asked };
}

describe('without processing', () => {
	it('documents stored with the same content are left out, if the server still has them', async () => {
		const names = ['a', 'b', 'c', 'd'];
		const documents = [
			document('a'),
			document('b', 'new'),
			...['c', 'd'].map((name) => document(name)),
		];
		const memory = knowing(['a', 'b', 'd']);
		const { sent, unchanged, asked } = await sift(
			documents,
			memory,
			{ has: { a: null, b: null, c: null } },
			{ mustBeProcessed: false },
		);
		expect(sent).toEqual(['b', 'c', 'd']);
		expect(unchanged).toEqual([['a', undefined]]);
		expect(asked).toEqual([[idOf('a'), idOf('d')]]);
		expect(
			names.map((name) => memory.hasSameContent(idOf(name), document(name).comparisonHash)),
		).toEqual([true, false, false, false]);
	});
});

describe('with processing', () => {
	it.each([
		['deleted on the server', {}],
		['disabled by another source, which takes their status away', { a: null }],
		['processed again by somebody, without success', { a: 'error' }],
	])('processed documents are sent again when they were %s', async (_, has) => {
		const { sent, unchanged } = await sift([document('a')], knowing(['a'], ['a']), { has });
		expect([sent, unchanged]).toEqual([['a'], []]);
	});

	it.each([
		['stored and processed', false],
		['only stored', true],
	])(
		'statuses decide which documents are sent again that were %s',
		async (_, lastRunOnlyStored) => {
			const ids = ['f', 'r', 'e', 'c', 'n', 'u'];
			const memory = knowing(ids);
			const { sent, unchanged, asked } = await sift(
				ids.map((id) => document(id)),
				memory,
				{ has: { f: 'finish', r: 'embedding', e: 'error', c: 'cancel', n: null } },
				{ lastRunOnlyStored },
			);
			expect(asked).toEqual([ids.map(idOf)]);
			expect(unchanged).toEqual([
				['f', 'finish'],
				['r', 'embedding'],
				// What is left out without a state is processed.
				...(lastRunOnlyStored ? [['n', null]] : []),
			]);
			expect(sent).toEqual(['e', 'c', ...(lastRunOnlyStored ? [] : ['n']), 'u']);
			expect([memory.isProcessed(idOf('f')), memory.isProcessed(idOf('r'))]).toEqual([true, false]);
		},
	);

	it.each([
		['180 documents', 400, 1, [180, 180, 40]],
		['8 MB', 3, 5 * 1024 * 1024, [2, 1]],
	])(
		'at most %s are held back for one request of statuses',
		async (_, count, sizeInBytes, parts) => {
			const names = range(count).map(String);
			const has = Object.fromEntries(names.map((name) => [name, 'finish']));
			const documents = names.map((name) => ({ ...document(name), sizeInBytes }));
			const { asked, unchanged } = await sift(documents, knowing(names), { has });
			expect(asked.map((part) => part.length)).toEqual(parts);
			expect(unchanged).toHaveLength(count);
		},
	);

	it('the later of two documents with one ID waits for the decision about the earlier', async () => {
		const memory = knowing(['a']);
		const later = document('a', 'new');
		const twins = [document('a'), { ...later, id: idOf('a').toUpperCase() }];
		const { sent, unchanged } = await sift(twins, memory, { has: { a: 'finish' } });
		expect(unchanged).toEqual([['a', 'finish']]);
		expect(sent).toEqual(['a']);
		expect(memory.hasSameContent(idOf('a'), document('a').comparisonHash)).toBe(false);
	});

	it('each of two equal documents is reported', async () => {
		const twins = [document('a'), document('a')];
		const { unchanged } = await sift(twins, knowing(['a']), { has: { a: 'finish' } });
		expect(unchanged).toHaveLength(2);
	});
});

it('all are sent again where that is asked for', async () => {
	const { sent, asked } = await sift(
		[document('a')],
		knowing(['a']),
		{ has: {} },
		{ sendsUnchanged: true },
	);
	expect([sent, asked]).toEqual([['a'], []]);
});

it('a document that is to be disabled is left out once it was stored, and not asked after', async () => {
	const disabled = { ...document('a'), record: { name: 'a', disabled: true } };
	const first = await sift([disabled], knowing([]), { has: {} });
	const second = await sift([disabled], knowing(['a']), { has: {} });
	expect([first.sent, second.sent, second.asked]).toEqual([['a'], [], []]);
	expect(second.unchanged).toEqual([['a', undefined]]);
});

it('in a retry, what is stored with other content is left out', async () => {
	const memory = knowing(['a', 'b']);
	memory.markUnknown(idOf('c'));
	const { sent, unchanged, older } = await sift(
		[document('a'), document('b', 'older'), document('c'), document('d')],
		memory,
		{ has: { a: 'finish' } },
		{ isRetry: true },
	);
	expect([sent, older, unchanged]).toEqual([['c', 'd'], ['b'], [['a', 'finish']]]);
	expect(memory.isContentKnown(idOf('b'))).toBe(true);
});

describe('when statuses cannot be read', () => {
	const broken = { has: {}, failure: failure({ kind: 'status', status: 503 }) };

	it('processed documents count as present, and others are sent again', async () => {
		const documents = [document('a'), document('b')];
		const { sent, unchanged } = await sift(documents, knowing(['a', 'b'], ['a']), broken);
		expect(unchanged).toEqual([['a', undefined]]);
		expect(sent).toEqual(['b']);
	});

	it('stored documents count as present without processing', async () => {
		const { unchanged } = await sift([document('a')], knowing(['a']), broken, {
			mustBeProcessed: false,
		});
		expect(unchanged).toEqual([['a', undefined]]);
	});
});

describe('a plan', () => {
	it('says of each document what the next run would do', async () => {
		const plans: Array<[name: string, plan: string, status?: string | null]> = [
			['stored', 'unchanged', 'finish'],
			['stored and deleted', 'new'],
			['unknown', 'new'],
			['stored otherwise', 'changed', 'finish'],
			['stored otherwise, at work', 'changed', 'running'],
			['of somebody', 'changed', 'finish'],
			['of somebody, at work', 'changed', 'running'],
			// Not found any more, though it is there: with what was stored, or with something else.
			['stored and not processed', 'unchanged', null],
			['stored and hidden', 'back', null],
			['stored otherwise, hidden', 'changed', null],
			['of somebody, hidden', 'back', null],
		];
		const names = plans.map(([name]) => name);
		const has = Object.fromEntries(
			plans.flatMap(([name, , status]) => (status === undefined ? [] : [[name, status] as const])),
		);
		const stored = names.filter((name) => name.startsWith('stored'));
		const memory = knowing(stored, ['stored and hidden']);
		const documents = names.map((name) => ({
			...document(name, name.includes('otherwise') ? 'other' : 'same'),
			id: idOf(name).toUpperCase(),
		}));
		const { asked, statusesOf } = answering({ has });
		const told: Array<[string | undefined, string]> = [];
		const settings = {
			fingerprints: memory,
			mustBeProcessed: true,
			lastRunOnlyStored: true,
			statusesOf,
		};
		for await (const { document: one, plan } of planDocuments(chunk(documents, 3), settings))
			told.push([nameOf(one), plan]);
		expect(Object.fromEntries(told)).toEqual(Object.fromEntries(plans));
		const known = documents.map(({ id }) => id.toLowerCase());
		expect(asked.flat().filter((id) => !known.includes(id))).toEqual([]);
	});

	it.each([0, 1])(
		'reads as many statuses at once as an address can name, with %i more',
		async (more) => {
			const { asked, statusesOf } = answering({ has: {} });
			const given = range(MAX_IDS_PER_URL + more).map((at) => document(`${at}`));
			const told: unknown[] = [];
			const settings = { fingerprints: new Fingerprints(), mustBeProcessed: true, statusesOf };
			for await (const { document: one, plan } of planDocuments(chunk(given, 50), settings))
				told.push([one, plan]);
			expect(told).toEqual(given.map((one) => [one, 'new']));
			expect(asked.map(({ length }) => length)).toEqual([MAX_IDS_PER_URL, 1].slice(0, 1 + more));
		},
	);
});
