import { z } from 'zod';

import { document } from '../../payloads/document';

/** The path that stores documents (E3). */
export const BULK_PATH = '/knowledges/{knowledgebaseId}/bulk';

/** The request that stores documents, or changes existing ones. */
export const BULK_REQUEST = { method: 'POST' as const, path: BULK_PATH, body: z.array(document) };

/** The path that starts processing (Xpert only). */
export const PROCESS_PATH = '/knowledges/{knowledgebaseId}/process';

/** The path of processing statuses (Xpert only). */
export const STATUS_PATH = '/knowledges/{knowledgebaseId}/status?ids={documentIds*}';
