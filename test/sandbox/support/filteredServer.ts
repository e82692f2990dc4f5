import type { AssistantSeed, Filter, Sandbox, SandboxOptions, ToolSeed } from '../../../sandbox';
import type { SequenceExchange } from './recordings';

import { condition } from '../../engine/support/filters';
import { FILTERED, KEYS, QUOKKAS, RECORDED_LAST, later, looksInto } from './recordedServers';

const MODEL = 'f0000000-0000-4000-8000-000000000001';

/** A condition in three words: the field, the operator, and a JSON value or where the value is taken from. */
const where = (words: string): Filter => {
	const [field = '', operator = '', of = ''] = words.split(' ');
	const isLiteral = /^["\d]/.test(of);
	return condition(field, operator, isLiteral ? { value: JSON.parse(of) } : { selector: of });
};
const group = (operator: 'and' | 'or', ...children: string[]): Filter => ({
	kind: 'group',
	operator,
	children: children.map(where),
});
const filterOf = (filter: Filter | string) => (typeof filter === 'string' ? where(filter) : filter);

/** The department that a question brings, or the state of the assistant. */
const OF_PERSON = 'metadata.department eq human.department';
const OF_STATE = 'metadata.department eq department';

const filtered = (filter: Filter | string): ToolSeed => ({
	...looksInto(FILTERED),
	filtering: { fixed: filterOf(filter) },
});

const MAIL: ToolSeed = {
	name: 'sendMail',
	description: 'Send a mail',
	waits: true,
	toolset: { name: 'openapi', id: '5380119a-d868-4f9d-9956-236f958bdd5f' },
};

/** An assistant whose tool finds what its filter lets it find. */
const tool = (
	id: string,
	name: string,
	filter: Filter | string,
	more: Partial<AssistantSeed> = {},
): AssistantSeed => ({
	...later(id, name, [filtered(filter)]),
	description: 'd',
	...more,
});

const looksFirst = (name: string, filter: string) => ({
	agentKey: `Know_${name}`,
	title: 'Look',
	knowledgebaseId: FILTERED,
	filter: where(filter),
});

/** One whose workflow has such a step before it. */
const step = (
	id: string,
	name: string,
	filter: string,
	more: Partial<AssistantSeed> = {},
): AssistantSeed => ({
	...later(id, name, []),
	description: 'd',
	prompt: 'Context: {found}',
	looksFirst: looksFirst(name, filter),
	...more,
});

const variable = (name: string, more: { default?: unknown } = {}) => ({
	stateVariables: [{ name, type: 'string', title: 'd', ...more }],
});

const [WAIT, WAIT_STATE] = [
	'618262b5-a2a3-4430-97c3-ef20c8df5db4',
	'82702fcf-8f91-4519-b932-e8b0305e96a9',
];
const waits = (filter: string) => ({ description: null, tools: [MAIL, filtered(filter)] });

/** What the assistants of these recordings are called, where their sequences do not say it, nobody knows. */
const ASSISTANTS: AssistantSeed[] = [
	tool('5ea44652-511e-4610-8ad5-5470cb9c43f2', 'fFixed1', 'metadata.department eq "sales"'),
	tool('2eedd87f-4050-4929-8ad8-eb9c6960808c', 'fHuman2434', OF_PERSON),
	tool('f5e9f760-5edd-4253-a5b7-e9003b524cd0', 'fState4566', OF_STATE, variable('department')),
	tool('7313b814-0a9c-4893-b93f-e497c582d344', 'fParam6674', OF_STATE, {
		parameters: ['department'],
	}),
	tool('97d6c3ab-27d1-448a-b9d1-d7a5e53ca9e1', 'fEnv1', 'metadata.department eq env.department'),
	step('9f967562-8892-4266-8e0f-6057101a86e5', 'sHuman42', OF_PERSON),
	step('be83d012-8ad9-4f07-b048-3fcf785b4a12', 'sState2953', OF_STATE, variable('department')),
	step('21ad5152-f844-4cc5-8d40-27c3869a3b0a', 'sEnv4040', 'metadata.department eq env.department'),
	{
		...later('ad191c92-9944-4b3d-8cb0-dca4f65eb5ff', 'fDyn5017', [
			{ ...looksInto(FILTERED), filtering: { agent: { enabled: true } } },
		]),
		description: 'd',
	},
	tool(
		'1524979f-6f44-4c84-9f41-9fcdc2c1f83f',
		'fFolder1',
		'document.folderPath under human.folder',
	),
	tool('7800c014-97b7-494b-b828-b0bfc0bef3c5', 'fYear1', 'metadata.year gte human.year'),
	tool('7422ffe7-190b-44e1-b377-78afe6104252', 'fFrom1', 'metadata.validFrom gte human.from'),
	tool('b39d3532-04fd-4fad-af6b-205fdb2d3c18', 'fLevel1', 'metadata.level eq human.level'),
	tool('6acbf4e4-86c7-476d-a67c-4421d4edda5b', 'fTags1', 'metadata.tags containsAny human.tags'),
	tool('d64b2eab-b940-42ee-a540-fa076c9bfbe8', 'fIn1', 'metadata.department in human.departments'),
	tool('a592421b-1221-410f-8867-3b21088a5b14', 'fSecret1', 'metadata.secret eq human.secret'),
	tool('20cc0e4a-6faa-4b6b-a861-ab9964525950', 'fName1', 'document.fileName startsWith human.name'),
	tool('8f02ad22-23f5-4847-994d-1181db5d5706', 'fIds1', 'document.id in human.ids'),
	tool('c2cc566e-747c-4352-9f4d-4c671e9ed710', 'fNothere1', 'metadata.nothere eq human.x'),
	tool(
		'49cd1944-b6b7-4840-9abf-f007f588c8a2',
		'fDefault1',
		OF_STATE,
		variable('department', { default: 'sales' }),
	),
	tool(
		'1a2e1729-8543-45a7-b06b-0ccf3ed81e2d',
		'fOptional1',
		'document.folderPath under folder',
		variable('folder', { default: '' }),
	),
	tool(
		'86793975-597d-4d6e-b35a-9aa7f0c7912f',
		'fContains1',
		'metadata.department contains department',
		variable('department', { default: '' }),
	),
	tool(
		'1092dcd5-9748-4db4-9b51-c97c48b4e14a',
		'fOr1',
		group('or', OF_PERSON, 'document.folderPath under human.folder'),
	),
	tool(
		'8b7fb942-91b4-4d02-8f0f-928d8d394b65',
		'fAnd1',
		group('and', OF_PERSON, 'metadata.year gte 2025'),
	),
	step('71f0ed79-e000-4980-ac29-048faa08c5a4', 'sTwo1', OF_PERSON, {
		looksFirst: { ...looksFirst('sTwo1', OF_PERSON), also: [QUOKKAS] },
	}),
	{
		...later('663651b2-3a88-46ad-b5e8-c6ca6e98149a', 'fTwo1', [
			filtered(OF_PERSON),
			looksInto(QUOKKAS),
		]),
		description: 'd',
	},
	tool(WAIT, 'fWait1948', OF_PERSON, waits(OF_PERSON)),
	tool(WAIT_STATE, 'fWaitState1197', OF_STATE, {
		...waits(OF_STATE),
		...variable('department'),
	}),
	step('69231d2b-acd5-45ef-87b5-f7a7c784ea86', 'sWait5703', OF_PERSON, {
		description: null,
		tools: [MAIL],
	}),
];

/** What the server of the recordings of filters had before a sequence began. */
export const RECORDED_FILTERED: SandboxOptions = { ...KEYS, assistants: ASSISTANTS };

/** The server of the recordings from `one-question-1` on, among whose assistants is one of these. */
export const RECORDED_LAST_OF_ALL: SandboxOptions = {
	...RECORDED_LAST,
	assistants: [...(RECORDED_LAST.assistants ?? []), ...ASSISTANTS.filter(({ id }) => id === WAIT)],
};

export const METADATA_SCHEMA = [
	{ key: 'department', type: 'string' },
	{ key: 'year', type: 'number' },
	{ key: 'validFrom', type: 'datetime' },
	{ key: 'level', type: 'enum', enumValues: ['public', 'internal'] },
	{ key: 'tags', type: 'string[]' },
	{ key: 'secret', type: 'boolean' },
].map((field) => ({ ...field, scope: 'document' }));

interface Known {
	id: string;
	name: string;
	file: string;
	text: string;
	storageFileId?: string;
	metadata?: Record<string, unknown>;
	folder?: string;
}

/** What the conversation of a sequence is called, where that is not the name of the sequence. */
const TITLES: Record<string, string> = { 'env on the same thread': 'env' };

const RECORDED_TENANT = 'b3c331fa-a335-4479-8b29-34fadc619fa8';
const OWN_TENANT = 'a0000000-0000-4000-8000-000000000001';
const FILES = `public/files/${RECORDED_TENANT}`;

const HR = { year: 2026, validFrom: '2026-03-01T00:00:00Z', level: 'internal', secret: true };
const SALES = { department: 'sales', level: 'public', secret: false };

/** What the knowledgebase had. Of `old.txt` the recordings have only the name, and that it is of sales. */
const DOCUMENTS: Known[] = [
	{
		id: '33f89806-6d38-456c-bcbd-f3e7cad649bc',
		name: 'sales.txt',
		file: '1795615846836-a96a4c',
		text: 'The budget of the sales department is 100 gold coins for travel.',
		metadata: { ...SALES, year: 2025, validFrom: '2025-03-01T00:00:00Z', tags: ['a', 'b'] },
	},
	{
		id: '40299367-f8d6-4cff-9dff-ea4396fe5106',
		name: 'hr.txt',
		file: '1795615846901-31c3ab',
		storageFileId: '00c76dbd-9cad-4b94-9661-3d57bab0f0af',
		text: 'The budget of the hr department is 200 gold coins for training.',
		metadata: { department: 'hr', ...HR, tags: ['b', 'c'] },
	},
	{
		id: '5918d398-7099-4d2d-bfd4-5d6d4e910fa3',
		name: 'none.txt',
		file: '1795615846972-eaad43',
		text: 'The budget of nobody is zero gold coins.',
	},
	{
		id: 'e4000000-0000-4000-8000-000000000001',
		name: 'old.txt',
		file: '1795615847000-000000',
		text: 'Some years ago the budget of the sales department was 50 gold coins, for travel and for all the rest.',
		metadata: { ...SALES, year: 2020, tags: ['a'] },
	},
];

/** What came into its folder by a recording of its own (`knowledge-filter-2`). */
const IN_FOLDER: Known = {
	id: '4a398b7c-cd84-4533-856d-b9d7f564d774',
	name: 'infolder.txt',
	file: '1795616188049-fd309f',
	text: 'The budget of a document in a folder is 7 gold coins.',
	metadata: { department: 'x' },
	folder: 'Dept/Sales',
};

const QUOKKA: Known = {
	id: 'eefdba0a-d7cd-44d0-8199-15e110926e75',
	name: 'quokka.txt',
	file: '1795615845206-c04984',
	text: 'The quokka lives on Rottnest Island. Quokkas eat grass at night.',
};

/** A folder of another knowledgebase (`folder-moves` "parent of another knowledgebase"). */
const ELSEWHERE = {
	id: '4c4653d9-f245-4060-bf38-63f2bd5e6a50',
	name: 'Dept',
	sourceType: 'folder',
	folder: '',
};

/** The texts of files, whose content was not recorded: some stand in what was found of them. */
const CONTENTS: Record<string, string> = {
	'infolder.txt': IN_FOLDER.text,
	'wombat8798.txt': 'A wombat has silver 8798 too',
};

/** Puts onto the server what a recording found there: knowledgebases, documents, conversations and files. */
export function arrangeFiltered(sandbox: Sandbox, exchanges: SequenceExchange[]): void {
	const { store, url } = sandbox;
	const shared = { copilotModelId: MODEL, structure: 'general', documentNum: 1 };
	store.putKnowledgebase({
		id: FILTERED,
		name: 'Filtered',
		metadataSchema: METADATA_SCHEMA,
		...shared,
	});
	store.putKnowledgebase({ id: QUOKKAS, name: 'Quokkas', ...shared });
	const put = (knowledgebaseId: string, { text, file, ...fields }: Known) => {
		const fileUrl = `${url}/${FILES}/files-${file}.txt`;
		const row = { knowledgebaseId, category: 'text', type: 'txt', fileUrl, ...fields };
		store.putFindable(store.putDocument({ folder: '', ...row }), [text]);
		const { storageFileId: id, name: originalName } = fields;
		if (id) putFile(sandbox, { id, originalName, url: fileUrl, file: `files-${file}.txt` }, text);
	};
	store.workspaces.add('30ed0d98-2cab-4bdd-a110-62e4f4648044');
	store.copilots.add('8cd8fbbb-2ced-4cf0-b21a-bad801a57763');
	const [{ recording } = {}] = exchanges;
	for (const document of DOCUMENTS) put(FILTERED, document);
	if (recording === 'knowledge-filter-5') put(FILTERED, IN_FOLDER);
	put(QUOKKAS, QUOKKA);
	if (recording === 'folder-moves') store.putDocument({ ...ELSEWHERE, knowledgebaseId: QUOKKAS });
	for (const { request, sequence: title } of exchanges.filter((one) => one.request)) {
		const [, threadId] = /threads\/([^/]+)/.exec(request.path) ?? [];
		const isMade = exchanges.some(
			({ request: one }) => isObject(one?.body) && one.body.threadId === threadId,
		);
		if (!threadId || isMade || store.conversationOf(threadId)) continue;
		store.putConversation({ threadId, title: TITLES[title ?? ''] ?? title });
	}
	for (const { endpoint, response } of exchanges) {
		if (endpoint !== 'E16' || !('body' in response)) continue;
		const uploaded = response.body as UploadedFile;
		const content = CONTENTS[uploaded.originalName] ?? 'x'.repeat(uploaded.size ?? 1);
		putFile(sandbox, uploaded, content);
	}
}

const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null;

interface UploadedFile {
	id: string;
	originalName: string;
	size?: number;
	url: string;
	file: string;
}

function putFile({ store, url }: Sandbox, file: UploadedFile, text: string): void {
	const head = Buffer.from(text);
	const size = head.length;
	store.putFile({ ...file, size, url: file.url.replace('{base_url}', url) }, { size, head });
	// It is asked for by the tenant that the sandbox has, once that is known.
	const [, name = ''] = /([^/]+)$/.exec(file.file) ?? [];
	for (const tenant of [RECORDED_TENANT, OWN_TENANT]) {
		store.contents.put(`files/${tenant}/${name}`, { size, head });
	}
}
