import type { INodeParameters } from 'n8n-workflow';

import { ECHO_ASSISTANT_ID, INTERRUPTING_INPUT, SANDBOX_ASSISTANT_ID } from '../../../sandbox';
import type { Sandbox } from '../../../sandbox';
import { byId } from './locators';

/** Records that exist on the sandbox before an operation runs. */
export interface World {
	knowledgebaseId: string;
	threadId: string;
	/** A thread that has run and can be read. */
	ranThreadId: string;
	/** The conversation it belongs to. */
	conversationId: string;
	/** The message that answers in it. */
	answerId: string;
	/** Its run, which has ended. */
	ranRunId: string;
	/** A thread on which a run goes on, and that run. */
	busyThreadId: string;
	busyRunId: string;
	/** A thread whose run waits for a person. */
	waitingThreadId: string;
	/** The run that waits. */
	waitingRunId: string;
	storageFileId: string;
	/** The file context that file belongs to. */
	fileContextId: string;
	/** A knowledgebase with one document in it. */
	filledKnowledgebaseId: string;
	documentId: string;
}

/** How an operation is called, and what must arrive at the server. */
export interface OperationCase {
	/** Its number in the contract; of an extension, the name of its route. */
	endpoint: string;
	/** Parameters of a good call. */
	good: (world: World) => INodeParameters;
	request: (world: World) => { method: string; path: string; body?: unknown };
	/** Parameters that must be refused before anything is sent, and the words of the message. */
	bad: (world: World) => INodeParameters;
	refusal: RegExp;
	/** What a server without fault answers: what was recorded of it, no more than it is held to. */
	answer: unknown;
	/** What a server without fault answers to what is looked at first. */
	looked?: unknown;
}

const missingId = '={{ "" }}';

const ID = '2f78e81b-096f-42ff-8ac0-8403fd81392d';

/** What a server tells of a run. */
function recordedRun(status: string, assistantId: string | null) {
	return {
		...{ run_id: ID, thread_id: ID, assistant_id: assistantId, status },
		...{ created_at: '2025-08-01T08:00:00.000Z', updated_at: '2025-08-01T08:00:00.000Z' },
	};
}

const ofRun = (operation: string, threadId: string, runId: string): INodeParameters => ({
	...{ resource: 'thread', operation, threadId: byId(threadId), runId },
});

const saying = (
	operation: 'run' | 'start',
	threadId: string,
	message = 'hello there',
): INodeParameters => ({
	...{ resource: 'thread', operation, threadSource: 'existing', threadId: byId(threadId), message },
	assistantId: byId(ECHO_ASSISTANT_ID),
});

/** By the one route of the contract (E4). */
const IN_ONE_REQUEST = { options: { inOneRequest: true } };

/** What says so to the assistant. */
const HELLO = {
	assistant_id: ECHO_ASSISTANT_ID,
	input: { action: 'send', message: { input: { input: 'hello there' } } },
};

