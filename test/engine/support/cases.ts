import { isFunction } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { ECHO_ASSISTANT_ID, SANDBOX_ASSISTANT_ID, routeName } from '../../../sandbox';
import { checkCase } from './caseChecks';
import { byId } from './locators';
import { ID, type World } from './records';

/** How an operation is called, and what must arrive at the server. Resource and operation are added to its parameters. */
export interface Case {
	/** The resource and the operation. */
	calls: `${string}: ${string}`;
	/** Parameters of a good call. */
	good: (world: World) => INodeParameters;
	/** Method and path, `{name}` being a record, and the body, which may hold records too. */
	sends: `${string} /${string}`;
	body?: unknown;
	/** Parameters that must be refused before anything is sent, and the words of the message. */
	bad: (world: World) => INodeParameters;
	refusal: RegExp;
	/** What a server without fault answers: what was recorded of it, no more than it is held to. */
	answer: unknown;
	/** What a server without fault answers to what is looked at first. */
	looked?: unknown;
}

/** A case as the tests use it: with whole parameters, and the name of its route. */
export interface OperationCase extends Case {
	/** As the sandbox calls the route; the title of the operation where the sandbox has none for it. */
	endpoint: string;
	request: (world: World) => { method: string; path: string; body?: unknown };
}

const missingId = '={{ "" }}';

const isEmpty = (field: string) =>
	new RegExp(`"${field}" is empty: its expression gave nothing for this item$`);

/** What is refused without its one parameter. */
const without = (parameter: string, field: string): Pick<Case, 'bad' | 'refusal'> => ({
	bad: () => ({ [parameter]: missingId }),
	refusal: isEmpty(field),
});

/** The one parameter of an operation, and the record that it names. */
const of =
	(parameter: string, record = parameter as keyof World) =>
	(world: World): INodeParameters => ({ [parameter]: byId(world[record]) });

/** What a server tells of a run. */
function recordedRun(status: string, assistantId: string | null) {
	return {
		run_id: ID,
		thread_id: ID,
		assistant_id: assistantId,
		status,
		created_at: '2025-08-01T08:00:00.000Z',
		updated_at: '2025-08-01T08:00:00.000Z',
	};
}

const oneDocument = ({ filledKnowledgebaseId, documentId }: World): INodeParameters => ({
	knowledgebaseId: byId(filledKnowledgebaseId),
	documentIds: documentId,
});

const ofRun = (threadId: string, runId: string): INodeParameters => ({
	threadId: byId(threadId),
	runId,
});

const saying = (threadId: string, message = 'hello there'): INodeParameters => ({
	threadSource: 'existing',
	threadId: byId(threadId),
	message,
	assistantId: byId(ECHO_ASSISTANT_ID),
});

/** By the one route of the contract (E4). */
const IN_ONE_REQUEST = { tuning: { inOneRequest: true } };

/** What says so to the assistant. */
const HELLO = {
	assistant_id: ECHO_ASSISTANT_ID,
	input: { action: 'send', message: { input: { input: 'hello there' } } },
};

/** Made anew each time, as tests put other values in. */
const allManuals = () => ({
	description: 'All manuals',
	permission: 'organization',
	type: 'standard',
	recall: { topK: 7, score: 0.4 },
	parserConfig: { chunkSize: 500, chunkOverlap: 50, delimiter: '; , .' },
	extKnowledgebaseId: 'ext-1',
});

const NO_DOCUMENTS = {
	bad: (world: World) => ({ ...oneDocument(world), documentIds: '={{ " , " }}' }),
	refusal: /"Document IDs" must not be empty, but is (\[\]|" , ")$/,
	answer: [{ id: ID, status: 'waiting' }],
};

