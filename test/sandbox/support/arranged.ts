import { groupBy, uniqBy } from 'lodash';
import type { FaultRule, Sandbox, SandboxOptions } from '../../../sandbox';
import { OWNER } from '../../../sandbox/entities';
import { sequence, type SequenceExchange } from './recordings';
import { BEFORE_ITS_HELPER, FILTERED, LOOKED_INTO, QUOKKAS, WORKSPACE } from './servers';

type Loose = Record<string, unknown>;
type Arrange = (sandbox: Sandbox, exchanges: SequenceExchange[]) => void;

const MODEL = 'f0000000-0000-4000-8000-000000000001';
const COPILOTS = [
	'f527aa6c-301b-4e2a-a82d-81ac9cf295b4',
	'c37bd141-8e7a-49b2-9684-170578645a8d',
	'8cd8fbbb-2ced-4cf0-b21a-bad801a57763',
];

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

const QUOKKA: Known = {
	...{
		id: 'eefdba0a-d7cd-44d0-8199-15e110926e75',
		name: 'quokka.txt',
		file: '1795615845206-c04984',
	},
	text: 'The quokka lives on Rottnest Island. Quokkas eat grass at night.',
};
const NUMBAT: Known = {
	...{
		id: 'ac6ff836-af57-4f2e-bbaf-87fc8d9983d4',
		name: 'numbat.txt',
		file: '1795615845297-8c3276',
	},
	text: 'The numbat eats termites in Australia. Numbats sleep in hollow logs.',
};

const HR = { year: 2026, validFrom: '2026-03-01T00:00:00Z', level: 'internal', secret: true };
const SALES = { department: 'sales', level: 'public', secret: false };

/** What the filtered knowledgebase had. Of `old.txt` the recordings have only the name, and that it is of sales. */
const OF_DEPARTMENTS: Known[] = [
	{
		...{
			id: '33f89806-6d38-456c-bcbd-f3e7cad649bc',
			name: 'sales.txt',
			file: '1795615846836-a96a4c',
		},
		text: 'The budget of the sales department is 100 gold coins for travel.',
		metadata: { ...SALES, year: 2025, validFrom: '2025-03-01T00:00:00Z', tags: ['a', 'b'] },
	},
	{
		...{ id: '40299367-f8d6-4cff-9dff-ea4396fe5106', name: 'hr.txt', file: '1795615846901-31c3ab' },
		text: 'The budget of the hr department is 200 gold coins for training.',
		metadata: { department: 'hr', ...HR, tags: ['b', 'c'] },
		storageFileId: '00c76dbd-9cad-4b94-9661-3d57bab0f0af',
	},
	{
		...{
			id: '5918d398-7099-4d2d-bfd4-5d6d4e910fa3',
			name: 'none.txt',
			file: '1795615846972-eaad43',
		},
		text: 'The budget of nobody is zero gold coins.',
	},
	{
		...{
			id: 'e4000000-0000-4000-8000-000000000001',
			name: 'old.txt',
			file: '1795615847000-000000',
		},
		text: 'Some years ago the budget of the sales department was 50 gold coins, for travel and for all the rest.',
		metadata: { ...SALES, year: 2020, tags: ['a'] },
	},
];

/** What came into its folder by a recording of its own (`knowledge-filter-2`). */
const IN_FOLDER: Known = {
	...{
		id: '4a398b7c-cd84-4533-856d-b9d7f564d774',
		name: 'infolder.txt',
		file: '1795616188049-fd309f',
	},
	text: 'The budget of a document in a folder is 7 gold coins.',
	...{ metadata: { department: 'x' }, folder: 'Dept/Sales' },
};

/** A folder of another knowledgebase (`folder-moves` "parent of another knowledgebase"). */
const FOLDER_ELSEWHERE = {
	...{ id: '4c4653d9-f245-4060-bf38-63f2bd5e6a50', knowledgebaseId: QUOKKAS },
	...{ name: 'Dept', sourceType: 'folder', folder: '' },
};

