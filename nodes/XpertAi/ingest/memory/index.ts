/*
 * How the memory works. The memory of a source consists of notes in the knowledgebase. A note is a disabled document
 * with a text in `processMsg`. A row is a document in the body of a request. The server stores rows in order.
 *
 * Lease: only one run at a time may send (see `Lease`). Each run has a higher number than all earlier runs.
 *
 * Pieces and root note: each piece contains the IDs and fingerprints of some of the documents. A fingerprint is a short
 * comparison hash. The root note contains the number of the last run that is merged into the pieces. A run writes the
 * changed pieces before the root note.
 *
 * Journal: records which documents a run sends (journal.ts). Each batch has one journal page. A journal page consists
 * of two notes, one for document IDs and one for fingerprints. The request of a batch has these rows:
 * 1. the note with the document IDs
 * 2. the other note, without fingerprints
 * 3. the documents of the batch
 * 4. the other note again, with the fingerprints
 * So a journal page has fingerprints only if the server stored the batch. If the request fails, the run writes both
 * notes in a request of their own, without fingerprints, before the next batch. Each journal page lists the pages that
 * the server may not have stored. If a page is missing but not listed, it was deleted.
 *
 * Crashed runs: journal pages of a crashed run have a higher run number than the root note. The next run merges these
 * pages into the memory before it sends. Late requests of the crashed run may add pages, so the next run reads the
 * pages a second time at the end. Consecutive runs use different sets of journal pages (slots). So late requests cannot
 * overwrite pages of the next run.
 *
 * Names: separate notes contain the names and keys of documents. If a piece cannot be read, a run derives document IDs
 * from these keys. If some IDs cannot be derived, the root note records a loss until the user acknowledges the loss.
 */

export { Fingerprints, HASH_KIND_MARKS } from './fingerprints';
export type { DocumentNameAndKey } from './documentNames';
export type { MemoryPlace } from './notes';
export { RESERVED_JOURNAL_BYTES, type BatchJournalRows } from './journal';
export { type MemoryFailures, SourceMemory } from './sourceMemory';
