import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { groupBy, uniqBy } from 'lodash';
import type { FaultRule, Sandbox, SandboxOptions } from '../../../sandbox';
import { OWNER } from '../../../sandbox/entities';
import { sequence, type SequenceExchange } from './recordings';
import { BEFORE_ITS_HELPER, FILTERED, LOOKED_INTO, QUOKKAS, WORKSPACE } from './servers';

type Loose = Record<string, unknown>;
type Arrange = (sandbox: Sandbox, exchanges: SequenceExchange[]) => void;

const MODEL = 'f0000000-0000-4000-8000-000000000001';

const itemsOf = (exchange?: SequenceExchange): Loose[] =>
	((bodyOf(exchange) as { items?: Loose[] } | undefined)?.items ?? []) as Loose[];
const bodyOf = ({ response }: Partial<SequenceExchange> = {}): unknown =>
	response && 'body' in response ? response.body : undefined;

/** How many of the recorded server's conversations have each status, as its totals say (`searchable`). */
const NUMBERS: Array<[status: string | null, label: string]> = [
	['idle', 'search with $gte and status'],
	['error', 'search with $ne'],
	[null, 'search with $isNull'],
];

/** Older than all that a sequence makes, newer than what its lists show first. */
const BETWEEN = '2026-11-21T19:37:00.000Z';

/** The conversations that searches found, and others to make up their numbers. */
const conversationsFound: Arrange = ({ store }, exchanges) => {
	const searches = exchanges.filter(({ label }) => label.startsWith('search with'));
	const listed = uniqBy(searches.flatMap(itemsOf), 'id');
	for (const item of listed) store.putConversation({ ...item });
	for (const [status, label] of NUMBERS) {
		const body = bodyOf(searches.find((one) => one.label === label)) as { total: number };
		const shown = listed.filter((one) => one.status === status).length;
		// One conversation without a run is made by the sequence itself.
		for (let made = shown + (status === null ? 1 : 0); made < body.total; made += 1) {
			store.putConversation({ status, createdAt: BETWEEN, updatedAt: BETWEEN });
		}
	}
};

/** The documents in which something was found, as they were processed before. */
const documentsFound: Arrange = ({ store, url }, [{ recording = '' } = {} as SequenceExchange]) => {
	const messages = sequence(recording)
		.filter(({ endpoint }) => endpoint === 'E15')
		.flatMap((one) => (bodyOf(one) as { values?: { messages: Loose[] } }).values?.messages ?? []);
	const looks = messages.filter(({ name }) => String(name).startsWith('retriever-'));
	const found = looks.flatMap(
		({ content }) => (JSON.parse(String(content)) as { chunks: Loose[] }).chunks,
	);
	for (const [id, chunks] of Object.entries(groupBy(found, 'documentId'))) {
		const { knowledgebaseId, documentName: name, fileUrl: address } = chunks[0] ?? {};
		const fileUrl = String(address).replace('{base_url}', url);
		const row = { id, knowledgebaseId: String(knowledgebaseId), name, fileUrl, category: 'text' };
		const texts = uniqBy(chunks, 'chunkId').map(({ content }) => String(content));
		store.putFindable(store.putDocument(row), texts);
	}
};

/** Files that documents have and whose upload was not recorded, with a text of their length. */
const filesOfDocuments: Arrange = ({ store }, exchanges) => {
	const uploaded = exchanges
		.filter(({ endpoint }) => endpoint === 'E16')
		.map((one) => (bodyOf(one) as Loose).id);
	const sent = exchanges.flatMap(({ request }) =>
		Array.isArray(request?.body) ? request.body : [],
	);
	for (const { storageFileId: id, fileUrl, name, size } of sent as Loose[]) {
		if (typeof id !== 'string' || uploaded.includes(id)) continue;
		const file = String(fileUrl).replace(/^.*\/(?=[^/]*$)/, `files/${OWNER.tenantId}/`);
		const head = Buffer.from(`${String(name)} `.padEnd(Number(size), 'a word '));
		const fields = { id, file, originalName: String(name), url: String(fileUrl) };
		store.putFile({ ...fields, size: head.length }, { size: head.length, head });
	}
};

/** A conversation for each thread that nobody makes. */
const threadsOfPaths: Arrange = ({ store }, exchanges) => {
	for (const { request, sequence: title } of exchanges.filter((one) => one.request)) {
		const [, threadId] = /threads\/([^/]+)/.exec(request.path) ?? [];
		const isMade = exchanges.some(
			(one) => (one.request?.body as Loose | undefined)?.threadId === threadId,
		);
		if (!threadId || isMade || store.conversationOf(threadId)) continue;
		store.putConversation({ threadId, title: title === 'env on the same thread' ? 'env' : title });
	}
};

interface Known {
	id: string;
	name: string;
	file: string;
	text: string;
	metadata?: Loose;
	folder?: string;
	storageFileId?: string;
}

/** What the recorded servers had, in which time they did what, and how their requests went that went otherwise. */
const KNOWN = JSON.parse(readFileSync(join(__dirname, 'known.json'), 'utf8')) as {
	quokka: Known;
	numbat: Known;
	/** Of `old.txt` the recordings have only the name, and that it is of sales. */
	ofDepartments: Known[];
	/** What came into its folder by a recording of its own (`knowledge-filter-2`). */
	inFolder: Known;
	/** A folder of another knowledgebase (`folder-moves` "parent of another knowledgebase"). */
	folderElsewhere: Loose & { knowledgebaseId: string };
	metadataSchema: Loose[];
	/** The texts of files whose content was not recorded: some stand in what was found of them. */
	contents: Record<string, string>;
	copilots: string[];
	/** The options of a server, by its recordings. */
	options: Array<[recording: string, SandboxOptions]>;
	/** How requests went that were late or overtaken: the server was slow, or another one came meanwhile. */
	rules: Array<[recording: string, title: string, ...rules: FaultRule[]]>;
};

