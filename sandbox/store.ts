import { randomUUID } from 'node:crypto';
import { defaults, isUndefined, mapValues, omitBy, pick, remove } from 'lodash';
import { timestamp, type Clock } from './clock';
import { Contents, type Content } from './contents';
import {
	CONVERSATION_COLUMNS,
	DOCUMENT_COLUMNS,
	KNOWLEDGEBASE_DEFAULTS,
	OWNED,
	OWNER,
	type ChatMessage,
	type Conversation,
	type Feedback,
	type FileContext,
	type Knowledgebase,
	type RunRecord,
	type StoreItem,
	type StoredDocument,
	type StoredFile,
	type Thread,
} from './entities';
import type { Processing } from './processing/stages';
import { PassageIndex, type FindableDocument } from './search';
import type { Speech } from './speech';
import { COPILOT_ID, WORKSPACE_ID, type Assistant, type AssistantSeed } from './seed';
import type { Loose } from './values';

/** Every row starts from this text: rows then share one layout, and take a fraction of the memory. */
const EMPTY_DOCUMENT = JSON.stringify(
	Object.fromEntries(DOCUMENT_COLUMNS.map((column) => [column, null])),
);

/** What is kept of a document without a file when contents are not. */
const BARE = ['id', 'knowledgebaseId', 'name', 'version', 'createdAt', 'updatedAt', 'parentId'];

/** The same of a document with a file: also what processing needs. */
const OF_FILE = [...BARE, 'fileUrl', 'type', 'category', 'parserConfig', 'disabled'];

/** The same of a disabled document: also what it says of its processing, where clients keep notes. */
const OF_DISABLED = [...BARE, 'disabled', 'processMsg'];

function bare(row: StoredDocument): StoredDocument {
	const file = row.fileUrl ? OF_FILE : BARE;
	return pick(row, row.disabled === true ? OF_DISABLED : file) as StoredDocument;
}

/** Everything the sandbox remembers. Tests may read any of it and put rows in with the `put…` functions. */
export class Store {
	readonly knowledgebases = new Map<string, Knowledgebase>();
	readonly documents = new Map<string, StoredDocument>();
	/** Processing asked for, under way or over, by document; storing a changed document forgets it. */
	readonly processing = new Map<string, Processing>();
	readonly conversations = new Map<string, Conversation>();
	readonly threads = new Map<string, Thread>();
	/** Every run that began, in order, and what was said in it, by its id. */
	readonly runs: RunRecord[] = [];
	readonly speeches = new Map<string, Speech>();
	readonly messages: ChatMessage[] = [];
	readonly feedbacks: Feedback[] = [];
	readonly files = new Map<string, StoredFile>();
	/** The bytes of uploaded files by their path, as it stands in their `file`. */
	readonly contents: Contents;
	private readonly processed = new Map<string, FindableDocument>();
	/** File contexts by the id of their file, the only id E14 takes. */
	readonly contexts = new Map<string, FileContext>();
	readonly items: StoreItem[] = [];
	readonly assistants = new Map<string, Assistant>();
	readonly workspaces = new Set<string>([WORKSPACE_ID]);
	readonly copilots = new Set<string>([COPILOT_ID]);
	/** The embedding models made with knowledgebases, by `copilotModelId`. */
	readonly copilotModels = new Map<string, Loose>();
	/** Why embedding models fail from now on, until they work again. */
	embeddingError: string | null = null;
	readonly index = new PassageIndex();
	private readonly firsts = new Map<string, string>();
	private readonly documentIds = new Map<string, Set<string>>();

	/** Without contents a document's row holds hardly more than its id, name and version. */
	constructor(
		private readonly clock: Clock,
		private readonly keepContents = true,
	) {
		this.contents = new Contents(keepContents);
	}

	putAssistant(seed: AssistantSeed): Assistant {
		const slug = seed.slug ?? seed.name;
		const assistant: Assistant = {
			id: randomUUID(),
			slug,
			title: seed.name,
			description: null,
			workspaceId: WORKSPACE_ID,
			type: 'agent',
			agentKey: `Agent_${slug}`,
			looksFirst: null,
			stateVariables: null,
			parameters: null,
			counts: null,
			tools: null,
			asks: 'May I answer this?',
			subAgentSays: null,
			answers: 'documents',
			error: null,
			memory: false,
			runMs: null,
			...seed,
			createdAt: timestamp(this.clock),
		};
		this.assistants.set(assistant.id, assistant);
		this.workspaces.add(assistant.workspaceId);
		return assistant;
	}

