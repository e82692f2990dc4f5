import { compact } from 'lodash';

import { UNKNOWN_CONTENT } from './fingerprints';
import { FIRST_PAGE_NOTE_NAMES, isFromLaterRun, type Journal } from './journal';
import type { Lease } from './lease';
import type { DocumentNames } from './documentNames';
import { isReadable, type NoteReadResult, type NotesOnServer } from './notes';
import { POSSIBLE_FIRST_PIECE_NAMES, ROOT_NOTE_NAME, type StoredPieces } from './pieces';

/** Names of the notes that `fillMemoryParts` always needs: the root note, and the first journal page of each slot. */
export const FIRST_NOTE_NAMES = [ROOT_NOTE_NAME, ...FIRST_PAGE_NOTE_NAMES];

/** The parts of a memory. */
export interface MemoryParts {
	journal: Journal;
	lease: Lease;
	names: DocumentNames;
	notes: NotesOnServer;
	pieces: StoredPieces;
}

/**
 * Reads the memory into its parts, and merges the journals of crashed runs.
 *
 * @param notes the notes `FIRST_NOTE_NAMES`, and the pieces if they were read already
 * @returns whether this run seems to be the first run of the source
 * @throws NotesError
 */
export async function fillMemoryParts(
	[root, ...others]: NoteReadResult[],
	parts: MemoryParts,
): Promise<boolean> {
	const { journal, lease, names, notes, pieces } = parts;
	const firstPages = others.slice(0, FIRST_PAGE_NOTE_NAMES.length);
	const readPieces = others.slice(FIRST_PAGE_NOTE_NAMES.length);
	const isRootLost = await isRootNoteLost(root, firstPages, parts);
	if (isReadable(root)) notes.requiredId ??= notes.idOf(ROOT_NOTE_NAME);
	if (isRootLost) await pieces.rebuild();
	else if (isReadable(root)) await pieces.load(root, readPieces);
	const { sent: lastSendingRun } = lease.counters;
	const mergedRun = pieces.root.run;
	// These pieces do not contain what a run after `mergedRun` has sent.
	if (lastSendingRun > mergedRun || firstPages.some((page) => isFromLaterRun(mergedRun, page)))
		await mergeCrashedRuns(isRootLost, parts);
	// The names of documents with unknown content may be missing, because runs add names of stored documents only.
	for (const [packedId, fingerprint] of pieces.known.entries())
		if (fingerprint === UNKNOWN_CONTENT) names.unnamed.add(packedId);
	return root === undefined && !isRootLost && Math.max(journal.crashedRun, lastSendingRun) === 0;
}

/** Whether the root note is missing, unreadable or outdated, although there was one. */
async function isRootNoteLost(
	root: NoteReadResult,
	firstPages: NoteReadResult[],
	{ lease, notes }: MemoryParts,
): Promise<boolean> {
	if (root === 'damaged') return true;
	// A root note without pieces only records a loss: the run that wrote it crashed before it wrote the pieces.
	// `counters.root` is the last known number in the root note, or 0 if there was none.
	if (root !== undefined) return root.pieces.length === 0 || root.run < lease.counters.root;
	if (lease.counters.root > 0) return true;
	// The first run of the source has sent documents, and crashed before it wrote the root note.
	if (lease.counters.sent > 0) return false;
	const firstPieces = await notes.read(POSSIBLE_FIRST_PIECE_NAMES);
	// The lease may be that of a run that crashed before it read the memory. A piece with entries then proves that there
	// was one. Pages and empty pieces prove nothing: a first run that crashed leaves them, too.
	if (lease.existedBefore)
		return compact(firstPieces).some((piece) => piece === 'damaged' || piece.body.length > 0);
	// Without a lease, a journal page or any piece proves that there was a memory.
	return compact([...firstPages, ...firstPieces]).length > 0;
}

/**
 * Reads the journals of crashed runs, and merges them into the known documents. If the root note is lost, or journal
 * pages may be missing or unreadable, also marks the content of all known documents as unknown, and records a loss.
 */
async function mergeCrashedRuns(
	isRootLost: boolean,
	{ journal, lease, names, pieces }: MemoryParts,
): Promise<void> {
	const { known } = pieces;
	const mergedRun = pieces.root.run;
	for (const entry of await journal.readUnmerged(mergedRun)) {
		known.set(entry);
		names.unnamed.add(entry[0]);
	}
	// The lease counts a run that began to send, but the journal has no page of that run.
	const isRunMissing = Math.max(journal.crashedRun, mergedRun) < lease.counters.sent;
	journal.isDamaged ||= isRootLost || isRunMissing;
	pieces.isStale = true;
	if (!journal.isDamaged) return;
	// A lost journal page may be about any document, so no content is certain. If the root note is lost, the pages
	// that this run has read may be outdated.
	for (const [packedId] of known.entries()) known.set([packedId, UNKNOWN_CONTENT]);
	pieces.recordLoss();
}