/** Every operation of the node; the one that deletes what others need comes last. */
const CASES: Case[] = [
	{
		calls: 'document: process',
		good: oneDocument,
		sends: 'POST /knowledges/{filledKnowledgebaseId}/process',
		body: ({ documentId }: World) => [documentId],
		...NO_DOCUMENTS,
	},
	{
		calls: 'document: getStatus',
		good: oneDocument,
		sends: 'GET /knowledges/{filledKnowledgebaseId}/status?ids={documentId}',
		...NO_DOCUMENTS,
	},
	{
		calls: 'knowledgebase: create',
		good: () => ({ name: 'Manuals', additionalFields: allManuals() }),
		sends: 'POST /knowledges',
		body: { name: 'Manuals', ...allManuals() },
		bad: () => ({ name: 'Manuals', additionalFields: { recall: { topK: 2.5 } } }),
		refusal: /"Top K" in "Recall" must be a whole number, but is 2\.5$/,
		answer: { id: ID },
	},
	{
		calls: 'knowledgebase: update',
		good: ({ knowledgebaseId }) => ({
			knowledgebaseId: byId(knowledgebaseId),
			updateFields: { permission: 'public' },
			clearFields: ['description'],
		}),
		sends: 'PUT /knowledges/{knowledgebaseId}',
		body: { permission: 'public', description: null },
		bad: ({ knowledgebaseId }) => ({
			knowledgebaseId: byId(knowledgebaseId),
			updateFields: { workspaceId: 'not-a-uuid' },
		}),
		refusal: /"Workspace ID" must be a UUID such as .*, but is "not-a-uuid"$/,
		answer: { id: ID },
	},
	{
		calls: 'knowledgebase: get',
		good: of('knowledgebaseId'),
		sends: 'PUT /knowledges/{knowledgebaseId}',
		body: {},
		...without('knowledgebaseId', 'Knowledgebase'),
		answer: { id: ID },
	},
	{
		calls: 'document: submit',
		good: ({ knowledgebaseId }) => ({
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
					pages: '[{"pageContent":"Page one","metadata":{"page":1}}]',
					chunks: '[{"pageContent":"Chunk","parent":{"id":"c0"}}]',
				},
				schema: [],
			},
		}),
		sends: 'POST /knowledges/{knowledgebaseId}/bulk',
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
		bad: ({ knowledgebaseId }) => ({
			options: { afterStoring: 'nothing' },
			knowledgebaseId: byId(knowledgebaseId),
			source: 'json',
			jsonBody: JSON.stringify([{ name: 'a', createdAt: 'yesterday' }]),
		}),
		refusal: /"JSON Body" at createdAt must be an ISO 8601 date-time .*"yesterday"/,
		answer: [{ id: ID }],
	},
	{
		calls: 'document: findChanges',
		good: ({ knowledgebaseId }) => ({
			knowledgebaseId: byId(knowledgebaseId),
			sourceName: 'drive',
			documentKey: 'a',
			documentVersion: '1',
		}),
		sends: 'GET /knowledges/{knowledgebaseId}/status',
		bad: ({ knowledgebaseId }) => ({
			knowledgebaseId: byId(knowledgebaseId),
			sourceName: 'drive',
			documentKey: missingId,
		}),
		refusal: isEmpty('Document Key'),
		answer: [],
	},
	...(['disable', 'enable'] as const).map(
		(operation): Case => ({
			calls: `document: ${operation}`,
			good: (world) => ({ ...oneDocument(world), documentsBy: 'id' }),
			sends: 'POST /knowledges/{filledKnowledgebaseId}/bulk',
			body: ({ documentId }: World) => [{ id: documentId, disabled: operation === 'disable' }],
			bad: ({ filledKnowledgebaseId }) => ({
				knowledgebaseId: byId(filledKnowledgebaseId),
				documentKey: missingId,
			}),
			refusal: isEmpty('Document Key'),
			answer: [{ id: ID }],
		}),
	),
	{
		calls: 'thread: run',
		good: ({ threadId }) => ({ ...saying(threadId), ...IN_ONE_REQUEST }),
		sends: 'POST /threads/{threadId}/runs/wait',
		body: HELLO,
		bad: ({ threadId }) => saying(threadId, missingId),
		refusal: isEmpty('Message'),
		answer: { role: 'ai', content: 'the answer' },
	},
	{
		calls: 'thread: decide',
		good: ({ waitingThreadId }) => ({
			threadId: byId(waitingThreadId),
			decision: 'confirm',
			...IN_ONE_REQUEST,
		}),
		sends: 'POST /threads/{waitingThreadId}/runs/wait',
		body: {
			assistant_id: ECHO_ASSISTANT_ID,
			input: { action: 'resume', decision: { type: 'confirm' }, target: {} },
		},
		bad: ({ waitingThreadId }) => ({
			threadId: byId(waitingThreadId),
			decision: '={{ "perhaps" }}',
		}),
		refusal: /"Decision" must be one of confirm, reject, but is "perhaps"$/,
		answer: { role: 'ai', content: 'the answer' },
	},
	{
		calls: 'thread: retry',
		good: ({ ranThreadId }) => ({ threadId: byId(ranThreadId), ...IN_ONE_REQUEST }),
		sends: 'POST /threads/{ranThreadId}/runs/wait',
		body: { assistant_id: ECHO_ASSISTANT_ID, input: { action: 'retry', source: {} } },
		...without('threadId', 'Thread'),
		answer: { role: 'ai', content: 'the answer' },
	},
	{
		calls: 'thread: start',
		good: ({ threadId }) => saying(threadId),
		sends: 'POST /threads/{threadId}/runs',
		body: HELLO,
		bad: ({ threadId }) => saying(threadId, missingId),
		refusal: isEmpty('Message'),
		answer: recordedRun('running', null),
	},
	{
		calls: 'thread: getRun',
		good: ({ ranThreadId, ranRunId }) => ofRun(ranThreadId, ranRunId),
		sends: 'GET /threads/{ranThreadId}/runs/{ranRunId}',
		bad: ({ ranThreadId }) => ofRun(ranThreadId, 'abc'),
		refusal: /"Run ID" must be a UUID such as .*, but is "abc"$/,
		answer: recordedRun('running', ID),
	},
	{
		calls: 'thread: waitForRun',
		good: ({ ranThreadId, ranRunId }) => ({
			...ofRun(ranThreadId, ranRunId),
			options: { deadlineMinutes: 0.1 },
		}),
		sends: 'GET /threads/{ranThreadId}/runs/{ranRunId}',
		bad: ({ ranThreadId }) => ofRun(ranThreadId, missingId),
		refusal: isEmpty('Run ID'),
		answer: recordedRun('success', ID),
	},
	{
		calls: 'thread: cancelRun',
		good: ({ busyThreadId, busyRunId }) => ofRun(busyThreadId, busyRunId),
		sends: 'POST /threads/{busyThreadId}/runs/{busyRunId}/cancel',
		bad: ({ busyRunId }) => ({ ...ofRun(ID, busyRunId), threadId: missingId }),
		refusal: isEmpty('Thread'),
		answer: { canceledExecutionIds: [ID] },
		looked: recordedRun('running', ID),
	},
	{
		calls: 'conversation: search',
		good: () => ({
			limit: 2,
			filters: {
				search: 'T',
				order: { values: { column: 'updatedAt', direction: 'ASC' } },
			},
		}),
		sends: 'POST /conversations/search',
		body: { search: 'T', order: { updatedAt: 'ASC' }, limit: 2, offset: 0 },
		bad: () => ({ filters: { threadId: '={{ ".." }}' } }),
		refusal: /"Thread ID" must be an ID, but is "\.\."$/,
		answer: { items: [{ id: ID }], total: 1 },
	},
	{
		calls: 'conversation: get',
		good: of('conversationId'),
		sends: 'GET /conversations/{conversationId}',
		...without('conversationId', 'Conversation'),
		answer: { id: ID, threadId: 't', title: 'T', status: 'idle' },
		looked: { id: ID, threadId: 't', title: 'T', status: 'idle' },
	},
	{
		calls: 'conversation: getMessages',
		good: ({ conversationId }) => ({
			conversationId: byId(conversationId),
			limit: 10,
			options: { role: 'ai' },
		}),
		sends: 'POST /conversations/{conversationId}/messages/search',
		body: { where: { role: 'ai' }, order: { createdAt: 'ASC' }, limit: 10, offset: 0 },
		bad: ({ conversationId }) => ({
			conversationId: byId(conversationId),
			options: { role: '={{ "robot" }}' },
		}),
		refusal: /"From" in "Options" must be one of human, ai, but is "robot"$/,
		answer: { items: [{ id: ID, role: 'ai', content: 'hello', status: 'success' }], total: 1 },
	},
	{
		calls: 'conversation: update',
		good: ({ conversationId }) => ({ conversationId: byId(conversationId), title: 'Question' }),
		sends: 'PATCH /conversations/{conversationId}',
		body: { title: 'Question' },
		bad: ({ conversationId }) => ({ conversationId: byId(conversationId), title: missingId }),
		refusal: isEmpty('Title'),
		answer: { id: ID, threadId: 't', title: 'Question' },
		looked: { id: ID, status: 'idle' },
	},
	{
		calls: 'conversation: rate',
		good: ({ conversationId }) => ({
			conversationId: byId(conversationId),
			rating: 'dislike',
			additionalFields: { content: 'Too long' },
		}),
		sends: 'POST /conversations/{conversationId}/messages/{answerId}/feedbacks',
		body: { rating: 'dislike', content: 'Too long' },
		bad: ({ conversationId }) => ({
			conversationId: byId(conversationId),
			rating: '={{ "LIKE" }}',
		}),
		refusal: /"Rating" must be one of like, dislike, but is "LIKE"$/,
		answer: { id: ID, messageId: ID, rating: 'dislike' },
		looked: { items: [{ id: ID, role: 'ai' }], total: 1 },
	},
	{
		calls: 'assistant: get',
		good: () => ({ assistantId: byId(ECHO_ASSISTANT_ID) }),
		sends: 'GET /assistants/{assistantId}',
		...without('assistantId', 'Assistant'),
		answer: { assistant_id: ECHO_ASSISTANT_ID, name: 'Echo' },
	},
	{
		calls: 'chatSession: create',
		good: () => ({
			assistantId: byId(SANDBOX_ASSISTANT_ID),
			additionalFields: { expires_after: 60, user: 'customer-42' },
		}),
		sends: 'POST /v1/chatkit/sessions',
		body: { assistant: { id: SANDBOX_ASSISTANT_ID }, expires_after: 60, user: 'customer-42' },
		bad: () => ({ additionalFields: { expires_after: 1.5 } }),
		refusal: /"Expires After \(Seconds\)" must be a whole number, but is 1\.5$/,
		answer: { client_secret: 'session-secret', expires_at: 1, expires_after: 60 },
	},
	{
		calls: 'assistant: search',
		good: () => ({ limit: 5, filters: { slug: 'echo' } }),
		sends: 'POST /assistants/search',
		body: { metadata: { slug: 'echo' }, limit: 5, offset: 0 },
		bad: () => ({ limit: '={{ "many" }}' }),
		refusal: /"Limit" must be a number, but is "many"$/,
		answer: [{ assistant_id: ID }],
	},
	{
		calls: 'store: searchItems',
		good: () => ({
			namespace_prefix: `${SANDBOX_ASSISTANT_ID}/users`,
			limit: 10,
			filters: { query: 'colour' },
		}),
		sends: 'POST /store/items/search',
		body: {
			namespace_prefix: [SANDBOX_ASSISTANT_ID, 'users'],
			query: 'colour',
			limit: 10,
			offset: 0,
		},
		bad: () => ({ namespace_prefix: 'memories', filters: { query: '={{ [1] }}' } }),
		refusal: /"Query" must be text, but is \[1\]$/,
		answer: { items: [{ namespace: ['a'], key: 'k', value: {} }] },
	},
	{
		calls: 'assistant: count',
		good: () => ({ filters: { slug: 'echo' } }),
		sends: 'POST /assistants/count',
		body: { metadata: { slug: 'echo' } },
		bad: () => ({ options: { additionalFieldsJson: '={{ "{a" }}' } }),
		refusal: /"Additional Fields \(JSON\)" must be JSON \(.*\), but is "\{a"$/,
		answer: 7,
	},
	{
		calls: 'thread: copy',
		good: of('threadId'),
		sends: 'POST /threads/{threadId}/copy',
		body: {},
		bad: () => ({ threadId: '={{ "  " }}' }),
		refusal: /"Thread" is empty: its expression gave only blanks for this item$/,
		answer: { thread_id: 't' },
	},
	{
		calls: 'store: createNamespace',
		good: () => ({
			prefix: SANDBOX_ASSISTANT_ID,
			additionalFields: { max_depth: 2, limit: 5 },
		}),
		sends: 'POST /store/namespaces',
		body: { prefix: [SANDBOX_ASSISTANT_ID], max_depth: 2, limit: 5 },
		bad: () => ({ additionalFields: { max_depth: '={{ "deep" }}' } }),
		refusal: /"Max Depth" must be a number, but is "deep"$/,
		answer: { namespaces: [['a']] },
	},
	{
		calls: 'fileContext: create',
		good: () => ({
			additionalFields: { parseMode: 'fast', purpose: 'chat_attachment', workspacePath: 'a/b' },
		}),
		sends: 'POST /contexts/file',
		bad: () => ({ binaryPropertyName: 'attachment' }),
		refusal: /"Input Binary Field" names "attachment", but the item has only data$/,
		answer: { id: ID, storageFileId: ID },
	},
	{
		calls: 'conversation: create',
		good: () => ({
			title: 'Question',
			additionalFields: { threadId: 'thread-of-mine' },
		}),
		sends: 'POST /conversations',
		body: { title: 'Question', threadId: 'thread-of-mine' },
		bad: () => ({ title: '={{ [5] }}' }),
		refusal: /"Title" must be text, but is \[5\]$/,
		answer: { id: ID, threadId: 't' },
	},
	{
		calls: 'fileContext: delete',
		good: of('fileId', 'storageFileId'),
		sends: 'DELETE /contexts/file/{storageFileId}',
		...without('fileId', 'File'),
		answer: { originalName: 'hello.txt' },
	},
	{
		calls: 'thread: get',
		good: of('threadId', 'ranThreadId'),
		sends: 'GET /threads/{ranThreadId}',
		bad: () => ({ threadId: '={{ ".." }}' }),
		refusal: /"Thread" must be an ID, but is "\.\."$/,
		answer: { thread_id: ID, status: 'idle', values: { messages: [] } },
	},
	{
		calls: 'file: create',
		good: () => ({
			additionalFields: { target: '{"kind":"storage","directory":"manuals","prefix":"m"}' },
		}),
		sends: 'POST /v1/file',
		bad: () => ({ additionalFields: { target: '={{ "storage" }}' } }),
		refusal: /"Target" must be JSON \(.*\), but is "storage"$/,
		answer: { id: ID, url: 'https://files.example/hello.txt' },
	},
	{
		calls: 'knowledgebase: delete',
		good: of('knowledgebaseId'),
		sends: 'DELETE /v1/kb/{knowledgebaseId}',
		...without('knowledgebaseId', 'Knowledgebase'),
		answer: { raw: [], affected: 1 },
	},
	// Others use the conversation before.
	{
		calls: 'conversation: delete',
		good: of('conversationId', 'unusedConversationId'),
		sends: 'DELETE /conversations/{unusedConversationId}',
		...without('conversationId', 'Conversation'),
		answer: undefined,
		looked: { id: ID, status: 'idle' },
	},
];

export const ALL_CASES: OperationCase[] = CASES.map((one) => {
	checkCase(one);
	const { calls, sends, body, good, bad } = one;
	const [resource, operation] = calls.split(': ');
	const [method = '', path = ''] = sends.split(' ');
	return {
		...one,
		endpoint: routeName(method, path) ?? calls,
		good: (world) => ({ resource, operation, ...good(world) }),
		request: (world) => ({
			method,
			path: `/api/ai${path.replace(/\{(\w+)\}/g, (_, name: keyof World) => world[name])}`,
			body: isFunction(body) ? (body(world) as unknown) : body,
		}),
		bad: (world) => ({ resource, operation, ...bad(world) }),
	};
});
