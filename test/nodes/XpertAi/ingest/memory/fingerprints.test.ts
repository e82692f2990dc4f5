import fc from 'fast-check';

import {
	DISABLED,
	Fingerprints,
	UNKNOWN,
	packId,
	pack,
	storedEntry,
	unpack,
} from '../../../../../nodes/XpertAi/ingest/memory/fingerprints';
import type { Entry } from '../../../../../nodes/XpertAi/ingest/memory/fingerprints';

const documents = fc.uniqueArray(fc.tuple(fc.uuid(), fc.string()), { selector: ([id]) => id });

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
			fc.property(documents, fc.uuid(), fc.string(), (list, id, content) => {
				fc.pre(!list.some((one) => one[0] === id && one[1] === content));
				expect(recorded(list).has(id, content)).toBe(false);
			}),
		);
	});

	it('distinguish processed documents from those only stored', () => {
		const fingerprints = recorded([[A, 'one']]);
		const done = () => [fingerprints.isDone(A, false), fingerprints.isDone(A, true)];
		expect(done()).toEqual([true, false]);
		fingerprints.markProcessed(A);
		expect([...done(), fingerprints.has(A, 'one')]).toEqual([true, true, true]);
		fingerprints.set(storedEntry(A, 'two'));
		expect(done()).toEqual([true, false]);
		fingerprints.forget(A);
		expect(done()).toEqual([false, false]);
	});

	it('are packed into 17 or 23 bytes each, and unpacked unchanged', () => {
		const [unknown, gone] = ['c', 'd'].map((end) => packId(A.slice(0, -1) + end));
		const known = recorded([
			[A, 'one'],
			[B, 'two'],
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
			[A, 'one'],
			[B, 'two'],
		]);
		fingerprints.forget(A);
		expect([fingerprints.has(A, 'one'), fingerprints.has(B, 'two')]).toEqual([false, true]);
		expect([...fingerprints.ids()]).toEqual([A, B]);
		fingerprints.markProcessed(A);
		expect(fingerprints.has(A, 'one')).toBe(false);
		fingerprints.forgetContents();
		expect([fingerprints.has(B, 'two'), fingerprints.size]).toEqual([false, 2]);
	});

	it('remove documents that are gone', () => {
		const fingerprints = recorded([[A, 'one']]);
		fingerprints.remove(A);
		fingerprints.remove(B);
		expect(fingerprints.knows(A)).toBe(false);
	});

	it('collect which documents have changed', () => {
		const fingerprints = recorded([[A, 'one']]);
		fingerprints.changed = new Set();
		fingerprints.remove(B);
		fingerprints.forget(B);
		expect(fingerprints.changed.size).toBe(0);
		fingerprints.markProcessed(A);
		expect([...fingerprints.changed]).toEqual([packId(A)]);
		fingerprints.changed = new Set();
		fingerprints.remove(A);
		expect([...fingerprints.changed]).toEqual([packId(A)]);
	});
});
