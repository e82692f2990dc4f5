import {
	Fingerprints,
	UNKNOWN,
	packId,
	pack,
	storedEntry,
	tailOf,
	unpack,
	type Entry,
} from '../../../../../nodes/XpertAi/ingest/memory/fingerprints';

const A = '2f78e81b-0000-4000-8000-00000000000a';
const B = '2f78e81b-0000-4000-8000-00000000000b';

function recorded(list: Array<[string, string]>): Fingerprints {
	const fingerprints = new Fingerprints();
	for (const [id, content] of list) fingerprints.set(storedEntry(id, content));
	return fingerprints;
}

describe('fingerprints', () => {
	it('distinguish processed documents from those only stored', () => {
		const fingerprints = recorded([[A, 'copy #1']]);
		const done = () => [fingerprints.isDone(A, false), fingerprints.isDone(A, true)];
		expect(done()).toEqual([true, false]);
		fingerprints.markProcessed(A);
		expect([...done(), fingerprints.has(A, 'copy #1')]).toEqual([true, true, true]);
		fingerprints.changed.clear();
		fingerprints.markProcessed(A);
		expect(fingerprints.changed.size).toBe(0);
		fingerprints.set(storedEntry(A, 'copy #2'));
		expect(done()).toEqual([true, false]);
		fingerprints.forget(A);
		expect(done()).toEqual([false, false]);
	});

	it('are packed into 17 or 23 bytes each, and unpacked unchanged', () => {
		const unknown: Entry = [packId(A.slice(0, -1) + 'c'), UNKNOWN];
		const known = recorded([
			[A, 'copy #1'],
			[B, 'copy #2'],
		]);
		known.markProcessed(B);
		const entries = [unknown, ...known.entries()];
		const packed = pack(entries);
		expect(packed).toHaveLength(17 + 23 + 23);
		expect([...unpack(packed)]).toEqual(entries);
	});

	it('can forget contents without forgetting the documents', () => {
		const fingerprints = recorded([
			[A, 'copy #1'],
			[B, 'copy #2'],
		]);
		fingerprints.forget(A);
		expect([fingerprints.has(A, 'copy #1'), fingerprints.has(B, 'copy #2')]).toEqual([false, true]);
		expect([...fingerprints.ids()]).toEqual([A, B]);
		fingerprints.markProcessed(A);
		for (const hash of ['copy #1', '']) expect(fingerprints.has(A, hash)).toBe(false);
		fingerprints.forgetContents();
		expect([fingerprints.has(B, 'copy #2'), fingerprints.size]).toEqual([false, 2]);
	});

	it('collect which documents have changed', () => {
		const fingerprints = recorded([[A, 'copy #1']]);
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