/** Every operation of the node; the one that deletes what others need comes last. */
export const ALL_CASES: OperationCase[] = [
	{
		endpoint: 'process',
		good: ({ filledKnowledgebaseId, documentId }) => ({
			resource: 'document',
			operation: 'process',
			knowledgebaseId: byId(filledKnowledgebaseId),
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
			knowledgebaseId: byId(filledKnowledgebaseId),
			documentIds: '={{ " , " }}',
		}),
		refusal: /"Document IDs" must not be empty, but is \[\]$/,
		answer: [{ id: ID, status: 'waiting' }],
	},
	{
		endpoint: 'status',
		good: ({ filledKnowledgebaseId, documentId }) => ({
			resource: 'document',
			operation: 'getStatus',
			knowledgebaseId: byId(filledKnowledgebaseId),
			documentIds: documentId,
		}),
		request: ({ filledKnowledgebaseId, documentId }) => ({
			method: 'GET',
			path: `/api/ai/knowledges/${filledKnowledgebaseId}/status?ids=${documentId}`,
		}),
		bad: ({ filledKnowledgebaseId }) => ({
			resource: 'document',
			operation: 'getStatus',
			knowledgebaseId: byId(filledKnowledgebaseId),
			documentIds: '={{ " , " }}',
		}),
		refusal: /"Document IDs" must not be empty, but is \[\]$/,
		answer: [{ id: ID, status: 'waiting' }],
	},
	{
		endpoint: 'E1',
		good: () => ({
			resource: 'knowledgebase',
			operation: 'create',
			name: 'Manuals',
			additionalFields: {
				description: 'All manuals',
				permission: 'organization',
				type: 'standard',
				recall: { topK: 7, score: 0.4 },
				parserConfig: { chunkSize: 500, chunkOverlap: 50, delimiter: '; , .' },
				extKnowledgebaseId: 'ext-1',
			},
		}),
		request: () => ({
			method: 'POST',
			path: '/api/ai/knowledges',
			body: {
				name: 'Manuals',
				description: 'All manuals',
				permission: 'organization',
				type: 'standard',
				recall: { topK: 7, score: 0.4 },
				parserConfig: { chunkSize: 500, chunkOverlap: 50, delimiter: '; , .' },
				extKnowledgebaseId: 'ext-1',
			},
		}),
		bad: () => ({
			resource: 'knowledgebase',
			operation: 'create',
			name: 'Manuals',
			additionalFields: { recall: { topK: 2.5 } },
		}),
		refusal: /"Top K" in "Recall" must be a whole number, but is 2\.5$/,
		answer: { id: ID },
	},
	{
		endpoint: 'E2',
		good: ({ knowledgebaseId }) => ({
			resource: 'knowledgebase',
			operation: 'update',
			knowledgebaseId: byId(knowledgebaseId),
			updateFields: { permission: 'public' },
			clearFields: ['description'],
		}),
		request: ({ knowledgebaseId }) => ({
			method: 'PUT',
			path: `/api/ai/knowledges/${knowledgebaseId}`,
			body: { permission: 'public', description: null },
		}),
		bad: ({ knowledgebaseId }) => ({
			resource: 'knowledgebase',
			operation: 'update',
			knowledgebaseId: byId(knowledgebaseId),
			updateFields: { workspaceId: 'not-a-uuid' },
		}),
		refusal: /"Workspace ID" must be a UUID such as .*, but is "not-a-uuid"$/,
		answer: { id: ID },
	},
	{
		endpoint: 'E2',
		good: ({ knowledgebaseId }) => ({
			resource: 'knowledgebase',
			operation: 'get',
			knowledgebaseId: byId(knowledgebaseId),
		}),
		request: ({ knowledgebaseId }) => ({
			method: 'PUT',
			path: `/api/ai/knowledges/${knowledgebaseId}`,
			body: {},
		}),
		bad: () => ({ resource: 'knowledgebase', operation: 'get', knowledgebaseId: missingId }),
		refusal: /"Knowledgebase" is empty: its expression gave nothing for this item$/,
		answer: { id: ID },
	},
	{
		endpoint: 'E3',
		good: ({ knowledgebaseId }) => ({
			resource: 'document',
			operation: 'submit',
			source: 'fields',
			options: { afterStoring: 'nothing' },
			knowledgebaseId: byId(knowledgebaseId),
			documentFields: {
				mappingMode: 'defineBelow',
				value: {
					id: ID,
					name: 'guide.md',
					processDuation: 4,
					metadata: '{"lang":"en"}',
					disabled: false,
				},
				schema: [],
			},
			pages: {
				values: [{ pageContent: 'Page one', additionalFields: { metadata: '{"page":1}' } }],
			},
			chunks: { values: [{ pageContent: 'Chunk', additionalFields: { parent: '{"id":"c0"}' } }] },
		}),
		request: ({ knowledgebaseId }) => ({
			method: 'POST',
			path: `/api/ai/knowledges/${knowledgebaseId}/bulk`,
			body: [
				{
					id: ID,
					name: 'guide.md',
					processDuation: 4,
					metadata: { lang: 'en' },
					disabled: false,
					pages: [{ pageContent: 'Page one', metadata: { page: 1 } }],
					chunks: [{ pageContent: 'Chunk', parent: { id: 'c0' } }],
				},
			],
		}),
		bad: ({ knowledgebaseId }) => ({
			resource: 'document',
			operation: 'submit',
			options: { afterStoring: 'nothing' },
			knowledgebaseId: byId(knowledgebaseId),
			source: 'json',
			jsonBody: JSON.stringify([{ name: 'a', createdAt: 'yesterday' }]),
		}),
		refusal: /"JSON Body" at \[0\]\.createdAt must be an ISO 8601 date-time .*"yesterday"/,
		answer: [{ id: ID }],
	},
	...(['disable', 'enable'] as const).map(
		(operation): OperationCase => ({
			endpoint: 'E3',
			good: ({ filledKnowledgebaseId, documentId }) => ({
				resource: 'document',
				operation,
				knowledgebaseId: byId(filledKnowledgebaseId),
				documentsBy: 'id',
				documentIds: documentId,
			}),
			request: ({ filledKnowledgebaseId, documentId }) => ({
				method: 'POST',
				path: `/api/ai/knowledges/${filledKnowledgebaseId}/bulk`,
				body: [{ id: documentId, disabled: operation === 'disable' }],
			}),
			bad: ({ filledKnowledgebaseId }) => ({
				resource: 'document',
				operation,
				knowledgebaseId: byId(filledKnowledgebaseId),
				documentKey: missingId,
			}),
			refusal: /"Document Key" is empty: its expression gave nothing for this item$/,
			answer: [{ id: ID }],
		}),
	),
	{
		endpoint: 'E4',
		good: ({ threadId }) => ({ ...saying('run', threadId), ...IN_ONE_REQUEST }),
		request: ({ threadId }) => ({
			method: 'POST',
			path: `/api/ai/threads/${threadId}/runs/wait`,
			body: HELLO,
		}),
		bad: ({ threadId }) => saying('run', threadId, missingId),
		refusal: /"Message" is empty: its expression gave nothing for this item$/,
		answer: { role: 'ai', content: 'the answer' },
	},
	{
		endpoint: 'E4',
		good: ({ waitingThreadId }) => ({
			resource: 'thread',
			operation: 'decide',
			threadId: byId(waitingThreadId),
			decision: 'confirm',
			...IN_ONE_REQUEST,
		}),
		request: ({ waitingThreadId }) => ({
			method: 'POST',
			path: `/api/ai/threads/${waitingThreadId}/runs/wait`,
			body: {
				assistant_id: ECHO_ASSISTANT_ID,
				input: {
					...{ action: 'resume', decision: { type: 'confirm' } },
					target: {},
				},
			},
		}),
		bad: ({ waitingThreadId }) => ({
			resource: 'thread',
			operation: 'decide',
			threadId: byId(waitingThreadId),
			decision: '={{ "perhaps" }}',
		}),
		refusal: /"Decision" must be one of confirm, reject, but is "perhaps"$/,
		answer: { role: 'ai', content: 'the answer' },
	},
	{
		endpoint: 'E4',
		good: ({ ranThreadId }) => ({
			resource: 'thread',
			operation: 'retry',
			threadId: byId(ranThreadId),
			...IN_ONE_REQUEST,
		}),
		request: ({ ranThreadId }) => ({
			method: 'POST',
			path: `/api/ai/threads/${ranThreadId}/runs/wait`,
			body: { assistant_id: ECHO_ASSISTANT_ID, input: { action: 'retry', source: {} } },
		}),
		bad: () => ({ resource: 'thread', operation: 'retry', threadId: missingId }),
		refusal: /"Thread" is empty: its expression gave nothing for this item$/,
		answer: { role: 'ai', content: 'the answer' },
	},
	{
		endpoint: 'runs',
		good: ({ threadId }) => saying('start', threadId),
		request: ({ threadId }) => ({
			method: 'POST',
			path: `/api/ai/threads/${threadId}/runs`,
			body: HELLO,
		}),
		bad: ({ threadId }) => saying('start', threadId, missingId),
		refusal: /"Message" is empty: its expression gave nothing for this item$/,
		answer: recordedRun('running', null),
	},
	{
		endpoint: 'run',
		good: ({ ranThreadId, ranRunId }) => ofRun('getRun', ranThreadId, ranRunId),
		request: ({ ranThreadId, ranRunId }) => ({
			method: 'GET',
			path: `/api/ai/threads/${ranThreadId}/runs/${ranRunId}`,
		}),
		bad: ({ ranThreadId }) => ofRun('getRun', ranThreadId, 'abc'),
		refusal: /"Run ID" must be a UUID.*, but is "abc"$/,
		answer: recordedRun('running', ID),
	},
	{
		endpoint: 'run',
		good: ({ ranThreadId, ranRunId }) => ({
			...ofRun('waitForRun', ranThreadId, ranRunId),
			options: { deadlineMinutes: 0.1 },
		}),
		request: ({ ranThreadId, ranRunId }) => ({
			method: 'GET',
			path: `/api/ai/threads/${ranThreadId}/runs/${ranRunId}`,
		}),
		bad: ({ ranThreadId }) => ofRun('waitForRun', ranThreadId, missingId),
		refusal: /"Run ID" is empty: its expression gave nothing for this item$/,
		answer: recordedRun('success', ID),
	},
	{
		endpoint: 'cancel',
		good: ({ busyThreadId, busyRunId }) => ofRun('cancelRun', busyThreadId, busyRunId),
		request: ({ busyThreadId, busyRunId }) => ({
			method: 'POST',
			path: `/api/ai/threads/${busyThreadId}/runs/${busyRunId}/cancel`,
		}),
		bad: ({ busyRunId }) => ({ ...ofRun('cancelRun', ID, busyRunId), threadId: missingId }),
		refusal: /"Thread" is empty: its expression gave nothing for this item$/,
		answer: { canceledExecutionIds: [ID] },
		looked: recordedRun('running', ID),
	},
	{
		endpoint: 'E5',
		good: () => ({
			resource: 'conversation',
			operation: 'search',
			limit: 2,
			filters: {
				search: 'T',
				where: '{"from":"api"}',
				order: { values: { column: 'updatedAt', direction: 'ASC' } },
			},
		}),
		request: () => ({
			method: 'POST',
			path: '/api/ai/conversations/search',
			body: {
				search: 'T',
				where: { from: 'api' },
				order: { updatedAt: 'ASC' },
				limit: 2,
				offset: 0,
			},
		}),
		bad: () => ({
			resource: 'conversation',
			operation: 'search',
			filters: { where: '={{ "{" }}' },
		}),
		refusal: /"Conditions" must be JSON \(.*\), but is "\{"$/,
		answer: { items: [{ id: ID }], total: 1 },
	},
	{
		endpoint: 'getConversation',
		good: ({ conversationId }) => ({
			resource: 'conversation',
			operation: 'get',
			conversationId: byId(conversationId),
		}),
		request: ({ conversationId }) => ({
			method: 'GET',
			path: `/api/ai/conversations/${conversationId}`,
		}),
		bad: () => ({ resource: 'conversation', operation: 'get', conversationId: missingId }),
		refusal: /"Conversation" is empty: its expression gave nothing for this item$/,
		answer: { id: ID, threadId: 't', title: 'T', status: 'idle' },
		looked: { id: ID, threadId: 't', title: 'T', status: 'idle' },
	},
	{
		endpoint: 'getMessages',
		good: ({ conversationId }) => ({
			resource: 'conversation',
			operation: 'getMessages',
			conversationId: byId(conversationId),
			limit: 10,
			options: { role: 'ai' },
		}),
		request: ({ conversationId }) => ({
			method: 'POST',
			path: `/api/ai/conversations/${conversationId}/messages/search`,
			body: { where: { role: 'ai' }, order: { createdAt: 'ASC' }, limit: 10, offset: 0 },
		}),
		bad: ({ conversationId }) => ({
			resource: 'conversation',
			operation: 'getMessages',
			conversationId: byId(conversationId),
			options: { role: '={{ "robot" }}' },
		}),
		refusal: /"From" in "Options" must be one of human, ai, but is "robot"$/,
		answer: { items: [{ id: ID, role: 'ai', content: 'hello', status: 'success' }], total: 1 },
	},
	{
		endpoint: 'updateConversation',
		good: ({ conversationId }) => ({
			resource: 'conversation',
			operation: 'update',
			conversationId: byId(conversationId),
			title: 'Question',
		}),
		request: ({ conversationId }) => ({
			method: 'PATCH',
			path: `/api/ai/conversations/${conversationId}`,
			body: { title: 'Question' },
		}),
		bad: ({ conversationId }) => ({
			resource: 'conversation',
			operation: 'update',
			conversationId: byId(conversationId),
			title: missingId,
		}),
		refusal: /"Title" is empty: its expression gave nothing for this item$/,
		answer: { id: ID, threadId: 't', title: 'Question' },
		looked: { id: ID, status: 'idle' },
	},
	{
		endpoint: 'feedbacks',
		good: ({ conversationId }) => ({
			resource: 'conversation',
			operation: 'rate',
			conversationId: byId(conversationId),
			rating: 'dislike',
			additionalFields: { content: 'Too long' },
		}),
		request: ({ conversationId, answerId }) => ({
			method: 'POST',
			path: `/api/ai/conversations/${conversationId}/messages/${answerId}/feedbacks`,
			body: { rating: 'dislike', content: 'Too long' },
		}),
		bad: ({ conversationId }) => ({
			resource: 'conversation',
			operation: 'rate',
			conversationId: byId(conversationId),
			rating: '={{ "LIKE" }}',
		}),
		refusal: /"Rating" must be one of like, dislike, but is "LIKE"$/,
		answer: { id: ID, messageId: ID, rating: 'dislike' },
		looked: { items: [{ id: ID, role: 'ai' }], total: 1 },
	},
	{
		endpoint: 'getAssistant',
		good: () => ({
			resource: 'assistant',
			operation: 'get',
			assistantId: byId(ECHO_ASSISTANT_ID),
		}),
		request: () => ({ method: 'GET', path: `/api/ai/assistants/${ECHO_ASSISTANT_ID}` }),
		bad: () => ({ resource: 'assistant', operation: 'get', assistantId: missingId }),
		refusal: /"Assistant" is empty: its expression gave nothing for this item$/,
		answer: { assistant_id: ECHO_ASSISTANT_ID, name: 'Echo' },
	},
	{
		endpoint: 'E6',
		good: () => ({
			resource: 'chatSession',
			operation: 'create',
			assistantId: byId(SANDBOX_ASSISTANT_ID),
			additionalFields: { expires_after: 60, user: 'customer-42' },
		}),
		request: () => ({
			method: 'POST',
			path: '/api/ai/v1/chatkit/sessions',
			body: { assistant: { id: SANDBOX_ASSISTANT_ID }, expires_after: 60, user: 'customer-42' },
		}),
		bad: () => ({
			resource: 'chatSession',
			operation: 'create',
			additionalFields: { expires_after: 1.5 },
		}),
		refusal: /"Expires After \(Seconds\)" must be a whole number, but is 1\.5$/,
		answer: { client_secret: 'session-secret', expires_at: 1, expires_after: 60 },
	},
	{
		endpoint: 'E7',
		good: () => ({
			resource: 'assistant',
			operation: 'search',
			limit: 5,
			filters: { graph_id: ECHO_ASSISTANT_ID, metadata: '{"slug":"echo"}' },
		}),
		request: () => ({
			method: 'POST',
			path: '/api/ai/assistants/search',
			body: { graph_id: ECHO_ASSISTANT_ID, metadata: { slug: 'echo' }, limit: 5, offset: 0 },
		}),
		bad: () => ({ resource: 'assistant', operation: 'search', limit: '={{ "many" }}' }),
		refusal: /"Limit" must be a number, but is "many"$/,
		answer: [{ assistant_id: ID }],
	},
	{
		endpoint: 'E8',
		good: () => ({
			resource: 'store',
			operation: 'searchItems',
			namespace_prefix: `${SANDBOX_ASSISTANT_ID}/users`,
			limit: 10,
			filters: { query: 'colour' },
		}),
		request: () => ({
			method: 'POST',
			path: '/api/ai/store/items/search',
			body: {
				namespace_prefix: [SANDBOX_ASSISTANT_ID, 'users'],
				query: 'colour',
				limit: 10,
				offset: 0,
			},
		}),
		bad: () => ({
			resource: 'store',
			operation: 'searchItems',
			namespace_prefix: 'memories',
			filters: { filter: '[1]' },
		}),
		refusal: /"Filter" must be an object \(JSON\), but is \[1\]$/,
		answer: { items: [{ namespace: ['a'], key: 'k', value: {} }] },
	},
	{
		endpoint: 'E9',
		good: () => ({
			resource: 'assistant',
			operation: 'count',
			filters: { metadata: '{"slug":"echo"}' },
		}),
		request: () => ({
			method: 'POST',
			path: '/api/ai/assistants/count',
			body: { metadata: { slug: 'echo' } },
		}),
		bad: () => ({
			resource: 'assistant',
			operation: 'count',
			options: { jsonBody: '={{ "{a" }}' },
		}),
		refusal: /"JSON Body" must be JSON \(.*\), but is "\{a"$/,
		answer: 7,
	},
	{
		endpoint: 'E10',
		good: ({ threadId }) => ({
			resource: 'thread',
			operation: 'copy',
			threadId: byId(threadId),
		}),
		request: ({ threadId }) => ({
			method: 'POST',
			path: `/api/ai/threads/${threadId}/copy`,
			body: {},
		}),
		bad: () => ({ resource: 'thread', operation: 'copy', threadId: '={{ "  " }}' }),
		refusal: /"Thread" must not be empty$/,
		answer: { thread_id: 't' },
	},
	{
		endpoint: 'E11',
		good: () => ({
			resource: 'store',
			operation: 'createNamespace',
			prefix: SANDBOX_ASSISTANT_ID,
			additionalFields: { max_depth: 2, limit: 5, offset: 0, suffix: 'notes' },
		}),
		request: () => ({
			method: 'POST',
			path: '/api/ai/store/namespaces',
			body: {
				prefix: [SANDBOX_ASSISTANT_ID],
				suffix: ['notes'],
				max_depth: 2,
				limit: 5,
				offset: 0,
			},
		}),
		bad: () => ({
			resource: 'store',
			operation: 'createNamespace',
			additionalFields: { max_depth: '={{ "deep" }}' },
		}),
		refusal: /"Max Depth" must be a number, but is "deep"$/,
		answer: { namespaces: [['a']] },
	},
	{
		endpoint: 'E12',
		good: () => ({
			resource: 'fileContext',
			operation: 'create',
			additionalFields: { parseMode: 'fast', purpose: 'chat_attachment', workspacePath: 'a/b' },
		}),
		request: () => ({ method: 'POST', path: '/api/ai/contexts/file' }),
		bad: () => ({ resource: 'fileContext', operation: 'create', binaryPropertyName: 'attachment' }),
		refusal: /"Input Binary Field" names "attachment", but the item has only data$/,
		answer: { id: ID, storageFileId: ID },
	},
	{
		endpoint: 'E13',
		good: () => ({
			resource: 'conversation',
			operation: 'create',
			title: 'Question',
			additionalFields: { threadId: 'thread-of-mine', options: '{"a":1}' },
		}),
		request: () => ({
			method: 'POST',
			path: '/api/ai/conversations',
			body: { title: 'Question', threadId: 'thread-of-mine', options: { a: 1 } },
		}),
		bad: () => ({
			resource: 'conversation',
			operation: 'create',
			additionalFields: { options: '={{ 5 }}' },
		}),
		refusal: /"Conversation Options" must be an object \(JSON\), but is 5$/,
		answer: { id: ID, threadId: 't' },
	},
	{
		endpoint: 'E14',
		good: ({ storageFileId }) => ({
			resource: 'fileContext',
			operation: 'delete',
			fileId: byId(storageFileId),
		}),
		request: ({ storageFileId }) => ({
			method: 'DELETE',
			path: `/api/ai/contexts/file/${storageFileId}`,
		}),
		bad: () => ({ resource: 'fileContext', operation: 'delete', fileId: missingId }),
		refusal: /"File" is empty: its expression gave nothing for this item$/,
		answer: { originalName: 'hello.txt' },
	},
	{
		endpoint: 'E15',
		good: ({ ranThreadId }) => ({
			resource: 'thread',
			operation: 'get',
			threadId: byId(ranThreadId),
		}),
		request: ({ ranThreadId }) => ({ method: 'GET', path: `/api/ai/threads/${ranThreadId}` }),
		bad: () => ({ resource: 'thread', operation: 'get', threadId: '={{ ".." }}' }),
		refusal: /"Thread" must be an ID, but is "\.\."$/,
		answer: { thread_id: ID, status: 'idle', values: { messages: [] } },
	},
	{
		endpoint: 'E16',
		good: () => ({
			resource: 'file',
			operation: 'create',
			additionalFields: { target: '{"kind":"storage","directory":"manuals","prefix":"m"}' },
		}),
		request: () => ({ method: 'POST', path: '/api/ai/v1/file' }),
		bad: () => ({
			resource: 'file',
			operation: 'create',
			additionalFields: { target: '={{ "storage" }}' },
		}),
		refusal: /"Target" must be JSON \(.*\), but is "storage"$/,
		answer: { id: ID, url: 'https://files.example/hello.txt' },
	},
	{
		endpoint: 'E17',
		good: ({ knowledgebaseId }) => ({
			resource: 'knowledgebase',
			operation: 'delete',
			knowledgebaseId: byId(knowledgebaseId),
		}),
		request: ({ knowledgebaseId }) => ({
			method: 'DELETE',
			path: `/api/ai/v1/kb/${knowledgebaseId}`,
		}),
		bad: () => ({ resource: 'knowledgebase', operation: 'delete', knowledgebaseId: missingId }),
		refusal: /"Knowledgebase" is empty: its expression gave nothing for this item$/,
		answer: { raw: [], affected: 1 },
	},
	// Others use the conversation before.
	{
		endpoint: 'deleteConversation',
		good: ({ conversationId }) => ({
			resource: 'conversation',
			operation: 'delete',
			conversationId: byId(conversationId),
		}),
		request: ({ conversationId }) => ({
			method: 'DELETE',
			path: `/api/ai/conversations/${conversationId}`,
		}),
		bad: () => ({ resource: 'conversation', operation: 'delete', conversationId: missingId }),
		refusal: /"Conversation" is empty: its expression gave nothing for this item$/,
		answer: undefined,
		looked: { id: ID, status: 'idle' },
	},
];

