import fc from 'fast-check';

import { Fingerprints } from '../../../../nodes/XpertAi/ingest/fingerprints';
import { derivedId } from '../../../../nodes/XpertAi/payloads/derivedId';
import { noteText, readNote } from '../../../../nodes/XpertAi/ingest/memoryNote';
import type { MemoryNote } from '../../../../nodes/XpertAi/ingest/memoryNote';

const standing = fc.constantFrom('settled', 'pending', 'unknown');
const documents = fc.uniqueArray(fc.record({ id: fc.uuid(), content: fc.string(), standing }), {
	selector: ({ id }) => id,
});

function noteOf(known = new Fingerprints(), more: Partial<MemoryNote> = {}): MemoryNote {
	return { source: 'handbook', mark: 'a mark', known, ...more };
}

/** A note that must be one. */
function read(text: string): MemoryNote {
	const note = readNote(text, 'handbook');
	if (typeof note !== 'object') throw new Error(`no note: ${String(note)}`);
	return note;
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
				const next = read(noteText(noteOf(known))).known;
				expect(new Set(next.ids())).toEqual(new Set(list.map(({ id }) => id)));
				for (const { id, content, standing: how } of list) {
					expect(next.has(id, content)).toBe(how !== 'unknown');
					expect(next.isDone(id, true)).toBe(how === 'settled');
				}
			}),
		);
	});

	it('keeps what else there is to know of it', () => {
		const facts = { includes: ['one', 'two'], overlapped: true };
		expect(read(noteText(noteOf(undefined, facts)))).toEqual(noteOf(expect.anything(), facts));
	});

	it.each([
		['nothing was written', undefined, undefined],
		['nothing was written', null, undefined],
		['nothing was written', '', undefined],
		['it is no text', 5, 'damaged'],
		['it is a text of somebody else', 'The document was processed', 'damaged'],
		['it is of a later version', 'n8n-memory-2:abc', 'of another version'],
		['it is of another source', noteText(noteOf(undefined, { source: 'b' })), 'of another source'],
	])('does not count where %s', (_, text, flaw) => {
		expect(readNote(text, 'handbook')).toBe(flaw);
	});

	it('does not count where any character of it is another one, or the end is missing', () => {
		const known = new Fingerprints();
		known.record(derivedId('kb', 'a'), 'content');
		const text = noteText(noteOf(known));
		fc.assert(
			fc.property(fc.nat(text.length - 1), fc.constantFrom('A', '7', '', ' '), (at, other) => {
				const changed = text.slice(0, at) + other + text.slice(at + 1);
				fc.pre(changed !== text);
				expect(readNote(changed, 'handbook')).toMatch(/damaged|of another version/);
				if (at < text.length - 1)
					expect(readNote(text.slice(0, at + 1), 'handbook')).toMatch(/damaged|of another version/);
			}),
		);
	});

	it('holds 50,000 documents in 1.6 million characters', () => {
		const known = new Fingerprints();
		const id = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
		for (let index = 0; index < 50_000; index++) known.record(id(index), `${index}`);
		const text = noteText(noteOf(known));
		expect(text.length).toBeLessThanOrEqual(1_600_300);
		const next = read(text).known;
		expect(next.size).toBe(50_000);
		for (let index = 0; index < 50_000; index += 50)
			expect(next.has(id(index), `${index}`)).toBe(true);
	});
});
