import fc from 'fast-check';

import {
	type FingerprintEntry,
	Fingerprints,
	newStoredEntry,
	unpackEntries,
} from 'nodes/XpertAi/ingest/memory/fingerprints';
import {
	type NoteNameAndTitle,
	NotesOnServer,
	type NoteToWrite,
	orFailure,
} from 'nodes/XpertAi/ingest/memory/notes';
import { derivedId } from 'nodes/XpertAi/payloads/ids';
import { failureMessage } from 'nodes/XpertAi/transport/failureText';
import { Knowledgebase, PLACE } from '../support/knowledgebase';

const NOTE: NoteNameAndTitle = ['a note', 'what * says'];
const FACTS = {
	writeId: 'one',
	run: 3,
	lease: { by: 'execution 7', since: 'today', ended: false, sent: 3, root: 2 },
	pieces: [5, 0],
	names: { notes: 1, hasRoom: true, areAll: false },
	lost: { at: 'yesterday', count: 4 },
	open: [2, 3],
};

/** What a server gives back of a note, and the document that holds it. */
async function kept(written: Omit<NoteToWrite, 'nameAndTitle'>, change = (text: string) => text) {
	const server = new Knowledgebase();
	const notes = new NotesOnServer(PLACE, server.routes());
	await notes.write({ nameAndTitle: NOTE, ...written });
	const [row] = server.notes();
	if (!row) throw new Error('nothing was written');
	server.put({ ...row, processMsg: change(row.processMsg ?? '') });
	const [note] = await notes.read([NOTE]);
	return { row, note };
}

const asEntries = (list: Array<[string, string]>): FingerprintEntry[] => {
	const known = new Fingerprints();
	for (const [id, content] of list) known.set(newStoredEntry(id, content));
	return [...known.entries()];
};
const hashes = fc.string({ minLength: 6, maxLength: 6 }).map((hash) => `c${hash}`);
const documents = fc.uniqueArray(fc.tuple(fc.uuid(), hashes), { selector: ([id]) => id });

describe('a note', () => {
	it('is read as it was written', async () => {
		await fc.assert(
			fc.asyncProperty(documents, async (list) => {
				const entries = asEntries(list);
				const { note } = await kept({ header: FACTS, entries });
				expect(note).toMatchObject({ ...FACTS, source: PLACE.source });
				expect(typeof note === 'object' && [...unpackEntries(note.body)]).toEqual(entries);
			}),
		);
	});

	it('is in a disabled document, whose ID is derived from the knowledgebase and the source', async () => {
		const { row, note } = await kept({ header: {} });
		expect(typeof note === 'object' && note.body).toHaveLength(0);
		expect(row).toMatchObject({
			id: derivedId('kb', 'n8n a note of a node'),
			name: 'n8n: what Nightly says (do not process)',
			disabled: true,
		});
	});

	it.each([
		['its place is empty', () => ''],
		['the server has processed it', () => 'Invalid PDF structure'],
		['its version is none', (text: string) => text.replace('-1:', '-x:')],
	])('is damaged when %s', async (_, change) => {
		const { note } = await kept({ header: FACTS }, change);
		expect(note).toBe('damaged');
	});

	it('is damaged when any character differs or the end is missing', async () => {
		const entries = asEntries([[derivedId('kb', 'a'), 'content']]);
		const length = (await kept({ header: FACTS, entries })).row.processMsg?.length ?? 0;
		const character = fc.constantFrom('A', '7', '', ' ');
		await fc.assert(
			fc.asyncProperty(fc.nat(length - 1), character, async (at, other) => {
				for (const end of [length, at]) {
					let isChanged = false;
					const change = (text: string) => {
						const changed = text.slice(0, at) + other + text.slice(at + 1, end);
						isChanged = changed !== text;
						return changed;
					};
					const read = await orFailure(async () => await kept({ header: FACTS, entries }, change));
					if (isChanged && 'note' in read) expect(typeof read.note).toBe('string');
				}
			}),
		);
	});

	it('of another source counts as damaged', async () => {
		const server = new Knowledgebase();
		await new NotesOnServer(PLACE, server.routes()).write({ nameAndTitle: NOTE, header: FACTS });
		const [row] = server.notes();
		const other = new NotesOnServer({ ...PLACE, source: 'another' }, server.routes());
		server.put({ ...row, id: other.idOf(NOTE) });
		expect(await other.read([NOTE])).toEqual(['damaged']);
	});

	it('of a later version is a failure', async () => {
		const later = () => 'n8n-memory-2:what nobody knows';
		const read = await orFailure(async () => await kept({ header: FACTS }, later));
		expect('failure' in read && failureMessage(read.failure)).toMatch(
			/^The server's answer cannot be read: .* a later version of this node/,
		);
	});

	it('does not hide other errors', async () => {
		const broken = async () => await Promise.reject(new Error('another thing'));
		await expect(orFailure(broken)).rejects.toThrow('another thing');
	});
});

describe('several notes', () => {
	const large = (at: number): NoteToWrite => ({
		nameAndTitle: [`${at}`, `${at} of …`],
		header: {},
		body: Buffer.alloc(150_000),
	});

	it('are written in order, half a MiB per request, and read a few at a time, stopped or not', async () => {
		const server = new Knowledgebase();
		const sent: number[] = [];
		const routes = server.routes();
		const send: typeof routes.send = async (request) => {
			if (typeof request.body === 'string') sent.push(request.body.length);
			return await routes.send(request);
		};
		const stopped = { ...routes, send, signal: AbortSignal.abort() };
		const notes = new NotesOnServer(PLACE, stopped);
		const all = [0, 1, 2, 3, 4].map(large);
		await notes.write(...all);
		expect(server.written.map((name) => /\d(?= of)/.exec(name)?.[0])).toEqual([...'01234']);
		expect(sent.map((length) => Math.round(length / 200_000))).toEqual([2, 2, 1]);
		const read = await notes.read([...all.map(({ nameAndTitle }) => nameAndTitle), NOTE], 2);
		expect(read.map((note) => typeof note)).toEqual([...all.map(() => 'object'), 'undefined']);
		expect(server.asked.map(({ length }) => length)).toEqual([2, 2, 2]);
	});
});