/** Puts the records the cases need on a fresh sandbox. */
export async function createWorld(sandbox: Sandbox): Promise<World> {
	const call = async (path: string, body: FormData | object) => {
		const answer = await sandbox.post(`/api/ai${path}`, body);
		return (Array.isArray(answer) ? answer[0] : answer) as Record<string, string>;
	};
	const form = new FormData();
	form.append('file', new Blob(['hello world']), 'hello.txt');

	const { id: knowledgebaseId } = await call('/knowledges', {
		name: 'Existing',
		description: 'Old',
	});
	const { threadId } = await call('/conversations', { title: 'T' });
	const threadThat = async (title: string, input: string) => {
		const made = await call('/conversations', { title });
		await call(`/threads/${made.threadId}/runs/wait`, {
			assistant_id: ECHO_ASSISTANT_ID,
			input: { action: 'send', message: { input: { input } } },
		});
		return { threadId: String(made.threadId), conversationId: String(made.id) };
	};
	const { threadId: ranThreadId, conversationId } = await threadThat('T ran', 'hi');
	const busy = await call('/conversations', { title: 'T runs' });
	sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 60_000 });
	const { run_id: busyRunId } = await call(`/threads/${busy.threadId}/runs`, {
		assistant_id: ECHO_ASSISTANT_ID,
		input: { action: 'send', message: { input: { input: 'hi' } } },
	});
	sandbox.faults.clear();
	const { threadId: waitingThreadId } = await threadThat('T waits', INTERRUPTING_INPUT);
	const { id: fileContextId, storageFileId } = await call('/contexts/file', form);
	const { id: filledKnowledgebaseId } = await call('/knowledges', { name: 'Filled' });
	const { id: documentId } = await call(`/knowledges/${filledKnowledgebaseId}/bulk`, [
		{ name: 'guide.md' },
	]);
	sandbox.requests.clear();
	return {
		knowledgebaseId: String(knowledgebaseId),
		threadId: String(threadId),
		ranThreadId,
		conversationId,
		answerId: String(
			sandbox.store.messages.find(
				(one) => one.conversationId === conversationId && one.role === 'ai',
			)?.id,
		),
		ranRunId: String(sandbox.store.runs.find((one) => one.threadId === ranThreadId)?.id),
		waitingRunId: String(sandbox.store.runs.find((one) => one.threadId === waitingThreadId)?.id),
		busyThreadId: String(busy.threadId),
		busyRunId: String(busyRunId),
		waitingThreadId,
		storageFileId: String(storageFileId),
		fileContextId: String(fileContextId),
		filledKnowledgebaseId: String(filledKnowledgebaseId),
		documentId: String(documentId),
	};
}
