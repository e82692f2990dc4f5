import type { Said } from './assistant';
import type { OpenedFile } from './runFiles';
import type { Used } from './tokens';
import type { Loose } from './values';

/** Whose data it is: the sandbox has one tenant, one organization and, unless tokens say otherwise, one user. */
export const OWNER = {
	tenantId: 'a0000000-0000-4000-8000-000000000001',
	organizationId: 'a0000000-0000-4000-8000-000000000002',
	userId: 'a0000000-0000-4000-8000-000000000003',
} as const;

/** The columns that say whose a row is and who wrote it. */
export const OWNED = {
	tenantId: OWNER.tenantId,
	organizationId: OWNER.organizationId,
	createdById: OWNER.userId,
	updatedById: OWNER.userId,
} as const;

/** The same as the relations that answers add to a row. */
export const TENANCY = {
	tenant: { id: OWNER.tenantId },
	organization: { id: OWNER.organizationId },
} as const;
export const AUTHORS = {
	createdBy: { id: OWNER.userId },
	updatedBy: { id: OWNER.userId },
} as const;

/** A stored knowledgebase; every column of the server's table is there. */
export type Knowledgebase = Loose & {
	id: string;
	name: unknown;
	documentNum: number | null;
	createdAt: string;
	updatedAt: string;
};

/** A page or a chunk of a document. */
export type Passage = Loose & { id: string; pageContent?: unknown; metadata?: unknown };

/** A stored document; every column of the server's table is there, pages and chunks only when sent. */
export type StoredDocument = Loose & {
	id: string;
	knowledgebaseId: string;
	name: unknown;
	version: number;
	createdAt: string;
	updatedAt: string;
	pages?: Passage[];
	chunks?: Passage[];
};

/** A stored conversation as E5 and E13 show it, and whose it is. */
export type Conversation = {
	id: string;
	threadId: string;
	title: unknown;
	status: unknown;
	from: unknown;
	fromEndUserId: unknown;
	options: unknown;
	error: unknown;
	operation: unknown;
	xpertId: string | null;
	projectId: unknown;
	taskId: unknown;
	createdAt: string;
	updatedAt: string;
	/**
	 * Null for one that was given its own id when made: nobody finds it (`searchable` "is not found by search"); the
	 * assistant's id for one that was made for it.
	 */
	createdById: string | null;
};

/** A call of a tool that an assistant makes. */
export interface ToolCall {
	name: string;
	args: Loose;
	id: string;
	type: 'tool_call';
}

/** One message of a thread. Whose it is only the sandbox knows: E15 shows neither type nor role. */
export interface Message {
	id: string;
	from: 'person' | 'assistant' | 'tool';
	/** Text, or parts where a file came with it. */
	content: string | Loose[];
	/** What an assistant thought before. */
	reasoning?: string;
	/** What an assistant calls. */
	calls?: ToolCall[];
	/** The call a tool answers. */
	answers?: ToolCall;
	/** How a look into a knowledgebase ended; helpers say nothing of it. */
	status?: 'success';
	/** What its model has counted. */
	usage?: Loose;
}

/** What a conversation's runs have left behind; there is none before the first run. */
export interface Thread {
	threadId: string;
	assistantId: string;
	status: 'busy' | 'idle' | 'interrupted' | 'error';
	/** Those of the steps that have ended; a run adds its own step by step. */
	messages: Message[];
	/** The messages before the run that answered last, from which it is tried again. */
	before?: Message[];
	/** What a person said last, what the model was told of the files beside it, and what it read in them. */
	input?: string | null;
	attachments?: string;
	opened?: OpenedFile[];
	/** The same with whatever else its sender added: a mark of their own, say. */
	human?: Loose;
	/** The values of its assistant's variables, which stay until a question brings others. */
	state?: Loose;
	/** What a workflow has found before its assistant was asked; null where that failed. */
	found?: string | null;
	/** When that was said; the graph's state keeps it. */
	askedAt?: string;
	/** Whether nothing of it is stored yet: E15 fails until the first step of its first run is. */
	isNew?: boolean;
	createdAt?: string;
	updatedAt?: string;
	/** Why the last run failed. */
	error?: string | null;
	/** What the thread waits for while it is interrupted. */
	interrupt?: Interrupt | null;
	/** Whether the assistant is next: it has been asked, or its tools have answered. */
	isNext?: boolean;
	/** Whether the last to happen was that a person rejected a call; its assistant hears of it with the next question. */
	hasRejected?: boolean;
	/** What was said to a run while it went on, and was not heard. */
	followUps?: Loose[];
	/** What runs at once on this thread have overwritten of each other; no endpoint shows it. */
	lost?: Message[];
}

/** A call that waits for a person to decide. */
export interface Task {
	id: string;
	call: ToolCall;
	/** What is to be decided. */
	title: string;
	description: string;
	/** Whether it is the call of an interface, and not of a helper. */
	isTool: boolean;
}

