import { hash, randomUUID } from 'crypto';

import pick from 'lodash/pick';
import range from 'lodash/range';
import sum from 'lodash/sum';
import { z } from 'zod';

import { derivedId } from '../../payloads/derivedId';
import type { Clock } from '../../transport/clock';
import type { Failure } from '../../transport/failure';
import {
	DISABLED,
	Fingerprints,
	ID_BYTES,
	UNKNOWN,
	unpackId,
	packId,
	unpack,
} from './fingerprints';
import { entriesIn, firstPages, isLater, lateEntries, emptyJournal, readJournals } from './journal';
import { LEASE, TURN, leaseCounters } from './lease';
import type { Lease } from './lease';
import { NotesFailed, SIZES, isReadable, orFailure } from './notes';
import type { MemoryNote, NoteName, NotesOnServer, ReadNote } from './notes';

/** The name of a document for people, and the key that its ID is derived from; no key if it has an ID of its own. */
export type DocumentName = Partial<Record<'name' | 'key', string>>;

/** Documents, each with its key, its name and, if its ID is not derived from the key, a hash of the ID. */
const nameList = z.array(z.tuple([z.string().nullable(), z.string().nullable()]).rest(z.string()));

type NamedDocument = z.infer<typeof nameList>[number];

const namesNote = (at: number): NoteName => [
	`names ${at}`,
	`what … calls its documents, ${at + 1}`,
];

/** Names and keys of documents. Reports show the names; lost pieces are rebuilt from the keys, which give the IDs. */
export class Names {
	/** The name notes that the root counts. */
	counted: NonNullable<MemoryNote['names']> = { notes: 0, hasRoom: false, areAll: true };
	/** Keys of documents whose names are not known. */
	readonly unnamed = new Set<string>();
	private added: NamedDocument[] = [];
	private addedLength = 0;

	constructor(private readonly notes: NotesOnServer) {}

	/** Adds the name of a document, if it is not known. */
	add(id: string, { name, key }: DocumentName): void {
		if (!this.unnamed.delete(packId(id))) return;
		const { owner } = this.notes.place;
		const isDerived = key !== undefined && derivedId(owner, key) === id.toLowerCase();
		if (!isDerived) this.counted = { ...this.counted, areAll: false };
		const label = name ?? key ?? null;
		const entry: NamedDocument = isDerived ? [key, label] : [null, label, shortHash(id)];
		this.added.push(entry);
		this.addedLength += JSON.stringify(entry).length;
	}

	/** Writes the new names if they total `minLength` characters. If that fails, reports show their documents by ID. */
	async write(minLength = 1): Promise<void> {
		const { added, counted } = this;
		if (this.addedLength < minLength) return;
		this.added = [];
		this.addedLength = 0;
		const written = await orFailure(async () => {
			const [before = []] = counted.hasRoom ? await this.read([counted.notes - 1]) : [];
			const at = before.length > 0 ? counted.notes - 1 : counted.notes;
			const text = JSON.stringify([...before, ...added]);
			const body = await pipeThrough(Buffer.from(text), new CompressionStream('deflate-raw'));
			await this.notes.write({ note: namesNote(at), header: {}, body });
			return { notes: at + 1, hasRoom: text.length < SIZES.names / 2 };
		});
		this.counted = { ...this.counted, ...('failure' in written ? { areAll: false } : written) };
	}

	/** The names of some documents, as far as they are known. @param ids in lower case */
	async of(ids: Iterable<string>): Promise<Map<string, DocumentName>> {
		const byMark = new Map([...ids].map((id) => [shortHash(id), id]));
		const names = new Map<string, DocumentName>();
		const all = byMark.size > 0 ? range(this.counted.notes) : [];
		const read = await orFailure(async () => await this.read(all));
		for (const [key, name, mark] of 'failure' in read ? [] : read.flat()) {
			const id = byMark.get(mark ?? shortHash(derivedId(this.notes.place.owner, key ?? '')));
			if (id !== undefined) names.set(id, { ...(name && { name }), ...(key && { key }) });
		}
		return names;
	}