	/** Adds or replaces a knowledgebase; columns not given get the server's defaults. */
	putKnowledgebase(fields: Loose & { name: unknown }): Knowledgebase {
		const now = timestamp(this.clock);
		const row: Knowledgebase = {
			id: randomUUID(),
			...OWNED,
			documentNum: null,
			createdAt: now,
			updatedAt: now,
			...defaults(omitBy(fields, isUndefined), KNOWLEDGEBASE_DEFAULTS),
			name: fields.name,
		};
		this.knowledgebases.set(row.id, row);
		return row;
	}

	/** Deletes a knowledgebase with its documents; false when there is none. */
	removeKnowledgebase(id: string): boolean {
		for (const documentId of this.documentIds.get(id) ?? []) {
			this.documents.delete(documentId);
			this.processing.delete(documentId);
			if (this.processed.delete(documentId)) this.index.touch(documentId);
		}
		this.documentIds.delete(id);
		return this.knowledgebases.delete(id);
	}

	putDocument(fields: Loose & { knowledgebaseId: string }): StoredDocument {
		const now = timestamp(this.clock);
		const row = Object.assign(
			JSON.parse(EMPTY_DOCUMENT) as StoredDocument,
			{ id: randomUUID(), version: 1, createdAt: now, updatedAt: now },
			fields,
		);
		for (const column of DOCUMENT_COLUMNS) row[column] ??= null;
		const before = this.documents.get(row.id);
		if (before && before.knowledgebaseId !== row.knowledgebaseId) {
			this.documentIds.get(before.knowledgebaseId)?.delete(row.id);
		}
		this.documents.set(row.id, this.keepContents ? row : bare(row));
		this.processing.delete(row.id);
		this.idsIn(row.knowledgebaseId).add(row.id);
		if (this.processed.has(row.id)) this.index.touch(row.id);
		return row;
	}

	putFindable({ id, name, knowledgebaseId }: StoredDocument, chunks: string[]): void {
		const owner = this.knowledgebases.get(knowledgebaseId);
		// The first document of a knowledgebase is embedded: from now on it has vectors of its model.
		if (owner && this.copilotModels.has(String(owner.copilotModelId)))
			owner.embeddingCollectionName ??= knowledgebaseId;
		this.processed.set(id, { id, name: typeof name === 'string' ? name : id, chunks });
		this.index.touch(id);
	}

	/** What assistants find of a document: what its last processing made, unless it is disabled. */
	findable(id: string): FindableDocument | undefined {
		const document = this.documents.get(id);
		return document && document.disabled !== true ? this.processed.get(id) : undefined;
	}

	documentsOf(knowledgebaseId: string): StoredDocument[] {
		const ids = this.documentIds.get(knowledgebaseId) ?? [];
		return [...ids].flatMap((id) => this.documents.get(id) ?? []);
	}

	putConversation(fields: Loose = {}): Conversation {
		const now = timestamp(this.clock);
		const nulls = Object.fromEntries(CONVERSATION_COLUMNS.map((column) => [column, null]));
		const known = pick(fields, [
			'id',
			'threadId',
			'createdById',
			'createdAt',
			'updatedAt',
			...CONVERSATION_COLUMNS,
		]);
		const row = defaults(
			known,
			{ id: randomUUID(), threadId: randomUUID(), from: 'api', createdById: OWNER.userId },
			{ ...nulls, createdAt: now, updatedAt: now },
		) as Conversation;
		this.conversations.set(row.id, row);
		return row;
	}

	/** Deletes a conversation with its thread, and with all that was asked, said and run there. */
	removeConversation({ id, threadId }: Conversation): void {
		this.conversations.delete(id);
		this.threads.delete(threadId);
		for (const { id: runId } of remove(this.runs, (run) => run.threadId === threadId)) {
			this.speeches.delete(runId);
		}
		remove(this.messages, ({ conversationId }) => conversationId === id);
		remove(this.feedbacks, ({ conversationId }) => conversationId === id);
	}