export const METADATA_SCHEMA = [
	{ key: 'department', type: 'string' },
	{ key: 'year', type: 'number' },
	{ key: 'validFrom', type: 'datetime' },
	{ key: 'level', type: 'enum', enumValues: ['public', 'internal'] },
	{ key: 'tags', type: 'string[]' },
	{ key: 'secret', type: 'boolean' },
].map((field) => ({ ...field, scope: 'document' }));

function putKnown(sandbox: Sandbox, knowledgebaseId: string, { text, file, ...fields }: Known) {
	const fileUrl = `${sandbox.url}/public/files/${OWNER.tenantId}/files-${file}.txt`;
	const row = { folder: '', knowledgebaseId, category: 'text', type: 'txt', fileUrl, ...fields };
	sandbox.store.putFindable(sandbox.store.putDocument(row), [text]);
	const { storageFileId: id, name: originalName } = fields;
	if (id) putUploaded(sandbox, { id, originalName, url: fileUrl }, text);
}

/** The texts of files whose content was not recorded: some stand in what was found of them. */
const CONTENTS: Loose = {
	'infolder.txt': IN_FOLDER.text,
	'wombat8798.txt': 'A wombat has silver 8798 too',
};

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
			CONTENTS[file.originalName] ?? 'A sentence. '.repeat(1000).slice(0, file.size ?? 1);
		putUploaded(sandbox, file, String(text));
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
	const filtered = { id: FILTERED, name: 'Filtered', metadataSchema: METADATA_SCHEMA };
	store.putKnowledgebase({ ...filtered, ...shared });
	store.putKnowledgebase({ id: QUOKKAS, name: 'Quokkas', ...shared });
	store.workspaces.add('30ed0d98-2cab-4bdd-a110-62e4f4648044');
	const [{ recording } = {}] = exchanges;
	const known =
		recording === 'knowledge-filter-5' ? [...OF_DEPARTMENTS, IN_FOLDER] : OF_DEPARTMENTS;
	for (const document of known) putKnown(sandbox, FILTERED, document);
	putKnown(sandbox, QUOKKAS, QUOKKA);
	if (recording === 'folder-moves') store.putDocument(FOLDER_ELSEWHERE);
	threadsOfPaths(sandbox, exchanges);
	filesUploaded(sandbox, exchanges);
};

