import type { OperationCase } from './cases';

/** The two operations for Xpert's routes outside the contract. */
export const EXTENSION_CASES: OperationCase[] = [
	{
		endpoint: 'process',
		good: ({ filledKnowledgebaseId, documentId }) => ({
			resource: 'document',
			operation: 'process',
			knowledgebaseId: { __rl: true, mode: 'id', value: filledKnowledgebaseId },
			documentIds: documentId,
		}),
		request: ({ filledKnowledgebaseId, documentId }) => ({
			method: 'POST',
			path: `/api/ai/knowledges/${filledKnowledgebaseId}/process`,
			body: [documentId],
		}),
		bad: ({ filledKnowledgebaseId }) => ({
			resource: 'document',
			operation: 'process',
			knowledgebaseId: { __rl: true, mode: 'id', value: filledKnowledgebaseId },
			documentIds: '={{ " , " }}',
		}),
		refusal: /"Document IDs" must not be empty, but is \[\] \[item 0\]/,
		answer: [{ id: '2f78e81b-096f-42ff-8ac0-8403fd81392d', status: 'waiting' }],
	},
	{
		endpoint: 'status',
		good: ({ filledKnowledgebaseId, documentId }) => ({
			resource: 'document',
			operation: 'getStatus',
			knowledgebaseId: { __rl: true, mode: 'id', value: filledKnowledgebaseId },
			documentIds: documentId,
		}),
		request: ({ filledKnowledgebaseId, documentId }) => ({
			method: 'GET',
			path: `/api/ai/knowledges/${filledKnowledgebaseId}/status?ids=${documentId}`,
		}),
		bad: ({ filledKnowledgebaseId }) => ({
			resource: 'document',
			operation: 'getStatus',
			knowledgebaseId: { __rl: true, mode: 'id', value: filledKnowledgebaseId },
			documentIds: '={{ " , " }}',
		}),
		refusal: /"Document IDs" must not be empty, but is \[\] \[item 0\]/,
		answer: [{ id: '2f78e81b-096f-42ff-8ac0-8403fd81392d', status: 'waiting' }],
	},
];
