import {
	type FingerprintEntry,
	Fingerprints,
	UNKNOWN_CONTENT,
	packEntries,
	packId,
	newStoredEntry,
	tailOf,
	unpackEntries,
	unpackId,
} from 'nodes/XpertAi/ingest/memory/fingerprints';

const A = '2f78e81b-0000-4000-8000-00000000000a';
const B = '2f78e81b-0000-4000-8000-00000000000b';

function recorded(list: Array<[string, string]>): Fingerprints {
	const fingerprints = new Fingerprints();
	for (const [id, content] of list) fingerprints.set(newStoredEntry(id, content));
	return fingerprints;
}

describe('fingerprints', () => {
	it('distinguish processed documents from those only stored', () => {
		const fingerprints = recorded([[A, 'copy #1']]);
		const done = () => [fingerprints.isContentKnown(A), fingerprints.isProcessed(A)];
		expect(done()).toEqual([true, false]);
		fingerprints.markProcessed(A);
		expect([...done(), fingerprints.hasSameContent(A, 'copy #1')]).toEqual([true, true, true]);
		fingerprints.changedTails.clear();
		fingerprints.markProcessed(A);
		expect(fingerprints.changedTails.size).toBe(0);
		fingerprints.set(newStoredEntry(A, 'copy #2'));
		expect(done()).toEqual([true, false]);
		fingerprints.forgetContent(A);
		expect(done()).toEqual([false, false]);
	});

	it('are packed into 17 or 23 bytes each, and unpacked unchanged', () => {
		const unknown: FingerprintEntry = [packId(A.slice(0, -1) + 'c'), UNKNOWN_CONTENT];
		const known = recorded([
			[A, 'copy #1'],
			[B, 'copy #2'],
		]);
		known.markProcessed(B);
		const entries = [unknown, ...known.entries()];
		const packed = packEntries(entries);
		expect(packed).toHaveLength(17 + 23 + 23);
		expect([...unpackEntries(packed)]).toEqual(entries);
	});

	it('can forget contents without forgetting the documents', () => {
		const fingerprints = recorded([
			[A, 'copy #1'],
			[B, 'copy #2'],
		]);
		fingerprints.forgetContent(A);
		expect([
			fingerprints.hasSameContent(A, 'copy #1'),
			fingerprints.hasSameContent(B, 'copy #2'),
		]).toEqual([false, true]);
		expect([...fingerprints.ids()]).toEqual([A, B]);
		fingerprints.markProcessed(A);
		for (const hash of ['copy #1', '']) expect(fingerprints.hasSameContent(A, hash)).toBe(false);
		expect(fingerprints.size).toBe(2);
	});

	it('collect which documents have changed', () => {
		const fingerprints = recorded([[A, 'copy #1']]);
		fingerprints.changedTails = new Set();
		fingerprints.remove(B);
		fingerprints.forgetContent(B);
		expect(fingerprints.changedTails.size).toBe(0);
		fingerprints.markProcessed(A);
		expect([...fingerprints.changedTails]).toEqual([tailOf(packId(A))]);
		fingerprints.changedTails = new Set();
		fingerprints.remove(A);
		expect([...fingerprints.changedTails]).toEqual([tailOf(packId(A))]);
	});

	it('keep the beginning of a hash, and are known by all of it', () => {
		const ids = ['aaaaaaaaaaaaaa1b', 'bbbbbbbbbbbbbb1b'].map(unpackId);
		const hashOf = (id: string) => `c${id}`.repeat(2);
		const known = new Fingerprints();
		for (const id of ids) known.set(newStoredEntry(id, hashOf(id)));
		expect([...known.ids()]).toEqual(ids);
		expect(ids.map((id) => known.hasSameContent(id, hashOf(id)))).toEqual([true, true]);
		expect([...known.entries()].map(([, { length }]) => length)).toEqual([7, 7]);
	});

	it('are not found where one entry ends and the next begins', () => {
		const [first, next] = ['aaaaaaaaaaaaaa1b', 'bbbbbbbbbbbbbb1b'].map(unpackId);
		const between = unpackId('aaaaaa1bcopy #1b');
		const known = recorded([
			[`${first}`, 'copy #1'],
			[`${next}`, 'copy #2'],
		]);
		expect([known.size, known.knows(between)]).toEqual([2, false]);
		known.set(newStoredEntry(between, 'copy #3'));
		expect([known.size, known.hasSameContent(between, 'copy #3')]).toEqual([3, true]);
		known.remove(between);
		expect([...known.ids()]).toEqual([first, next]);
		expect([...known.ids(new Set([first]))]).toEqual([next]);
	});
});