const ofQuokkas: Arrange = (sandbox, exchanges) => {
	sandbox.store.putKnowledgebase({ id: QUOKKAS, name: 'Quokkas', copilotModelId: MODEL });
	for (const document of [QUOKKA, NUMBAT]) putKnown(sandbox, QUOKKAS, document);
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

/** How long things took there, in milliseconds, where it matters, and what else was so. */
const OPTIONS: Array<[recording: RegExp, SandboxOptions]> = [
	[/^(?:searchable|runs|interrupts)$/, { processMs: 1000 }],
	[/^(?:replaced|disabled)-while-processing$/, { processMs: 8000 }],
	[/^files-processed$/, { processMs: 1500 }],
	[/^knowledge$/, { processMs: 500, rebuildMs: 22_000 }],
	[/^(?:background|turns)$/, { runMs: 250 }],
	[/^streams$/, { runMs: 2000 }],
	[/^answers-in-parts$/, { runMs: 1000 }],
	[/^(?:knowledge-filter|filters|folder)/, { runMs: 100, processMs: 300 }],
	[
		/^(?:one-q|server|two-p|one-thread-(?!two-owners$)|decision-after|dead|cancel-of)/,
		{ runMs: 600, processMs: 16_000 },
	],
	[/^(?:one-question-2|two-processes|server-killed)$/, { runMs: 1200 }],
	[/^conversation-by-id$|^one-key-cancel/, { runMs: 5000 }],
	[/^one-key-two-processes-moved$/, { runMs: 8700 }],
	[/^one-key-two-processes-500$/, { runMs: 1500 }],
	[/^(?:chatSession|memory|file-context-parsing)$/, { embeddingModel: false }],
];

type Rule = Exclude<FaultRule, { do: 'oneOf' }>;

/** How late an E13, or a PATCH that makes one, stores its conversation of which another one is made meanwhile, in ms. */
const stores = (endpoint: string, nth: number, ms: number): Rule => {
	return { endpoint, nth, do: 'delay', when: 'between', ms };
};

const LATE: Array<[title: RegExp, ...rules: Rule[]]> = [
	[
		/conversation [05] ms/,
		stores('updateConversation', 1, 100),
		stores('updateConversation', 2, 50),
	],
	[/conversation 30 ms/, stores('updateConversation', 1, 60), stores('updateConversation', 2, 100)],
	[/by E13, (?:0|30) ms/, stores('E13', 1, 50), stores('E13', 2, 100)],
];

/** Where the conversation of a start is moved from under it (`one-key-two-processes-…`). */
const FAILS = { statusCode: 500, message: 'Internal server error' };
const MOVED_TO = '7289def7-5d06-4f2a-aa5e-f4691b61fd6c';

/** How the requests went that were slower than they were told to be, as the server was slow, or that were overtaken. */
const RULES: Array<[recording: RegExp, title: RegExp, ...rules: Rule[]]> = [
	...LATE.map(([title, ...rules]): [RegExp, RegExp, ...Rule[]] => [/^conv/, title, ...rules]),
	[/^one-key-two-processes-moved/, /^/, { endpoint: 'runs', nth: 1, do: 'moved', to: MOVED_TO }],
	[
		/^one-key-two-processes-500/,
		/^/,
		{ endpoint: 'runs', nth: 1, do: 'status', status: 500, body: FAILS },
	],
	[
		/^one-key-cancel-ends-both/,
		/^/,
		{ endpoint: 'runs', nth: 1, do: 'run', ms: 15_000, outcome: 'overtaken', step: '__start__' },
	],
	[/^decision-watched-confirm/, /^/, { endpoint: 'E4', nth: 1, do: 'run', ms: 4700 }],
	[/^decision-watched-confirm/, /^/, { endpoint: 'E4', nth: 2, do: 'run', ms: 8571 }],
	[/^decision-watched-reject/, /^/, { endpoint: 'E4', nth: 1, do: 'run', ms: 7900 }],
	[/^decision-watched-reject/, /^/, { endpoint: 'E4', nth: 2, do: 'run', ms: 1118 }],
	[/^/, /a mark in message.input/, { endpoint: 'E4', do: 'run', ms: 4500 }],
	[/^/, /SLOW3000 lost,/, { endpoint: 'E4', do: 'run', ms: 5250 }],
	[/^/, /SLOW3000 lost early/, { endpoint: 'E4', do: 'run', ms: 4200 }],
	[/^/, /FAIL lost/, { endpoint: 'E4', do: 'run', ms: 860 }],
	[/^/, /two E13 with one threadId/, { endpoint: 'runs', nth: 1, do: 'run', ms: 3500 }],
	[/^/, /E15 answers from the conversation/, { endpoint: 'runs', nth: 1, do: 'run', ms: 3500 }],
	[
		/^/,
		/^two first messages .E13 and E4/,
		{ endpoint: 'E4', nth: 1, do: 'run', ms: 1500, outcome: 'overtaken' },
	],
	[/^/, /^two first messages .E13 and E4/, { endpoint: 'E4', nth: 2, do: 'run', ms: 2000 }],
];

/** The options of the server of a recording. */
export const optionsOf = (recording: string): SandboxOptions =>
	Object.assign(
		{},
		...OPTIONS.filter(([of]) => of.test(recording)).map(([, one]) => one),
	) as SandboxOptions;

/** Puts onto the server what a recording found there, and what is to go as it went. */
export function arrange(sandbox: Sandbox, exchanges: SequenceExchange[]): void {
	const [{ recording = '', sequence: title = '' } = {}] = exchanges;
	COPILOTS.forEach((id) => sandbox.store.copilots.add(id));
	sandbox.store.workspaces.add(WORKSPACE);
	for (const [of, before] of BEFORE) if (of.test(recording)) before(sandbox, exchanges);
	for (const [of, titled, ...rules] of RULES) {
		if (of.test(recording) && titled.test(title)) sandbox.faults.add(...rules);
	}
}
