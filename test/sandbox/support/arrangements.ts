import type { Sandbox, SandboxOptions } from '../../../sandbox';
import type { Exchange } from './recordings';

/** From the exchange with this number on, a fresh sandbox with these options and this content is used. */
export interface Stage {
	from: number;
	options?: SandboxOptions;
	arrange?: (sandbox: Sandbox, exchanges: Exchange[]) => void;
}

/** Tokens of the replay; every kind the recordings were made with. */
export const TOKENS = {
	plain: 'plain-key',
	workspace: 'workspace-key',
	helperKey: 'key-of-helper',
	echoKey: 'key-of-echo',
	user: 'user-jwt',
	wrong: 'wrong',
	wrongSession: 'cs-x-wrong',
} as const;

const HELPER = 'b284bffb-6e25-4e87-b20a-3efb5b0907ec';
const ECHO = '23eefbc6-3531-42c6-8618-c205c6582ece';
const RECORDED_WORKSPACE = 'da115e24-f183-4ffe-a3a0-7db1dd4b2572';

/** What every sandbox of the replay has in common. */
export const COMMON: SandboxOptions = {
	tokens: [
		{ token: TOKENS.plain, kind: 'plain' },
		{ token: TOKENS.workspace, kind: 'workspace' },
		{ token: TOKENS.helperKey, kind: 'assistant', assistantId: HELPER },
		{ token: TOKENS.echoKey, kind: 'assistant', assistantId: ECHO },
		{ token: TOKENS.user, kind: 'user' },
	],
	assistants: [],
};

const helperAndEcho: SandboxOptions = {
	assistants: [
		{
			id: HELPER,
			name: 'helper',
			title: 'Helper',
			agentKey: 'Agent_main',
			workspaceId: RECORDED_WORKSPACE,
			answers: 'fail',
		},
		{
			id: ECHO,
			name: 'echo',
			title: 'Echo',
			agentKey: 'Agent_echo',
			workspaceId: RECORDED_WORKSPACE,
			answers: 'echo',
		},
	],
};

/** The ids that stand in the paths of an endpoint's exchanges. */
const pathIds = (exchanges: Exchange[]) =>
	new Set(
		exchanges.flatMap(
			(one) => one.request.path.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/) ?? [],
		),
	);

const UNKNOWN = ['11111111-1111-4111-8111-111111111111', '99999999-9999-4999-8999-999999999999'];

/** A knowledgebase for each one named in a path, but for those recorded as unknown. */
function knowledgebasesOfPaths({ store }: Sandbox, exchanges: Exchange[]) {
	for (const id of pathIds(exchanges)) {
		if (!UNKNOWN.includes(id)) store.putKnowledgebase({ id, name: `Knowledgebase ${id}` });
	}
}

/** A conversation for each thread named in a path, but for those recorded as unknown. */
function conversationsOfPaths({ store }: Sandbox, exchanges: Exchange[]) {
	for (const threadId of pathIds(exchanges)) {
		if (!UNKNOWN.includes(threadId)) store.putConversation({ threadId });
	}
}

/** The thread of "retry after error": its first run failed. */
function failedThread({ store }: Sandbox) {
	const threadId = '8fabf328-18dc-4d80-8f36-c4c495a38571';
	const conversation = store.conversationOf(threadId);
	Object.assign(conversation ?? {}, { xpertId: ECHO, status: 'error', error: 'BOOM' });
	store.threads.set(threadId, {
		threadId,
		assistantId: ECHO,
		status: 'error',
		messages: [],
		input: 'BOOM',
	});
}

const recordedItems = ({ store }: Sandbox) => {
	store.putItem([ECHO, 'u1'], 'k1', { n: 1, color: 'blue' });
	store.putItem([ECHO, 'u1'], 'k2', { n: 2, color: 'red' });
	store.putItem([ECHO, 'u2', 'deep'], 'k1', { color: 'blue' });
	store.putItem([ECHO, 'u3'], 'k1', 'str');
};

/** The file context of "by storageFileId", with the id of its own that E14 does not take. */
function recordedContext({ store }: Sandbox, exchanges: Exchange[]) {
	const recorded = exchanges.find((one) => one.label === 'by storageFileId');
	const [, storageFileId = ''] = /file\/(.*)$/.exec(recorded?.request.path ?? '') ?? [];
	const { fileUrl: _fileUrl, ...file } = recorded?.response.body as Record<string, unknown>;
	store.putFile({
		...file,
		id: storageFileId,
		storageProvider: 'LOCAL',
		originalName: 'hello.txt',
		size: 11,
		url: '',
	});
	store.contexts.set(storageFileId, { id: 'd5550000-0000-4000-8000-000000000000', storageFileId });
}

