import { range } from 'lodash';

import type { ReadyDocument } from '../../../../nodes/XpertAi/ingest/batches';
import { changedOnly } from '../../../../nodes/XpertAi/ingest/changedOnly';
import { Fingerprints } from '../../../../nodes/XpertAi/ingest/fingerprints';
import { derivedId } from '../../../../nodes/XpertAi/payloads/derivedId';
import type { ProcessingStatus } from '../../../../nodes/XpertAi/ingest/processing';
import { prepared } from '../../support/documents';

/** The document with a short name, under an id made of it. */
const document = (name: string, text = 'same') => prepared({ name, text }, 0, idOf(name));

const idOf = (name: string) => derivedId('kb', name);

/** A memory of documents that were stored, of which some are settled as well. */
function knowing(stored: string[], settled: string[] = []): Fingerprints {
	const memory = new Fingerprints();
	for (const name of stored) memory.record(idOf(name), document(name).json);
	for (const name of settled) memory.settle(idOf(name));
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
	const nameOf = ({ json }: ReadyDocument<number>) => (JSON.parse(json) as { name?: string }).name;
	const statusesOf = async (ids: string[]) => {
		const names = Object.keys(statuses ?? {}).filter((name) => ids.includes(idOf(name)));
		asked.push(names);
		return new Map(
			names.map((name): [string, ProcessingStatus] => [
				idOf(name),
				{ id: idOf(name), status: statuses?.[name] },
			]),
		);
	};
	const left = changedOnly(documents, {
		memory,
		onUnchanged: (one, status) => unchanged.push([nameOf(one), status?.status]),
		...(statuses ? { statusesOf } : {}),
	});
	for await (const one of left) sent.push(nameOf(one));
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
		expect(memory.has(idOf('a'), document('a').json)).toBe(false);
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
		expect(asked).toEqual([['f', 'r', 'e', 'c', 'n']]);
		expect(unchanged).toEqual([
			['f', 'finish'],
			['r', 'embedding'],
		]);
		expect(sent).toEqual(['e', 'c', 'n', 'u']);
		expect([memory.isPending(idOf('f')), memory.isPending(idOf('r'))]).toEqual([false, true]);
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
		const later = document('a', 'new');
		const twins = [document('a'), { ...later, id: idOf('a').toUpperCase() }];
		const { sent, unchanged } = await sift(twins, memory, { a: 'finish' });
		expect(unchanged).toEqual([['a', 'finish']]);
		expect(sent).toEqual(['a']);
		expect(memory.has(idOf('a'), document('a').json)).toBe(false);
	});
});
