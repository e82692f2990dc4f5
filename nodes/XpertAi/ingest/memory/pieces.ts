import { pick, range, sumBy } from 'lodash';

import { Fingerprints, packId, tailOf, unpackId } from './fingerprints';
import type { DocumentNames } from './documentNames';
import {
	isReadable,
	type MemoryNote,
	NOTE_LIMITS,
	type NoteReadResult,
	NotesError,
	type NotesOnServer,
	type NoteToWrite,
	orFailure,
} from './notes';

export const ROOT_NOTE_NAME = ['memory', 'what * has stored'] as const;

const pieceNoteName = (at: number, of: number) =>
	[`piece ${at + 1} of ${of}`, `what * has stored, ${at + 1} of ${of}`] as const;

/** Returns the names of all pieces. */
export const pieceNoteNames = (root: NoteReadResult) =>
	(isReadable(root) ? root.pieces : []).map((_, at, all) => pieceNoteName(at, all.length));

/**
 * Names that the first piece can have. The name contains the number of pieces, which is a power of two. The list ends
 * at 1024 pieces, which hold two million documents.
 */
export const POSSIBLE_FIRST_PIECE_NAMES = range(11).map((power) => pieceNoteName(0, 2 ** power));

/**
 * `runStartedAt`: the start time of this run (ISO 8601).
 * `startsProcessing`: whether this run starts the processing of its documents. Default: the setting of the last run.
 * `acknowledgesLoss`: whether to remove the field `lost` from the root note.
 */
interface PiecesOptions {
	runStartedAt: string;
	startsProcessing?: boolean;
	acknowledgesLoss?: boolean;
}

/**
 * The root note and the pieces. They hold what the runs have stored, up to the last run that was merged into the
 * memory.
 */
export class StoredPieces {
	readonly known = new Fingerprints();
	/** The header of the root note. */
	root: Omit<MemoryNote, 'source' | 'body'> = { run: 0, pieces: [] };
	/** What the first run of the source found, if no run has told the user yet. */
	unsaid?: MemoryNote['unsaid'];
	/** Whether the last run stored documents but did not start their processing. */
	lastRunOnlyStored = false;
	/** Whether this run must write the memory before it sends the next request. */
	isStale = false;
	/** Numbers of the pieces that must be written. */
	private readonly stalePieces = new Set<number>();

	/** @param failures gets the field `lost` from this class if the memory may have lost document IDs */
	constructor(
		private readonly notes: NotesOnServer,
		private readonly names: DocumentNames,
		private readonly failures: { lost?: MemoryNote['lost'] },
		private readonly options: PiecesOptions,
	) {}

	/**
	 * Loads the root note and the pieces. Rebuilds unreadable pieces.
	 *
	 * @param readPieces the pieces, if they were read with the root note; otherwise empty. If another run has changed the
	 * number of pieces since their names were listed, they are not used, and all pieces are read now.
	 */
	async load(root: MemoryNote, readPieces: NoteReadResult[]): Promise<void> {
		const { known, names, notes, stalePieces } = this;
		const { acknowledgesLoss, startsProcessing = root.processed } = this.options;
		const { lost } = root;
		this.root = pick(root, 'run', 'pieces', 'names', 'lost', 'processed', 'unsaid');
		this.unsaid = root.unsaid;
		this.lastRunOnlyStored = root.processed === false;
		// The root note must be written again if this run changes its field `lost` or `processed`.
		this.isStale = (acknowledgesLoss && lost !== undefined) || root.processed !== startsProcessing;
		if (!acknowledgesLoss) this.failures.lost = lost;
		names.summary = root.names ?? names.summary;
		const all = pieceNoteNames(root);
		const areRead = readPieces.length === all.length;
		const pieces = areRead ? readPieces : await notes.read(all, NOTE_LIMITS.answer);
		for (const [index, piece] of pieces.entries())
			if (isReadable(piece)) known.addPieceEntries(piece.body);
			else stalePieces.add(index);
		if (stalePieces.size > 0) await this.rebuild();
	}

