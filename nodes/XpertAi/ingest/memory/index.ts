export { Fingerprints } from './fingerprints';
export type { BatchEnd, Journaled } from './journal';
export type { Holder } from './lease';
export type { DocumentName } from './names';
export type { NoteFlaw } from './note';
export type { MemoryPlace, MemoryRoutes } from './notesOnServer';
export { SourceMemory } from './sourceMemory';
export type { MemoryTroubles, Recalled } from './sourceMemory';