	/**
	 * The IDs of all named documents that have a key.
	 * @param isCounted whether the root counts the notes; otherwise they are read until some are missing
	 */
	async ids(isCounted: boolean): Promise<string[]> {
		const all = isCounted ? await this.read(range(this.counted.notes)) : [];
		for (let isMore = !isCounted; isMore; ) {
			const read = await this.read(range(all.length, all.length + SIZES.answer));
			isMore = read.some((names) => names.length > 0);
			if (isMore) all.push(...read);
		}
		const isWhole = isCounted && all.every((names) => names.length > 0);
		if (!isWhole) this.counted = { notes: all.length, hasRoom: false, areAll: false };
		const keys = all.flat().flatMap(([key]) => key ?? []);
		return keys.map((key) => derivedId(this.notes.place.owner, key));
	}

	/** The names in some notes; empty for a note that is missing or unreadable. */
	private async read(at: number[]): Promise<NamedDocument[][]> {
		const notes = await this.notes.read(at.map(namesNote), SIZES.answer);
		return await Promise.all(notes.map(namesIn));
	}
}

/** A hash of an ID in a third of its length: 60 bits, enough to be unique. */
const shortHash = (id: string) => hash('sha1', id.toLowerCase(), 'base64url').slice(0, 10);

async function namesIn(note: ReadNote): Promise<NamedDocument[]> {
	if (!isReadable(note)) return [];
	const text = await pipeThrough(note.body, new DecompressionStream('deflate-raw'));
	return nameList.parse(JSON.parse(String(text)));
}

/** n8n's rules allow no compression module; Node.js has the web streams. */
async function pipeThrough(
	bytes: Buffer,
	stream: CompressionStream | DecompressionStream,
): Promise<Buffer> {
	const output = new Blob([new Uint8Array(bytes)]).stream().pipeThrough(stream);
	return Buffer.from(await new Response(output).arrayBuffer());
}

const ROOT: NoteName = ['memory', 'what … has stored'];

/** Two copies, because nothing else records what somebody enabled by hand. */
const BY_HAND = [1, 2].map(
	(copy): NoteName => [`by hand ${copy}`, `documents of … disabled or enabled by hand, ${copy}`],
);

const pieceName = (at: number, of: number): NoteName => [
	`piece ${at + 1} of ${of}`,
	`what … has stored, ${at + 1} of ${of}`,
];

/** What went wrong with the memory. */
export interface MemoryTroubles {
	/** The server does not return notes. */
	noRoute?: boolean;
	/** Since when knowledge of stored documents is lost, and of how many, if that is known. */
	lost?: MemoryNote['lost'];
	/** Why the memory was not written; the journal has its content. */
	notWritten?: Failure;
	/** Why the statuses of stored documents could not be read. */
	notAsked?: Failure;
}

/** The memory of a source on the server: reads it, merges the journal of a crashed run, and writes it. */
export class StoredMemory {
	/** The source's documents in the knowledgebase, as far as they are known. */
	readonly known = new Fingerprints();
	readonly names: Names;
	readonly troubles: MemoryTroubles = {};
	/** Whether, by the notes, no run has stored anything: the source is new, or its notes are gone. */
	isNew = false;
	/** The journal of a crashed run. */
	protected unmergedJournal = emptyJournal();
	/** The content of the root, and whether it must be written before anything is sent. */
	protected root: Pick<MemoryNote, 'run' | 'pieces' | 'names' | 'lost' | 'byHand'> = { run: 0 };
	protected isStale = false;
	/** Pieces that could not be read, and must be rewritten. */
	private readonly unreadablePieces = new Set<number>();
	/** The mark of the merged `by hand` note. */
	private byHand?: string;

	protected constructor(
		protected readonly notes: NotesOnServer,
		private readonly clock: Clock,
	) {
		this.names = new Names(notes);
	}

	/** Whether the memory must be written at the end of the run. */
	protected get needsWrite(): boolean {
		return this.isStale || this.known.changed.size > 0;
	}

