import fc from 'fast-check';

import { Fingerprints } from '../../../../nodes/XpertAi/ingest/fingerprints';

const documents = fc.uniqueArray(fc.tuple(fc.uuid(), fc.string()), { selector: ([id]) => id });

function recorded(list: Array<[string, string]>): Fingerprints {
	const fingerprints = Fingerprints.parse(undefined);
	for (const [id, json] of list) fingerprints.record(id, json);
	return fingerprints;
}

describe('fingerprints', () => {
	it('know what was stored, in the next run too', () => {
		fc.assert(
			fc.property(documents, (list) => {
				const next = Fingerprints.parse(recorded(list).serialize());
				expect(next.size).toBe(list.length);
				for (const [id, json] of list) expect(next.has(id, json)).toBe(true);
			}),
		);
	});

	it('do not know a document with another content, another id, or none at all', () => {
		fc.assert(
			fc.property(documents, fc.uuid(), fc.string(), (list, id, json) => {
				fc.pre(!list.some((one) => one[0] === id && one[1] === json));
				expect(recorded(list).has(id, json)).toBe(false);
			}),
		);
	});

	it('know only what was stored last: a content that comes back is sent again', () => {
		const fingerprints = recorded([['1', 'A']]);
		fingerprints.record('1', 'B');
		expect([fingerprints.has('1', 'A'), fingerprints.has('1', 'B')]).toEqual([false, true]);
		fingerprints.record('1', 'A');
		expect([fingerprints.has('1', 'A'), fingerprints.has('1', 'B')]).toEqual([true, false]);
		expect(fingerprints.size).toBe(1);
	});

	it('know what is only stored from what is processed as well, in the next run too', () => {
		fc.assert(
			fc.property(documents, fc.func(fc.boolean()), (list, isProcessed) => {
				const fingerprints = recorded(list);
				const processed = list.map(([id]) => id).filter((id) => isProcessed(id));
				for (const id of processed) fingerprints.settle(id);
				const next = Fingerprints.parse(fingerprints.serialize());
				for (const [id, json] of list) {
					expect(next.has(id, json)).toBe(true);
					expect(next.isPending(id)).toBe(!processed.includes(id));
				}
			}),
		);
	});

	it('count a document as pending again when another content of it is stored', () => {
		const fingerprints = recorded([['1', 'A']]);
		fingerprints.settle('1');
		fingerprints.record('1', 'B');
		expect(fingerprints.isPending('1')).toBe(true);
	});

	it('have nothing pending of a document they do not know', () => {
		const fingerprints = recorded([]);
		fingerprints.settle('1');
		expect([fingerprints.isPending('1'), fingerprints.size]).toEqual([false, 0]);
	});

	it('take an ID in either case for the same, as servers do', () => {
		expect(recorded([['2F78E81B', 'A']]).has('2f78e81b', 'A')).toBe(true);
	});

	it('forget what may have changed on the server', () => {
		const fingerprints = recorded([
			['1', 'A'],
			['2', 'B'],
		]);
		fingerprints.forget('1');
		fingerprints.forget('3');
		expect([fingerprints.has('1', 'A'), fingerprints.has('2', 'B')]).toEqual([false, true]);
		expect(Fingerprints.parse(fingerprints.serialize()).has('1', 'A')).toBe(false);
	});

	it.each([undefined, null, '', 5, {}, ['x'], 'AAAAAAAAAAA=', '1:AAAAAAAAAAA='])(
		'start empty from %j',
		(text) => {
			expect(Fingerprints.parse(text).size).toBe(0);
		},
	);

	it('read text that breaks off as far as it goes', () => {
		const text = recorded([
			['1', 'A'],
			['2', 'B'],
		]).serialize();
		expect(Fingerprints.parse(text.slice(0, 14)).size).toBe(1);
	});

	it('hold 500,000 documents in at most 6 MB of text', () => {
		const fingerprints = Fingerprints.parse(undefined);
		for (let index = 0; index < 500_000; index++) fingerprints.record(`${index}`, `${index}`);
		const text = fingerprints.serialize();
		expect(text.length).toBeLessThanOrEqual(6_000_000);
		expect(text).toMatch(/^2:[A-Za-z0-9+/=]*$/);
		const next = Fingerprints.parse(text);
		// Documents whose ids share 32 bits are sent again; of half a million some 30 are.
		let unknown = 0;
		for (let index = 0; index < 500_000; index += 50)
			unknown += next.has(`${index}`, `${index}`) ? 0 : 1;
		expect(unknown).toBeLessThan(10);
	});
});