/** What each endpoint's recordings found on the server, by endpoint. */
export const STAGES: Record<string, Stage[]> = {
	E01: [
		{
			from: 0,
			arrange: ({ store }) =>
				store.putKnowledgebase({
					id: '99ec0a74-1a54-4921-9567-2bc9f99da8f3',
					name: 'to be overwritten',
				}),
		},
	],
	E02: [
		{
			from: 0,
			arrange: ({ store }) => {
				store.putKnowledgebase({
					id: '335ccdfa-d2bb-4f15-9f4a-2b180f46d737',
					name: 'KB full',
					type: 'standard',
					language: 'English',
					description: 'd',
					permission: 'organization',
					recall: { topK: 7, score: 0.4 },
					parserConfig: { chunkSize: 500, chunkOverlap: 50, delimiter: '; , .' },
					avatar: { emoji: { id: 'x' } },
					documentNum: 1,
				});
				store.putKnowledgebase({ name: 'KB badperm' });
			},
		},
	],
	E03: [
		{
			from: 0,
			arrange: (sandbox, exchanges) => {
				knowledgebasesOfPaths(sandbox, exchanges);
				const documents = [
					['2f78e81b-096f-42ff-8ac0-8403fd81392d', '86790ce8-48a1-4942-b092-7fc2d1815761'],
					['adb7c5c7-d28e-4da0-8210-752a38627122', '1ad7a22c-fa18-42ff-a5d0-b5be53eab8b1'],
				] as const;
				documents.forEach(([id, knowledgebaseId]) =>
					sandbox.store.putDocument({ id, knowledgebaseId, name: 'before' }),
				);
			},
		},
	],
	E04: [
		{ from: 0, arrange: conversationsOfPaths },
		{
			from: 9,
			options: helperAndEcho,
			arrange: (sandbox, exchanges) => {
				conversationsOfPaths(sandbox, exchanges);
				failedThread(sandbox);
			},
		},
	],
	E05: [
		{
			from: 0,
			arrange: ({ store }, exchanges) => {
				const all = exchanges.find((one) => one.label === 'empty')?.response.body;
				(all as { items: Array<Record<string, unknown>> }).items.forEach((item) =>
					store.putConversation(item),
				);
			},
		},
	],
	E06: [{ from: 0 }],
	E07: [{ from: 0 }, { from: 7, options: helperAndEcho }],
	E08: [
		{ from: 0, options: helperAndEcho, arrange: recordedItems },
		{ from: 17, options: { embeddingModel: false } },
	],
	E09: [{ from: 0 }, { from: 6, options: helperAndEcho }],
	E10: [{ from: 0, arrange: conversationsOfPaths }],
	E11: [{ from: 0, options: { embeddingModel: false } }, { from: 17 }],
	E12: [{ from: 0 }],
	E13: [
		{
			from: 0,
			arrange: ({ store }) =>
				store.putConversation({ id: '7b8a0000-0000-4000-8000-000000000000', title: 'other' }),
		},
	],
	E14: [{ from: 0, arrange: recordedContext }],
	E15: [{ from: 0, arrange: conversationsOfPaths }],
	E16: [{ from: 0 }],
	E17: [{ from: 0, arrange: knowledgebasesOfPaths }],
};

/** Keys other than the plain one, where the label or the course of the recording says so. */
const KEYS: Record<string, keyof typeof TOKENS> = {
	'E01 wrong cs token': 'wrongSession',
	'E04 run assistant key': 'helperKey',
	'E04 run workspace key': 'workspace',
	'E04 other assistant on bound thread': 'workspace',
	'E07 assistant key': 'echoKey',
	'E07 workspace key': 'workspace',
	'E09 assistant key': 'echoKey',
	'E09 workspace key': 'workspace',
};

/** The token an exchange was recorded with; undefined for none. Of the keys, E04 tells them apart. */
export function tokenOf(endpoint: string, index: number, { label, auth }: Exchange) {
	if (auth === 'none') return undefined;
	const key = KEYS[`${endpoint} ${label}`];
	if (key) return TOKENS[key];
	if (auth === 'wrong token' || label === 'garbage jwt') return TOKENS.wrong;
	if (auth === 'user JWT') return TOKENS.user;
	// From "run legacy" on, the recordings of E04 were made with the key of the assistant "echo".
	return endpoint === 'E04' && index >= 25 && label !== 'plain key' ? TOKENS.echoKey : TOKENS.plain;
}
