import { pick, range, sumBy } from 'lodash';

import { Fingerprints, packId, tailOf, unpackId } from './fingerprints';
import type { Names } from './names';
import {
	isReadable,
	type MemoryNote,
	NotesFailed,
	type NotesOnServer,
	orFailure,
	type ReadNote,
	SIZES,
	type WrittenNote,
} from './notes';

export const ROOT = ['memory', 'what * has stored'] as const;

const pieceName = (at: number, of: number) =>
	[`piece ${at + 1} of ${of}`, `what * has stored, ${at + 1} of ${of}`] as const;

/** Returns the names of all pieces. */
export const pieceNames = (root: ReadNote) =>
	(isReadable(root) ? root.pieces : []).map((_, at, all) => pieceName(at, all.length));

/**
 * Names that the first piece can have. The name contains the number of pieces, which is a power of two. The list ends
 * at 1024 pieces, which hold two million documents.
 */
export const FIRST_PIECES = range(11).map((power) => pieceName(0, 2 ** power));

/**
 * `since`: the start time of this run (ISO 8601).
 * `processed`: whether this run starts the processing of its documents. Default: the setting of the last run.
 * `forgetLost`: whether to remove the field `lost` from the root note.
 */
interface PiecesOptions {
	since: string;
	processed?: boolean;
	forgetLost?: boolean;
}

/**
 * The root note and the pieces. They hold what the runs have stored, up to the last run that was merged into the
 * memory.
 */
export class Pieces {
	readonly known = new Fingerprints();
	/** The header of the root note. */
	root: Omit<MemoryNote, 'source' | 'body'> = { run: 0, pieces: [] };
	/** What the first run of the source found, if no run has told the user yet. */
	unsaid?: MemoryNote['unsaid'];
	/** Whether the last run stored documents but did not start their processing. */
	onlyStored = false;
	/** Whether this run must write the memory before it sends the next request. */
	isStale = false;
	/** Numbers of the pieces that must be written. */
	private readonly stalePieces = new Set<number>();

	/** @param failures `lost` is set if documents may be missing */
	constructor(
		private readonly notes: NotesOnServer,
		private readonly names: Names,
		private readonly failures: { lost?: MemoryNote['lost'] },
		private readonly options: PiecesOptions,
	) {}

	/** Applies the root note, and reads the pieces if `held` does not contain them. Rebuilds unreadable pieces. */
	async read(root: MemoryNote, held: ReadNote[]): Promise<void> {
		const { known, names, notes, stalePieces } = this;
		const { forgetLost, processed = root.processed } = this.options;
		const { lost } = root;
		this.root = pick(root, 'run', 'pieces', 'names', 'lost', 'processed', 'unsaid');
		this.unsaid = root.unsaid;
		this.onlyStored = root.processed === false;
		this.isStale = (forgetLost && lost !== undefined) || root.processed !== processed;
		if (!forgetLost) this.failures.lost = lost;
		names.counted = root.names ?? names.counted;
		notes.requiredId ??= notes.idOf(ROOT);
		const all = pieceNames(root);
		const pieces = held.length === all.length ? held : await notes.read(all, SIZES.answer);
		for (const [index, piece] of pieces.entries())
			if (isReadable(piece)) known.add(piece.body);
			else stalePieces.add(index);
		if (stalePieces.size > 0) await this.rebuild();
	}

	/**
	 * Replaces unreadable pieces: derives document IDs from keys, and marks the content as unknown. Records a loss if
	 * some IDs may be missing.
	 */
	async rebuild(): Promise<void> {
		const { known, names, stalePieces } = this;
		const { pieces } = this.root;
		const isAll = pieces.length === 0;
		let missing = isAll ? NaN : sumBy([...stalePieces], (piece) => pieces[piece] ?? 0);
		for (const id of await names.ids(!isAll)) {
			const isIn = isAll || stalePieces.has(tailOf(packId(id)) % pieces.length);
			if (!isIn || known.knows(id)) continue;
			missing -= 1;
			known.markUnknown(id);
			known.rebuilt.add(id);
		}
		this.isStale = true;
		if (isAll || !names.counted.areAll) this.markLost(missing);
	}

	/** Records a loss of document IDs. The numbers of several losses add up, as long as all of them are known. */
	markLost(count = NaN): void {
		const { lost = { count: 0 } } = this.failures;
		const all = count + (lost.count ?? NaN);
		this.failures.lost = { at: this.options.since, ...(all > 0 && { count: all }) };
	}

	/**
	 * Writes the changed and the unreadable pieces and, after them, the root note.
	 *
	 * @param run number of the last run that is merged into the memory
	 * @param send writes notes in this order
	 * @throws NotesFailed
	 */
	async write(run: number, send: (notes: WrittenNote[]) => Promise<void>): Promise<void> {
		const { known, names, root, stalePieces, unsaid } = this;
		const { lost } = this.failures;
		const nameNotes = await names.collect();
		const wanted = 2 ** Math.ceil(Math.log2(known.size / SIZES.piece));
		const length = Math.max(root.pieces.length, wanted, 1);
		if (length !== root.pieces.length) for (const piece of range(length)) stalePieces.add(piece);
		for (const tail of known.changed) stalePieces.add(tail % length);
		const pieces = range(length).map((piece) =>
			stalePieces.has(piece) ? known.count(piece, length) : (root.pieces[piece] ?? 0),
		);
		known.changed = new Set();
		this.isStale = true;
		const areAll =
			names.counted.areAll && ![...names.unnamed].some((id) => known.knows(unpackId(id)));
		const { processed = root.processed } = this.options;
		const counted = { ...names.counted, areAll };
		const header = { run, pieces, names: counted, lost, processed, unsaid };
		const pieceNotes = [...stalePieces].map((piece) => ({
			note: pieceName(piece, length),
			header: {},
			entries: known.entries(piece, length),
		}));
		// Record the loss before the lost pieces are replaced. Otherwise, a crash in between would hide the loss.
		const lostRoot = lost ? [{ note: ROOT, header: { ...root, lost } }] : [];
		const notes = [...nameNotes, ...lostRoot, ...pieceNotes, { note: ROOT, header }];
		const failed = await orFailure(async () => await send(notes));
		if (failed && nameNotes.length > 0) names.counted.areAll = false;
		if (failed) throw new NotesFailed(failed.failure);
		this.root = header;
		this.isStale = false;
		stalePieces.clear();
	}
}
