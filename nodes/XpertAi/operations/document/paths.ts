import { z } from 'zod';

import { document } from '../../payloads/document';

/** Where documents are stored (E3). */
export const BULK_PATH = '/knowledges/{knowledgebaseId}/bulk';

/** What stores documents, or changes those that are there. */
export const BULK_REQUEST = { method: 'POST' as const, path: BULK_PATH, body: z.array(document) };

/** Where Xpert is told to process documents. */
export const PROCESS_PATH = '/knowledges/{knowledgebaseId}/process';

/** Where Xpert says how far the processing of some documents has come. */
export const STATUS_PATH = '/knowledges/{knowledgebaseId}/status?ids={documentIds*}';