function putKnown(sandbox: Sandbox, knowledgebaseId: string, { text, file, ...fields }: Known) {
	const fileUrl = `${sandbox.url}/public/files/${OWNER.tenantId}/files-${file}.txt`;
	const row = { folder: '', knowledgebaseId, category: 'text', type: 'txt', fileUrl, ...fields };
	sandbox.store.putFindable(sandbox.store.putDocument(row), [text]);
	const { storageFileId: id, name: originalName } = fields;
	if (id) putUploaded(sandbox, { id, originalName, url: fileUrl }, text);
}

interface Uploaded {
	id: string;
	originalName: string;
	url: string;
	size?: number;
}

/** The files whose content was not recorded, as they were uploaded. */
const filesUploaded: Arrange = (sandbox, exchanges) => {
	for (const exchange of exchanges.filter(({ endpoint }) => endpoint === 'E16')) {
		const file = bodyOf(exchange) as Uploaded;
		const text =
			KNOWN.contents[file.originalName] ?? 'A sentence. '.repeat(1000).slice(0, file.size ?? 1);
		putUploaded(sandbox, file, text);
	}
};

function putUploaded({ store, url }: Sandbox, file: Uploaded, text: string): void {
	const head = Buffer.from(text);
	const content = { size: head.length, head };
	const [name = ''] = /[^/]+$/.exec(file.url) ?? [];
	const path = `files/${OWNER.tenantId}/${name}`;
	store.putFile({ ...file, file: path, size: head.length, url: `${url}/public/${path}` }, content);
}

const ofDepartments: Arrange = (sandbox, exchanges) => {
	const { store } = sandbox;
	const shared = { copilotModelId: MODEL, structure: 'general', documentNum: 1 };
	const filtered = { id: FILTERED, name: 'Filtered', metadataSchema: KNOWN.metadataSchema };
	store.putKnowledgebase({ ...filtered, ...shared });
	store.putKnowledgebase({ id: QUOKKAS, name: 'Quokkas', ...shared });
	store.workspaces.add('30ed0d98-2cab-4bdd-a110-62e4f4648044');
	const [{ recording } = {}] = exchanges;
	const known =
		recording === 'knowledge-filter-5'
			? [...KNOWN.ofDepartments, KNOWN.inFolder]
			: KNOWN.ofDepartments;
	for (const document of known) putKnown(sandbox, FILTERED, document);
	putKnown(sandbox, QUOKKAS, KNOWN.quokka);
	if (recording === 'folder-moves') store.putDocument(KNOWN.folderElsewhere);
	threadsOfPaths(sandbox, exchanges);
	filesUploaded(sandbox, exchanges);
};

const ofQuokkas: Arrange = (sandbox, exchanges) => {
	sandbox.store.putKnowledgebase({ id: QUOKKAS, name: 'Quokkas', copilotModelId: MODEL });
	for (const document of [KNOWN.quokka, KNOWN.numbat]) putKnown(sandbox, QUOKKAS, document);
	filesUploaded(sandbox, exchanges);
};

/** What was on the server before a recording, by the recording. */
const BEFORE: Array<[recording: RegExp, Arrange]> = [
	[/^searchable$/, conversationsFound],
	[/^knowledge$/, filesOfDocuments],
	[/^(?:sources|conversations)$/, documentsFound],
	[/^file-context-parsing$/, threadsOfPaths],
	[/^(?:knowledge-filter|filters|folder)/, ofDepartments],
	[/^(?:one-q|server|two-p|one-thread-(?!two-owners$)|decision-after|dead|cancel-of)/, ofQuokkas],
	[/^one-question-1$/, ({ store }) => void store.putAssistant(BEFORE_ITS_HELPER)],
	[
		/^tool-calls$/,
		({ store }) => {
			store.putKnowledgebase({ id: LOOKED_INTO, name: 'Knowledge', copilotModelId: MODEL });
		},
	],
	[
		/^conversations-search-operators$/,
		({ store }, all) => {
			const first = all.find(({ label }) => label === '$gte what is no date');
			for (const one of [...itemsOf(first), ...all.flatMap(itemsOf)]) store.putConversation(one);
		},
	],
	[
		/^conversations$/,
		({ store }, all) => {
			const searches = all.filter(({ endpoint }) => endpoint === 'POST /threads/search');
			for (const row of searches.flatMap((one) => bodyOf(one) as Loose[])) {
				const { id, title, assistant_id: xpertId } = row.metadata as Loose;
				const { thread_id: threadId, created_at: createdAt, status } = row;
				store.putConversation({ id, title, xpertId, threadId, createdAt, status });
			}
		},
	],
];

/** The options of the server of a recording. */
export const optionsOf = (recording: string): SandboxOptions =>
	Object.assign(
		{},
		...KNOWN.options.filter(([of]) => new RegExp(of).test(recording)).map(([, one]) => one),
	) as SandboxOptions;

/** Puts onto the server what a recording found there, and what is to go as it went. */
export function arrange(sandbox: Sandbox, exchanges: SequenceExchange[]): void {
	const [{ recording = '', sequence: title = '' } = {}] = exchanges;
	KNOWN.copilots.forEach((id) => sandbox.store.copilots.add(id));
	sandbox.store.workspaces.add(WORKSPACE);
	for (const [of, before] of BEFORE) if (of.test(recording)) before(sandbox, exchanges);
	for (const [of, titled, ...rules] of KNOWN.rules) {
		if (new RegExp(of).test(recording) && new RegExp(titled).test(title))
			sandbox.faults.add(...rules);
	}
}
