export type { Fingerprints } from './fingerprints';
export type { BatchEnd, Journaled } from './journal';
export type { Holder } from './lease';
export type { DocumentName } from './names';
export type { MemoryPlace, MemoryRoutes } from './notes';
export { SourceMemory } from './sourceMemory';
export type { MemoryTroubles } from './storedMemory';
