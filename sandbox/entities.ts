import type { Loose } from './values';

/** Whose data it is: the sandbox has one tenant, one organization and, unless tokens say otherwise, one user. */
export const OWNER = {
	tenantId: 'a0000000-0000-4000-8000-000000000001',
	organizationId: 'a0000000-0000-4000-8000-000000000002',
	userId: 'a0000000-0000-4000-8000-000000000003',
} as const;

export const OWNED = {
	tenantId: OWNER.tenantId,
	organizationId: OWNER.organizationId,
	createdById: OWNER.userId,
	updatedById: OWNER.userId,
} as const;

interface Row {
	id: string;
	createdAt: string;
	updatedAt: string;
}

export type Knowledgebase = Loose & Row & { name: unknown; documentNum: number | null };

export type StoredDocument = Loose &
	Row & { knowledgebaseId: string; name: unknown; version: number };

export interface Conversation extends Row {
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
	/** Null for one that was given its own id when made, and nobody: no search finds it (`conversation-by-id`). */
	createdById: string | null;
}

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
	calls?: ToolCall[];
	answers?: ToolCall;
	usage?: Loose;
}

export const textIn = ({ content }: Pick<Message, 'content'>): string =>
	typeof content === 'string' ? content : content.map(({ text }) => String(text ?? '')).join('');

/** A file as an assistant sees it that opens it: its text, or why it has none. */
export type OpenedFile = { name: string } & ({ text: string } | { reason: string });

/**
 * What a person says: the text, what the model is told of the files beside it, and what it reads in them when it
 * opens them.
 */
export interface Said {
	text: string;
	attachments: string;
	files: OpenedFile[];
	/** Why one of the files cannot be told of: the run fails then. */
	unreadable?: string;
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
	/** Whether nothing of it is stored yet: E15 fails until the first step of its first run is. */
	isNew?: boolean;
	createdAt?: string;
	updatedAt?: string;
	error?: string | null;
	interrupt?: Interrupt | null;
	/** Whether the last to happen was that a person rejected a call; its assistant hears of it with the next question. */
	hasRejected?: boolean;
	/** What runs at once on this thread have overwritten of each other; no endpoint shows it. */
	lost?: Message[];
}

export interface Task {
	id: string;
	call: ToolCall;
	title: string;
	description: string;
	/** Whether it is the call of an interface, and not of a helper. */
	isTool: boolean;
}

/** What a run has stopped for: a person is to decide whether what it calls may be carried out. */
export interface Interrupt {
	run: RunRecord;
	tasks: Task[];
	/** Whether arguments were changed: nothing is told of the calls any more, and they wait once more. */
	changed: boolean;
	rounds: number;
	said: Said;
}

/** The tokens a run has used: of all answers of its model together, and of the last one where it counts them. */
export interface Used {
	total: number;
	input: number;
	output: number;
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
export interface ChatMessage extends Row {
	conversationId: string;
	role: unknown;
	content: unknown;
	attachments: unknown[];
	status: unknown;
	error: unknown;
	executionId: string | null;
	/** The question it answers; searches know it, and no answer shows it. */
	parentId: string | null;
	/** What its sender calls it; no answer shows it. */
	clientMessageId?: unknown;
}

export interface Feedback extends Row {
	conversationId: string;
	messageId: string;
	rating: unknown;
	content: unknown;
}

/** An uploaded file (`E16`, `E12`) without its bytes. */
export type StoredFile = Loose & { id: string; originalName: string; size: number; url: string };

/** A file context (`E12`), found again by the id of its file (`E14`). */
export type FileContext = Loose & { id: string; storageFileId: string };

export interface StoreItem {
	prefix: string;
	key: string;
	value: unknown;
	namespace: string[];
	createdAt: string;
	updatedAt: string;
}

/** The columns of a knowledgebase with what the server puts where nothing is sent (`E01` "minimal"). */
export const KNOWLEDGEBASE_DEFAULTS: Loose = {
	workspaceId: null,
	type: null,
	structure: null,
	description: null,
	documentNum: null,
	permission: 'private',
	status: 'ready',
	recall: { topK: 10 },
	metadataSchema: [],
	copilotModelId: null,
	pendingCopilotModelId: null,
	embeddingCollectionName: null,
	embeddingRebuildError: null,
	incrementalSyncEnabled: false,
};

/** The columns of a document that are null unless sent (`E03` "empty doc"). */
export const DOCUMENT_COLUMNS = [
	...(['disabled', 'sourceType', 'sourceConfig', 'contentHash', 'type', 'name'] as const),
	...(['storageFileId', 'thumbnail', 'parserId', 'filePath', 'fileUrl', 'size'] as const),
	...(['mimeType', 'tokenNum', 'chunkNum', 'progress', 'processMsg', 'status'] as const),
	...(['processBeginAt', 'processDuation', 'processDuration', 'jobId', 'options'] as const),
	...(['metadata', 'draft', 'integrationId'] as const),
];

export const CONVERSATION_COLUMNS = [
	...(['title', 'status', 'from', 'fromEndUserId', 'options'] as const),
	...(['error', 'operation', 'xpertId', 'projectId', 'taskId'] as const),
];