	/**
	 * Replaces unreadable pieces: derives document IDs from keys, and marks the content as unknown. Records a loss if
	 * some IDs may be missing. If the root note is lost, replaces all pieces.
	 */
	async rebuild(): Promise<void> {
		const { known, names, root, stalePieces } = this;
		const pieceCount = root.pieces.length;
		// Without pieces, the root note is lost (see `isRootNoteLost`), and `load` was not called.
		const isRootLost = pieceCount === 0;
		let rebuiltCount = 0;
		// Sets `names.summary.areAll` to false if a name note may be missing.
		const ids = await names.deriveIds(isRootLost);
		for (const id of ids) {
			const isInStalePiece = isRootLost || stalePieces.has(tailOf(packId(id)) % pieceCount);
			if (!isInStalePiece || known.knows(id)) continue;
			rebuiltCount += 1;
			known.markUnknown(id);
			known.rebuilt.add(id);
		}
		this.isStale = true;
		if (isRootLost) this.recordLoss();
		else if (!names.summary.areAll) {
			// `root.pieces` holds the number of entries in each piece.
			const entryCount = sumBy([...stalePieces], (piece) => root.pieces[piece] ?? 0);
			this.recordLoss(entryCount - rebuiltCount);
		}
	}

	/**
	 * Records a loss of document IDs. Adds up the numbers of several losses.
	 *
	 * @param count maximum number of lost IDs; `undefined` if unknown. Then the sum is unknown, too.
	 */
	recordLoss(count?: number): void {
		const { count: earlierCount } = this.failures.lost ?? { count: 0 };
		const isKnown = count !== undefined && earlierCount !== undefined;
		const sum = isKnown ? earlierCount + count : 0;
		this.failures.lost = { at: this.options.runStartedAt, ...(sum > 0 && { count: sum }) };
	}

	/**
	 * Writes the collected names, then each piece that has changed or could not be read, then the root note. If there is a
	 * loss, writes the old root note with the loss before the pieces.
	 *
	 * @param run number of the last run that is merged into the memory
	 * @param send writes the given notes, in the given order
	 * @throws NotesError
	 */
	async write(run: number, send: (notes: NoteToWrite[]) => Promise<void>): Promise<void> {
		const { known, names, root, stalePieces } = this;
		const { lost } = this.failures;
		const nameNotes = await names.takeNotesToWrite();
		const pieceCount = this.markStaleAndCountPieces();
		// If `send` fails, the memory must still be written before the next request.
		this.isStale = true;
		const newRoot = this.rootHeader(run, pieceCount);
		const pieceNotes = [...stalePieces].map((piece) => ({
			nameAndTitle: pieceNoteName(piece, pieceCount),
			header: {},
			entries: known.entries(piece, pieceCount),
		}));
		// Record the loss before the lost pieces are replaced. Otherwise, a crash in between would hide the loss.
		const lossNote = lost ? [{ nameAndTitle: ROOT_NOTE_NAME, header: { ...root, lost } }] : [];
		const notes = [
			...nameNotes,
			...lossNote,
			...pieceNotes,
			{ nameAndTitle: ROOT_NOTE_NAME, header: newRoot },
		];
		const failed = await orFailure(async () => await send(notes));
		if (failed) {
			// These names are not written again. Later runs know that the list of names has gaps.
			if (nameNotes.length > 0) names.summary.areAll = false;
			throw new NotesError(failed.failure);
		}
		this.root = newRoot;
		this.isStale = false;
		stalePieces.clear();
	}

	/** Adds the pieces with changed entries to `stalePieces`. Returns the number of pieces, which may have grown. */
	private markStaleAndCountPieces(): number {
		const { known, root, stalePieces } = this;
		const wanted = 2 ** Math.ceil(Math.log2(known.size / NOTE_LIMITS.piece));
		const pieceCount = Math.max(root.pieces.length, wanted, 1);
		const areResized = pieceCount !== root.pieces.length;
		if (areResized) for (const piece of range(pieceCount)) stalePieces.add(piece);
		for (const tail of known.changedTails) stalePieces.add(tail % pieceCount);
		known.changedTails = new Set();
		return pieceCount;
	}

	/** Makes the header of the root note from `known` and `names`. Pieces that are not rewritten keep their counts. */
	private rootHeader(run: number, pieceCount: number) {
		const { known, names, root, stalePieces, unsaid } = this;
		const pieces = known
			.countByPiece(pieceCount)
			.map((count, piece) => (stalePieces.has(piece) ? count : (root.pieces[piece] ?? 0)));
		const isNameMissing = [...names.unnamed].some((packedId) => known.knows(unpackId(packedId)));
		const summary = { ...names.summary, areAll: names.summary.areAll && !isNameMissing };
		const { startsProcessing: processed = root.processed } = this.options;
		return { run, pieces, names: summary, lost: this.failures.lost, processed, unsaid };
	}
}
