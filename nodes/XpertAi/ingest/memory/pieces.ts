import { randomUUID } from 'crypto';

import range from 'lodash/range';

import type { Failure } from '../../transport/failure';
import { ID_BYTES } from './fingerprints';
import type { Fingerprints } from './fingerprints';
import { takeUp } from './note';
import type { MemoryNote } from './note';
import type { NoteName, NotesOnServer, ReadNote, WrittenNote } from './notesOnServer';
import { SIZES } from './sizes';

const pieceName = (at: number, of: number): NoteName => ({
	name: `piece ${at + 1} of ${of}`,
	title: `n8n: what … has stored, ${at + 1} of ${of}`,
});

const changesName = (at: number, of: number): NoteName => ({
	name: `changes in piece ${at + 1} of ${of}`,
	title: `n8n: what … has stored, changes in ${at + 1} of ${of}`,
});

/** A piece as it lies on the server. */
interface Piece {
	/** How many documents it holds. */
	documents: number;
	/** Without it, the piece is to be written anew. */
	mark?: string;
	/** The keys of the documents that have changed since it was written. */
	changes: Set<string>;
}

const unwritten = (): Piece => ({ documents: 0, changes: new Set() });

/**
 * A large memory, cut by the ids of its documents. Each piece lies in a note of its own; what has changed since it
 * was written lies in a second one beside it, until that is too much of it.
 */
export class Pieces {
	private pieces: Piece[] = [];

	/** What lies in the memory note itself, as long as it is small, is in one piece. */
	get isWhole(): boolean {
		return this.pieces.length === 0;
	}

	/** How many documents each piece holds, and whether changes lie beside it. */
	get sizes(): MemoryNote['pieces'] {
		if (this.isWhole) return undefined;
		return this.pieces.map(({ documents, changes }) => [documents, changes.size > 0]);
	}

	/**
	 * Reads the documents of all pieces.
	 *
	 * @returns how many documents were in pieces that are not to be read
	 */
	async read(
		notes: NotesOnServer,
		sizes: NonNullable<MemoryNote['pieces']>,
		{ known, witness }: { known: Fingerprints; witness?: string },
	): Promise<{ lost: number } | { failure: Failure }> {
		const of = sizes.length;
		const names = sizes.flatMap(([, isChanged], at) => [
			pieceName(at, of),
			...(isChanged ? [changesName(at, of)] : []),
		]);
		const read = await notes.readMany(names, witness);
		if ('failure' in read) return read;
		let lost = 0;
		let next = 0;
		this.pieces = sizes.map(([documents, isChanged]) => {
			const [base, changes] = [read.notes[next++], isChanged ? read.notes[next++] : undefined];
			const piece = pieceOf(base, changes, { isChanged, known });
			if (typeof base !== 'object') lost += documents;
			else if (!piece.mark) lost += 1;
			return piece;
		});
		known.changed = new Set();
		return { lost };
	}

	/** What is to be written for the server to have what is known, in pieces that fit its number. */
	plan(known: Fingerprints): { notes: Iterable<WrittenNote>; done: () => Pieces } {
		const of = Math.max(this.pieces.length, piecesFor(known.size));
		const next = new Pieces();
		if (of <= 1) return { notes: [], done: () => next };
		const pieces = of === this.pieces.length ? this.pieces : range(of).map(unwritten);
		const changed = byPiece(known.changed, of);
		next.pieces = pieces.map((piece, at) => changedBy(piece, changed[at] ?? []));
		const isNew = next.pieces.map(({ mark }, at) => mark !== pieces[at]?.mark);
		const all = isNew.includes(true) ? byPiece(known.keys(), of) : [];
		const notes = next.pieces.flatMap((piece, at): WrittenNote[] => {
			const { mark = '', changes } = piece;
			if (isNew[at]) {
				const keys = all[at] ?? [];
				piece.documents = keys.length;
				return [{ note: pieceName(at, of), facts: { mark }, keys }];
			}
			if (changed[at]?.length === 0) return [];
			const facts = { mark: randomUUID(), after: mark };
			return [{ note: changesName(at, of), facts, keys: changes }];
		});
		return { notes, done: () => next };
	}
}

/** Takes up a piece with its changes; where one of them cannot be read, no content in it is certain. */
function pieceOf(
	base: ReadNote,
	changes: ReadNote,
	{ isChanged, known }: { isChanged: boolean; known: Fingerprints },
): Piece {
	const hasChanges = typeof changes === 'object';
	known.changed = new Set();
	if (typeof base !== 'object') {
		if (hasChanges) takeUp(changes, known, { certain: false });
		return unwritten();
	}
	takeUp(base, known);
	const { changed } = known;
	known.changed = new Set();
	const isSound = !isChanged || hasChanges;
	if (!isSound) known.forgetContents(changed);
	// Changes that were made to an earlier writing of the piece are in it.
	else if (hasChanges && changes.after === base.mark) takeUp(changes, known);
	return {
		documents: changed.size,
		mark: isSound ? base.mark : undefined,
		changes: known.changed,
	};
}

/** A piece with what has changed in it: written anew, under another mark, if that is too much. */
function changedBy(piece: Piece, keys: string[]): Piece {
	const changes = new Set([...piece.changes, ...keys]);
	if (piece.mark !== undefined && changes.size <= piece.documents / SIZES.changes)
		return { ...piece, changes };
	return { ...unwritten(), mark: randomUUID() };
}

function piecesFor(documents: number): number {
	return 2 ** Math.ceil(Math.log2(Math.max(documents / SIZES.piece, 1)));
}

/** Keys by the piece that they belong to, which the end of an id says: some ids begin with the time. */
function byPiece(keys: Iterable<string>, of: number): string[][] {
	const pieces: string[][] = range(of).map(() => []);
	for (const key of keys) {
		const end = key.charCodeAt(ID_BYTES - 1) + 256 * key.charCodeAt(ID_BYTES - 2);
		pieces[end % of]?.push(key);
	}
	return pieces;
}