	/** Leaves a thread busy for ever, as a server does that is killed in mid-run; a new run cures it. */
	strandThread(threadId: string, input: string | null = null): Thread {
		const known = this.threads.get(threadId);
		const conversation = this.conversationOf(threadId);
		const { xpertId = null, createdAt } = conversation ?? this.putConversation({ threadId });
		const thread = known ?? this.putThread({ threadId, assistantId: xpertId ?? '', createdAt });
		const updatedAt = timestamp(this.clock);
		Object.assign(thread, { status: 'busy', updatedAt }, input !== null && { input });
		Object.assign(this.conversationOf(threadId) ?? {}, { status: 'busy', updatedAt });
		return thread;
	}

	/** Adds or replaces a thread, e.g. one with a past; it is read and run by a conversation with its id. */
	putThread(fields: Partial<Thread> = {}): Thread {
		const now = timestamp(this.clock);
		const thread: Thread = {
			threadId: randomUUID(),
			assistantId: '',
			status: 'idle',
			messages: [],
			createdAt: now,
			updatedAt: now,
			...fields,
		};
		this.threads.set(thread.threadId, thread);
		return thread;
	}

	/** The conversation of a thread that the database gives first: the newest of several, unless another one was set. */
	conversationOf(threadId: string): Conversation | undefined {
		const all = [...this.conversations.values()].filter((one) => one.threadId === threadId);
		return all.find(({ id }) => this.firsts.get(threadId) === id) ?? all.at(-1);
	}

	/** Of several conversations on its thread the database gives this one first from now on: E15 tells of it, and it runs. */
	comesFirst({ id, threadId }: Conversation): void {
		this.firsts.set(threadId, id);
	}

	putItem(namespace: string[], key: string, value: unknown): StoreItem {
		const now = timestamp(this.clock);
		const item: StoreItem = {
			prefix: namespace.join(':'),
			key,
			value,
			namespace,
			createdAt: now,
			updatedAt: now,
		};
		const place = this.items.findIndex(
			(other) => other.prefix === item.prefix && other.key === key,
		);
		if (place < 0) this.items.push(item);
		else this.items[place] = { ...item, createdAt: this.items[place]?.createdAt ?? now };
		return item;
	}

	/** Adds an uploaded file, with its bytes when it is to be served and processed. */
	putFile(
		fields: Loose & { originalName: string; size: number; url: string },
		content?: Content,
	): StoredFile {
		const now = timestamp(this.clock);
		const row = { id: randomUUID(), createdAt: now, updatedAt: now, ...fields } as StoredFile;
		this.files.set(row.id, row);
		if (content) this.contents.set(String(row.file), content);
		return row;
	}

	removeFile(file: StoredFile): void {
		this.files.delete(file.id);
		this.contents.delete(String(file.file));
	}

	/** Forgets everything but the known workspaces and copilots. */
	clear(): void {
		for (const documentId of this.processed.keys()) this.index.touch(documentId);
		for (const rows of Object.values(this) as unknown[]) {
			if (rows instanceof Map) rows.clear();
			if (Array.isArray(rows)) rows.length = 0;
		}
		this.embeddingError = null;
	}

	/** All that is stored as plain JSON; documents are only counted, there may be very many. */
	snapshot(): Loose {
		const { runs, items, documents } = this;
		const all = pick(this, 'conversations', 'threads', 'files', 'contexts', 'assistants');
		return {
			...mapValues(all, (rows: Map<string, unknown>) => [...rows.values()]),
			runs,
			items,
			documents: documents.size,
			knowledgebases: [...this.knowledgebases.values()].map((row) => ({
				...row,
				storedDocuments: this.documentIds.get(row.id)?.size ?? 0,
			})),
		};
	}

	private idsIn(knowledgebaseId: string): Set<string> {
		const ids = this.documentIds.get(knowledgebaseId) ?? new Set<string>();
		this.documentIds.set(knowledgebaseId, ids);
		return ids;
	}
}