	/**
	 * Reads the memory, merges the journal of a crashed run, and then what was disabled or enabled by hand since.
	 * @returns the note `turn` @throws NotesFailed
	 */
	protected async read(forgetLost = false, before?: Lease['counters']): Promise<ReadNote> {
		const first = [TURN, LEASE, ROOT, ...BY_HAND, ...firstPages()];
		const [turn, lease, root, byHand, copy, ...pages] = await this.notes.read(first);
		const counters = before ?? leaseCounters(lease);
		// A root older than the lease knows was overwritten by a late request, and does not count.
		const isRootLost = isReadable(root) ? root.run < counters.root : (root ?? counters.root) !== 0;
		this.unmergedJournal.isDamaged = isRootLost;
		if (isRootLost) await this.rebuild();
		else if (isReadable(root)) await this.readRoot(root, forgetLost);
		const isLeft = pages.some((page) => isLater(this.root.run, page));
		if (isLeft || counters.sent > this.root.run) await this.readUnmergedJournal(counters.sent);
		const lastRun = Math.max(this.unmergedJournal.run, counters.root, counters.sent);
		this.isNew = root === undefined && lastRun === 0;
		this.mergeByHand([byHand, copy].find(isReadable));
		// A document whose outcome no run has learned has no name yet.
		for (const [key, content] of this.known.entries())
			if (content === UNKNOWN) this.names.unnamed.add(key);
		return turn;
	}

	/** Writes the memory after a run. Documents in late pages of a crashed run become unknown. @throws NotesFailed */
	protected async finish(run: number): Promise<void> {
		const { byHand, known, unmergedJournal, notes } = this;
		for (const [key] of await lateEntries(notes, unmergedJournal)) known.set([key, UNKNOWN]);
		await this.write(run, byHand);
	}

	/** Records that removed documents may still be found, and how many, if that is known. */
	markLost(count = NaN): void {
		const { lost = { count: 0 } } = this.troubles;
		const all = count + (lost.count ?? NaN);
		const at = new Date(this.clock.now()).toISOString();
		this.troubles.lost = { at, ...(all > 0 && { count: all }) };
		this.isStale = true;
	}

	/** Records documents disabled or enabled by hand, also while a run sends. @returns why they must not be switched */
	async noteByHand(ids: string[], disabled: boolean): Promise<Failure | undefined> {
		const failed = await orFailure(async () => {
			const [root, ...copies] = await this.notes.read([ROOT, ...BY_HAND]);
			const before = copies.find(isReadable);
			const isMerged = isReadable(root) && root.byHand === before?.mark;
			const entries = new Map(before && !isMerged ? unpack(before.body) : []);
			// Disabling may fail: a document that was enabled before may still be enabled.
			for (const key of ids.map(packId))
				entries.set(key, disabled ? (entries.get(key) ?? DISABLED) : UNKNOWN);
			const header = { mark: randomUUID() };
			await this.notes.write(...BY_HAND.map((note) => ({ note, header, entries })));
		});
		return failed?.failure;
	}

	/** Writes the pieces first and the root last: the root makes them count. @throws NotesFailed */
	protected async write(run: number, byHand = this.root.byHand): Promise<void> {
		const { known, names, root, unreadablePieces } = this;
		const { lost } = this.troubles;
		const { pieces: before = [] } = root;
		await names.write();
		const wanted = 2 ** Math.ceil(Math.log2(known.size / SIZES.piece));
		const pieceCount = Math.max(before.length, wanted, 1);
		const { changed } = known;
		const dirtyPieces = new Set(
			pieceCount === before.length ? unreadablePieces : range(pieceCount),
		);
		for (const key of changed) dirtyPieces.add(pieceOf(key, pieceCount));
		const byPiece = new Map([...dirtyPieces].map((at): [number, string[]] => [at, []]));
		for (const [key] of known.entries()) byPiece.get(pieceOf(key, pieceCount))?.push(key);
		const areAll =
			names.counted.areAll && ![...names.unnamed].some((key) => known.knows(unpackId(key)));
		const pieces = range(pieceCount).map((at) => byPiece.get(at)?.length ?? before[at] ?? 0);
		const header = { run, pieces, names: { ...names.counted, areAll }, lost, byHand };
		known.changed = new Set();
		const pieceNotes = [...byPiece].map(([at, keys]) => ({
			...{ note: pieceName(at, pieceCount), header: {}, entries: known.entries(keys) },
		}));
		// A rewritten piece no longer shows that part of it was lost, so the root says so first.
		const lostRoot = lost ? [{ note: ROOT, header: { ...root, lost } }] : [];
		const notes = [...lostRoot, ...pieceNotes, { note: ROOT, header }];
		const written = await orFailure(async () => await this.notes.write(...notes));
		if (written) for (const key of changed) known.changed.add(key);
		if (written) throw new NotesFailed(written.failure);
		this.root = header;
		this.isStale = false;
		unreadablePieces.clear();
	}

