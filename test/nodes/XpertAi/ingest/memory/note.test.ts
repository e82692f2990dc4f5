import fc from 'fast-check';

import { Fingerprints } from '../../../../../nodes/XpertAi/ingest/memory/fingerprints';
import { derivedId } from '../../../../../nodes/XpertAi/payloads/derivedId';
import { noteText, readNote, takeUp } from '../../../../../nodes/XpertAi/ingest/memory/note';
import type { MemoryNote, NoteFacts } from '../../../../../nodes/XpertAi/ingest/memory/note';
import { OLD } from '../support/oldNote';

const standing = fc.constantFrom('settled', 'pending', 'unknown');
const documents = fc.uniqueArray(fc.record({ id: fc.uuid(), content: fc.string(), standing }), {
	selector: ({ id }) => id,
});

const SOURCE = 'handbook';

function textOf(
	known = new Fingerprints(),
	more: Partial<NoteFacts> = {},
	source = SOURCE,
): string {
	return noteText({ source, mark: 'a mark', ...more }, known, { keys: known.keys() });
}

/** A note that must be one. */
function read(text: string): MemoryNote {
	const note = readNote(text, SOURCE);
	if (typeof note !== 'object') throw new Error(`no note: ${String(note)}`);
	return note;
}

function documentsOf(text: string, certain?: boolean): Fingerprints {
	const known = new Fingerprints();
	takeUp(read(text), known, { certain });
	return known;
}

describe('a note', () => {
	it('says in the next run what it said in the last', () => {
		fc.assert(
			fc.property(documents, (list) => {
				const known = new Fingerprints();
				for (const { id, content, standing: how } of list) {
					if (how === 'unknown') known.expect(id);
					else known.record(id, content);
					if (how === 'settled') known.settle(id);
				}
				const next = documentsOf(textOf(known));
				expect(new Set(next.ids())).toEqual(new Set(list.map(({ id }) => id)));
				for (const { id, content, standing: how } of list) {
					expect(next.has(id, content)).toBe(how !== 'unknown');
					expect(next.isDone(id, true)).toBe(how === 'settled');
				}
			}),
		);
	});

	it('keeps what else there is to know of it', () => {
		const facts: Partial<NoteFacts> = {
			includes: ['one', 'two'],
			closed: [['a run', 3]],
			overlapped: true,
			after: 'another',
			pieces: [[5, true]],
		};
		expect(read(textOf(undefined, facts))).toMatchObject({
			source: SOURCE,
			mark: 'a mark',
			...facts,
		});
	});

	it('says what an earlier one knew and is gone', () => {
		const known = new Fingerprints();
		const id = derivedId('kb', 'a');
		known.record(id, 'one');
		const text = noteText({ source: SOURCE, mark: '' }, new Fingerprints(), { keys: known.keys() });
		expect(read(text).body).toHaveLength(16);
		takeUp(read(text), known, { certain: false });
		expect([known.knows(id), known.has(id, 'one')]).toEqual([true, false]);
		takeUp(read(text), known);
		expect(known.knows(id)).toBe(false);
	});

	it('makes no content certain where it is not to', () => {
		const known = new Fingerprints();
		const id = derivedId('kb', 'a');
		known.record(id, 'one');
		const next = documentsOf(textOf(known), false);
		expect([next.knows(id), next.has(id, 'one')]).toEqual([true, false]);
	});

	it.each([1, 2])('of version %i is read, and known as that', (version) => {
		const old = readNote(OLD.replace('memory-1', `memory-${version}`), SOURCE);
		if (typeof old !== 'object') throw new Error(old);
		const known = new Fingerprints();
		takeUp(old, known);
		const has = ['a', 'b'].map((key) => known.has(derivedId('kb', key), 'content'));
		expect([old.isOld, ...has]).toEqual([true, true, true]);
	});

	it.each([
		['its place holds nothing', '', 'overwritten'],
		['it is a text of the server', 'Cannot read properties of undefined', 'overwritten'],
		['it is of a later version', 'n8n-memory-5:abc', 'of a later version'],
		['it is of another source', textOf(undefined, {}, 'b'), 'of another source'],
		['its version is none', OLD.replace('-1:', '-x:'), 'damaged'],
		['its head is none', textOf(undefined, { names: { notes: -1, hasRoom: true } }), 'damaged'],
	])('does not count where %s', (_, text, flaw) => {
		expect(readNote(text, SOURCE)).toBe(flaw);
	});

	it('does not count where any character of it is another one, or the end is missing', () => {
		const known = new Fingerprints();
		known.record(derivedId('kb', 'a'), 'content');
		const text = textOf(known);
		fc.assert(
			fc.property(fc.nat(text.length - 1), fc.constantFrom('A', '7', '', ' '), (at, other) => {
				const changed = text.slice(0, at) + other + text.slice(at + 1);
				fc.pre(changed !== text);
				expect(readNote(changed, SOURCE)).toMatch(/damaged|overwritten|of a later version/);
				if (at < text.length - 1)
					expect(readNote(text.slice(0, at + 1), SOURCE)).toMatch(
						/damaged|overwritten|of a later version/,
					);
			}),
		);
	});

	it('holds 50,000 documents in 1.6 million characters', () => {
		const known = new Fingerprints();
		const id = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
		for (let index = 0; index < 50_000; index++) known.record(id(index), `${index}`);
		const text = textOf(known);
		expect(text.length).toBeLessThanOrEqual(1_600_300);
		const next = documentsOf(text);
		expect(next.size).toBe(50_000);
		for (let index = 0; index < 50_000; index += 50)
			expect(next.has(id(index), `${index}`)).toBe(true);
	});
});
