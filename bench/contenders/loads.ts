import { makeDocuments } from '../support/documents';
import type { Task } from './contender';

/** Documents of a warm-up are others than those that are measured. */
const FIRST_OF_WARM_UP = 10_000_000;

type Sizes = Pick<Task, 'documents' | 'warmUp' | 'documentBytes'>;

export const warmUpDocuments = ({ warmUp, documentBytes }: Sizes) =>
	makeDocuments(warmUp, documentBytes, FIRST_OF_WARM_UP);

export const measuredDocuments = ({ documents, documentBytes }: Sizes) =>
	makeDocuments(documents, documentBytes);
