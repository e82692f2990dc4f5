import { range } from 'lodash';

import type { ReadyDocument } from '../../../../nodes/XpertAi/ingest/batches';
import { changedOnly } from '../../../../nodes/XpertAi/ingest/changedOnly';
import { Fingerprints } from '../../../../nodes/XpertAi/ingest/fingerprints';
import type { ProcessingStatus } from '../../../../nodes/XpertAi/ingest/processing';
import { prepared } from '../../support/documents';

const document = (id: string, text = 'same') => prepared({ id, text }, 0, id);

/** A memory of documents that were stored, of which some are settled as well. */
function knowing(stored: string[], settled: string[] = []): Fingerprints {
	const memory = Fingerprints.parse(undefined);
	for (const id of stored) memory.record(id, document(id).json);
	for (const id of settled) memory.settle(id);
	return memory;
}

/** What is sent and what is left out; the server gives these statuses where it is asked. */
async function sift(
	documents: Array<ReadyDocument<number>>,
	memory: Fingerprints,
	statuses?: Record<string, string | null>,
) {
	const unchanged: Array<[string | undefined, string | null | undefined]> = [];
	const asked: string[][] = [];
	const sent: Array<string | undefined> = [];
	const statusesOf = async (ids: string[]) => {
		asked.push(ids);
		const known = ids.filter((id) => statuses && id in statuses);
		return new Map(
			known.map((id): [string, ProcessingStatus] => [id, { id, status: statuses?.[id] }]),
		);
	};
	const left = changedOnly(documents, {
		memory,
		onUnchanged: ({ id }, status) => unchanged.push([id, status?.status]),
		...(statuses ? { statusesOf } : {}),
	});
	for await (const { id } of left) sent.push(id);
	return { sent, unchanged, asked };
}

describe('where documents are done when they are stored', () => {
	it('those stored with the same content are left out', async () => {
		const documents = [document('a'), document('b', 'new'), document('c'), prepared({}, 3)];
		const { sent, unchanged, asked } = await sift(documents, knowing(['a', 'b']));
		expect(sent).toEqual(['b', 'c', undefined]);
		expect(unchanged).toEqual([['a', undefined]]);
		expect(asked).toEqual([]);
	});

	it('what is sent is forgotten until the server has accepted it', async () => {
		const memory = knowing(['a']);
		await sift([document('a', 'new')], memory);
		expect(memory.has('a', document('a').json)).toBe(false);
	});
});

describe('where documents are done when they are processed', () => {
	it('those known to be processed are left out without a question', async () => {
		const { unchanged, asked } = await sift([document('a')], knowing(['a'], ['a']), {});
		expect(unchanged).toEqual([['a', undefined]]);
		expect(asked).toEqual([]);
	});

	it('the server is asked how the others ended, before anything is sent again', async () => {
		const ids = ['f', 'r', 'e', 'c', 'n', 'u'];
		const memory = knowing(ids);
		const { sent, unchanged, asked } = await sift(
			ids.map((id) => document(id)),
			memory,
			{ f: 'finish', r: 'embedding', e: 'error', c: 'cancel', n: null },
		);
		expect(asked).toEqual([ids]);
		expect(unchanged).toEqual([
			['f', 'finish'],
			['r', 'embedding'],
		]);
		expect(sent).toEqual(['e', 'c', 'n', 'u']);
		expect([memory.isPending('f'), memory.isPending('r')]).toEqual([false, true]);
	});

	it('are asked for in good time: not all documents are held back', async () => {
		const ids = range(0, 600).map((index) => `id-${index}`);
		const statuses = Object.fromEntries(ids.map((id) => [id, 'finish']));
		const { asked, unchanged } = await sift(
			ids.map((id) => document(id)),
			knowing(ids),
			statuses,
		);
		expect(asked.map((part) => part.length)).toEqual([250, 250, 100]);
		expect(unchanged).toHaveLength(600);
	});

	it('the later of two documents with one ID is sent after what became of the earlier is known', async () => {
		const memory = knowing(['a']);
		const twins = [document('a'), document('A', 'new')];
		const { sent, unchanged } = await sift(twins, memory, { a: 'finish' });
		expect(unchanged).toEqual([['a', 'finish']]);
		expect(sent).toEqual(['A']);
		expect(memory.has('a', document('a').json)).toBe(false);
	});
});
