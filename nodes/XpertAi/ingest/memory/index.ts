/*
 * The protocol. A note is a disabled document that holds a text; the server stores the rows of a request in order.
 * 1. One run sends at a time (lease.ts). The number of a run is one more than lease, root and pages show.
 * 2. Each batch has a page of two notes (journal.ts): the IDs of its documents, and their contents. The first two rows
 *    of the request write the IDs and empty contents; the last row writes the contents, which are therefore there
 *    exactly if the batch was carried out. A page lists the pages that may not have arrived; any other missing page was
 *    deleted. A page whose request was not answered is written on its own before anything else is sent.
 * 3. Runs alternate between two slots for their pages. Pages of a later run than the root's mean that this run crashed:
 *    the next run writes the memory before it sends anything, and reads these pages again at its end.
 * 4. The memory consists of pieces, cut by ID, and a root. The root is written last and says which run is merged.
 * 5. Names are added when documents are first stored. An unreadable piece is rebuilt from them.
 * 6. What cannot be rebuilt is lost: the root says so until the user has taken note.
 */

export { MARKS } from './fingerprints';
export type { Fingerprints } from './fingerprints';
export { ROOM_IN_BATCH } from './journal';
export type { BatchEnd, JournaledBatch } from './journal';
export type { Holder } from './lease';
export type { DocumentName } from './names';
export type { MemoryPlace, MemoryRoutes } from './notes';
export { SourceMemory } from './sourceMemory';
export type { MemoryTroubles } from './sourceMemory';