/** What a run has stopped for: a person is to decide whether what it calls may be carried out. */
export interface Interrupt {
	/** The run that waits. */
	run: RunRecord;
	tasks: Task[];
	/** Whether arguments were changed: nothing is told of the calls any more, and they wait once more. */
	changed: boolean;
	/** How often the run had called tools, this included. */
	rounds: number;
	/** What the run was asked. */
	said: Said;
}

/** A run as it was ordered and as it ended; one for each that began, and for each that was refused. */
export interface RunRecord {
	id: string;
	threadId: string;
	/** Null for one that never truly began. */
	assistantId: string | null;
	/** What was said to the assistant; undefined for one that only answered a decision. */
	text?: string;
	startedAt: number;
	/** When it last ended or began to wait. */
	endedAt?: number;
	updatedAt: number;
	status: 'running' | 'success' | 'interrupted' | 'error';
	used: Used;
	/** What it was asked, with all that was said before: it is tried again from there. */
	asked?: Asked;
}

/** What a run was asked, and where the thread stood then. */
export interface Asked {
	base: Message[];
	text: string;
	attachments: string;
	opened: OpenedFile[];
	human?: Loose;
	state?: Loose;
}

/** A message of a conversation as its own route shows it, with failed answers and those that were cancelled. */
export interface ChatMessage {
	id: string;
	conversationId: string;
	role: unknown;
	content: unknown;
	reasoning: unknown;
	references: unknown;
	taskSummary: Loose;
	attachments: unknown[];
	fileAssets: unknown[];
	status: unknown;
	error: unknown;
	/** The run that it belongs to; null for a question. */
	executionId: string | null;
	/** The question it answers; searches know it, and no answer shows it. */
	parentId: string | null;
	/** What its sender calls it; no answer shows it. */
	clientMessageId?: unknown;
	createdAt: string;
	updatedAt: string;
}

/** What somebody said of a message. */
export interface Feedback {
	id: string;
	conversationId: string;
	messageId: string;
	rating: unknown;
	content: unknown;
	createdAt: string;
	updatedAt: string;
}

/** An uploaded file (`E16`, `E12`) without its bytes. */
export type StoredFile = Loose & { id: string; originalName: string; size: number; url: string };

/** A file context (`E12`), found again by the id of its file (`E14`). */
export type FileContext = Loose & { id: string; storageFileId: string };

/** One entry of the store (`E8`). */
export interface StoreItem {
	prefix: string;
	key: string;
	value: unknown;
	namespace: string[];
	createdById: string;
	createdAt: string;
	updatedAt: string;
}

/** The columns of a knowledgebase with what the server puts where nothing is sent (`E01` "minimal"). */
export const KNOWLEDGEBASE_DEFAULTS: Loose = {
	workspaceId: null,
	publishAt: null,
	type: null,
	structure: null,
	language: null,
	avatar: null,
	description: null,
	permission: 'private',
	copilotModelId: null,
	chatModelId: null,
	embeddingCollectionName: null,
	embeddingModelFingerprint: null,
	embeddingDimensions: null,
	embeddingRevision: null,
	pendingCopilotModelId: null,
	pendingEmbeddingCollectionName: null,
	pendingEmbeddingModelFingerprint: null,
	pendingEmbeddingDimensions: null,
	pendingEmbeddingRevision: null,
	rebuildTaskId: null,
	embeddingRebuildError: null,
	graphRag: null,
	graphStatus: 'disabled',
	graphRevision: 0,
	graphIndexError: null,
	rerankModelId: null,
	visionModelId: null,
	documentNum: null,
	tokenNum: null,
	chunkNum: null,
	similarityThreshold: null,
	vectorSimilarityWeight: null,
	recall: { topK: 10 },
	parserId: null,
	parserConfig: null,
	status: 'ready',
	apiEnabled: true,
	incrementalSyncEnabled: false,
	extKnowledgebaseId: null,
	pipelineId: null,
	integrationId: null,
	deletedAt: null,
	metadataSchema: [],
};

/** The columns of a document that are null unless sent (`E03` "empty doc"). */
export const DOCUMENT_COLUMNS = [
	'disabled',
	'sourceType',
	'sourceConfig',
	'contentHash',
	'type',
	'storageFileId',
	'thumbnail',
	'parserId',
	'name',
	'filePath',
	'fileUrl',
	'size',
	'mimeType',
	'tokenNum',
	'chunkNum',
	'progress',
	'processMsg',
	'processBeginAt',
	'processDuation',
	'processDuration',
	'status',
	'jobId',
	'options',
	'metadata',
	'draft',
	'integrationId',
] as const;

/** The columns of a page or chunk that are null unless sent. */
export const PASSAGE_DEFAULTS: Loose = {
	createdById: null,
	updatedById: null,
	tenantId: null,
	organizationId: null,
	knowledgebaseId: null,
	metadata: null,
	status: null,
};

/** The columns of a conversation that are null unless sent. */
export const CONVERSATION_COLUMNS = [
	'title',
	'status',
	'from',
	'fromEndUserId',
	'options',
	'error',
	'operation',
	'xpertId',
	'projectId',
	'taskId',
] as const;
