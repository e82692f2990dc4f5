import { z } from 'zod';

import { document } from '../../payloads/document';

/** The request that stores documents, or changes existing ones (E3). */
export const BULK_REQUEST = {
	method: 'POST' as const,
	path: '/knowledges/{knowledgebaseId}/bulk',
	body: z.array(document),
};