	/** Reads the pieces; rebuilds unreadable ones from names. */
	private async readRoot(root: MemoryNote, forgetLost: boolean): Promise<void> {
		const { known, names, notes, unreadablePieces } = this;
		const { pieces = [], lost } = root;
		this.root = pick(root, 'run', 'pieces', 'names', 'lost', 'byHand');
		this.isStale = forgetLost && lost !== undefined;
		if (!forgetLost) this.troubles.lost = lost;
		names.counted = root.names ?? names.counted;
		notes.witness ??= notes.idOf(ROOT);
		const all = range(pieces.length).map((at) => pieceName(at, pieces.length));
		for (const [at, piece] of (await notes.read(all, SIZES.answer)).entries())
			if (isReadable(piece)) for (const entry of unpack(piece.body)) known.set(entry);
			else unreadablePieces.add(at);
		known.changed = new Set();
		if (unreadablePieces.size > 0) await this.rebuild();
	}

	/** Rebuilds unreadable pieces from names, or all pieces if the root is unreadable. */
	private async rebuild(): Promise<void> {
		const { known, names, unreadablePieces } = this;
		const { pieces } = this.root;
		let missing = sum([...unreadablePieces].map((at) => pieces?.[at]));
		for (const id of await names.ids(pieces !== undefined)) {
			const isIn = !pieces || unreadablePieces.has(pieceOf(packId(id), pieces.length));
			if (!isIn || known.knows(id)) continue;
			missing -= 1;
			known.markUnknown(id);
			known.uncertain.set(id, 'unknown');
		}
		this.isStale = true;
		if (!pieces || !names.counted.areAll) this.markLost(missing > 0 ? missing : NaN);
	}

	/** Reads and merges the journal of a crashed run. */
	private async readUnmergedJournal(sent: number): Promise<void> {
		const { known, names, root } = this;
		const left = await readJournals(this.notes, root.run);
		for (const entry of entriesIn(left.pages)) {
			known.set(entry);
			names.unnamed.add(entry[0]);
		}
		left.isDamaged ||= this.unmergedJournal.isDamaged || Math.max(left.run, root.run) < sent;
		this.unmergedJournal = left;
		this.isStale = true;
		if (!left.isDamaged) return;
		// Lost pages may have changed any document; without a root, pages of older runs are read as well.
		known.forgetContents();
		this.markLost();
	}

	private mergeByHand(note?: MemoryNote): void {
		const { known, root } = this;
		this.byHand = note?.mark ?? root.byHand;
		for (const [key, mark] of note && this.byHand !== root.byHand ? unpack(note.body) : []) {
			const id = unpackId(key);
			if (mark === DISABLED) known.forget(id);
			else known.markUnknown(id);
			known.uncertain.set(id, mark === DISABLED ? 'disabled' : 'unknown');
		}
	}
}

/** The piece that a document belongs to, by the end of its ID: some IDs begin with the time. */
const pieceOf = (key: string, of: number) =>
	(key.charCodeAt(ID_BYTES - 1) + 256 * key.charCodeAt(ID_BYTES - 2)) % of;
