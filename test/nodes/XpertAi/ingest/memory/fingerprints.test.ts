import fc from 'fast-check';

import {
	DISABLED,
	Fingerprints,
	UNKNOWN,
	packId,
	pack,
	storedEntry,
	tailOf,
	unpack,
} from '../../../../../nodes/XpertAi/ingest/memory/fingerprints';
import type { Entry } from '../../../../../nodes/XpertAi/ingest/memory/fingerprints';

const hashes = fc.string({ minLength: 6, maxLength: 6 });
const documents = fc.uniqueArray(fc.tuple(fc.uuid(), hashes), { selector: ([id]) => id });

const A = '2f78e81b-0000-4000-8000-00000000000a';
const B = '2f78e81b-0000-4000-8000-00000000000b';

function recorded(list: Array<[string, string]>): Fingerprints {
	const fingerprints = new Fingerprints();
	for (const [id, content] of list) fingerprints.set(storedEntry(id, content));
	return fingerprints;
}

describe('fingerprints', () => {
	it('know the stored documents and their contents', () => {
		fc.assert(
			fc.property(documents, (list) => {
				const known = recorded(list);
				expect(known.size).toBe(list.length);
				for (const [id, content] of list) expect(known.has(id, content)).toBe(true);
				expect([...known.ids()]).toEqual(list.map(([id]) => id));
			}),
		);
	});

	it('do not know other contents or other IDs', () => {
		fc.assert(
			fc.property(documents, fc.uuid(), hashes, (list, id, content) => {
				fc.pre(!list.some((one) => one[0] === id && one[1] === content));
				expect(recorded(list).has(id, content)).toBe(false);
			}),
		);
	});

	it('distinguish processed documents from those only stored', () => {
		const fingerprints = recorded([[A, 'text 1']]);
		const done = () => [fingerprints.isDone(A, false), fingerprints.isDone(A, true)];
		expect(done()).toEqual([true, false]);
		fingerprints.markProcessed(A);
		expect([...done(), fingerprints.has(A, 'text 1')]).toEqual([true, true, true]);
		fingerprints.set(storedEntry(A, 'text 2'));
		expect(done()).toEqual([true, false]);
		fingerprints.forget(A);
		expect(done()).toEqual([false, false]);
	});

	it('are packed into 17 or 23 bytes each, and unpacked unchanged', () => {
		const [unknown, gone] = ['c', 'd'].map((end) => packId(A.slice(0, -1) + end));
		const known = recorded([
			[A, 'text 1'],
			[B, 'text 2'],
		]);
		known.markProcessed(B);
		const others: Entry[] = [
			[unknown ?? '', UNKNOWN],
			[gone ?? '', DISABLED],
		];
		const entries = [...others, ...known.entries()];
		const packed = pack(entries);
		expect(packed).toHaveLength(17 + 17 + 23 + 23);
		expect([...unpack(packed)]).toEqual(entries);
	});

	it('can forget contents without forgetting the documents', () => {
		const fingerprints = recorded([
			[A, 'text 1'],
			[B, 'text 2'],
		]);
		fingerprints.forget(A);
		expect([fingerprints.has(A, 'text 1'), fingerprints.has(B, 'text 2')]).toEqual([false, true]);
		expect([...fingerprints.ids()]).toEqual([A, B]);
		fingerprints.markProcessed(A);
		for (const hash of ['text 1', '']) expect(fingerprints.has(A, hash)).toBe(false);
		fingerprints.forgetContents();
		expect([fingerprints.has(B, 'text 2'), fingerprints.size]).toEqual([false, 2]);
	});

	it('remove documents that are gone', () => {
		const fingerprints = recorded([[A, 'text 1']]);
		fingerprints.remove(A);
		fingerprints.remove(B);
		expect(fingerprints.knows(A)).toBe(false);
	});

	it('collect which documents have changed', () => {
		const fingerprints = recorded([[A, 'text 1']]);
		fingerprints.changed = new Set();
		fingerprints.remove(B);
		fingerprints.forget(B);
		expect(fingerprints.changed.size).toBe(0);
		fingerprints.markProcessed(A);
		expect([...fingerprints.changed]).toEqual([tailOf(packId(A))]);
		fingerprints.changed = new Set();
		fingerprints.remove(A);
		expect([...fingerprints.changed]).toEqual([tailOf(packId(A))]);
	});
});
