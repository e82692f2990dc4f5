export type { Fingerprints } from './fingerprints';
export { ROOM_IN_BATCH } from './journal';
export type { BatchEnd, JournaledBatch } from './journal';
export type { Holder } from './lease';
export type { MemoryPlace, MemoryRoutes } from './notes';
export { SourceMemory } from './sourceMemory';
export type { DocumentName, MemoryTroubles } from './storedMemory';
