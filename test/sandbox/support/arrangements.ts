import type { AssistantSeed, Sandbox, SandboxOptions } from '../../../sandbox';
import type { Exchange } from './recordings';

/** From the exchange with this number on, a fresh sandbox with these options is used. */
interface Stage {
	from: number;
	options: SandboxOptions;
}

const HELPER = 'b284bffb-6e25-4e87-b20a-3efb5b0907ec';
const ECHO = '23eefbc6-3531-42c6-8618-c205c6582ece';

const NO_ASSISTANTS: SandboxOptions = {
	tokens: [
		{ token: 'plain', kind: 'plain' },
		{ token: 'workspace' },
		{ token: 'helper', kind: 'assistant', assistantId: HELPER },
		{ token: 'echo', kind: 'assistant', assistantId: ECHO },
		{ token: 'user JWT', kind: 'user' },
	],
	assistants: [],
};

const assistant = (id: string, title: string, answers: AssistantSeed['answers']) => ({
	...{ id, title, answers, name: title.toLowerCase() },
	workspaceId: 'da115e24-f183-4ffe-a3a0-7db1dd4b2572',
});
const TWO_ASSISTANTS: SandboxOptions = {
	...NO_ASSISTANTS,
	assistants: [assistant(HELPER, 'Helper', 'fail'), assistant(ECHO, 'Echo', 'echo')],
};
const NO_MODEL: SandboxOptions = { ...NO_ASSISTANTS, embeddingModel: false };

const first: Stage = { from: 0, options: NO_ASSISTANTS };

/** Where a recording was made on more than one server. */
export const STAGES: Record<string, Stage[]> = {
	...Object.fromEntries(
		['E01', 'E02', 'E03', 'E05', 'E06', 'E10', 'E12', 'E13', 'E14', 'E15', 'E16', 'E17'].map(
			(endpoint) => [endpoint, [first]],
		),
	),
	E04: [first, { from: 9, options: TWO_ASSISTANTS }],
	E07: [first, { from: 7, options: TWO_ASSISTANTS }],
	E08: [
		{ from: 0, options: TWO_ASSISTANTS },
		{ from: 17, options: NO_MODEL },
	],
	E09: [first, { from: 6, options: TWO_ASSISTANTS }],
	E11: [
		{ from: 0, options: NO_MODEL },
		{ ...first, from: 17 },
	],
};

const UNKNOWN = ['11111111-1111-4111-8111-111111111111', '99999999-9999-4999-8999-999999999999'];

/** The ids that stand in the paths of an endpoint's exchanges, but for those recorded as unknown. */
const idsInPaths = (exchanges: Exchange[]) =>
	new Set(
		exchanges
			.flatMap(
				({ request }) => request.path.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/) ?? [],
			)
			.filter((id) => !UNKNOWN.includes(id)),
	);

type Arrange = (sandbox: Sandbox, exchanges: Exchange[], from: number) => void;

const knowledgebases: Arrange = ({ store }, exchanges) => {
	for (const id of idsInPaths(exchanges))
		store.putKnowledgebase({ id, name: `Knowledgebase ${id}` });
};
const conversations: Arrange = ({ store }, exchanges) => {
	for (const threadId of idsInPaths(exchanges)) store.putConversation({ threadId });
};

/** What each endpoint's recordings found on the server. */
const FOUND: Record<string, Arrange> = {
	E01: ({ store }) =>
		void store.putKnowledgebase({
			...{ id: '99ec0a74-1a54-4921-9567-2bc9f99da8f3', name: 'to be overwritten' },
		}),
	E02: ({ store }) => {
		store.putKnowledgebase({
			...{ id: '335ccdfa-d2bb-4f15-9f4a-2b180f46d737', name: 'KB full', documentNum: 1 },
			...{ type: 'standard', description: 'd', permission: 'organization' },
		});
		store.putKnowledgebase({ name: 'KB badperm' });
	},
	E03: (sandbox, exchanges, from) => {
		knowledgebases(sandbox, exchanges, from);
		for (const [id, knowledgebaseId] of [
			['2f78e81b-096f-42ff-8ac0-8403fd81392d', '86790ce8-48a1-4942-b092-7fc2d1815761'],
			['adb7c5c7-d28e-4da0-8210-752a38627122', '1ad7a22c-fa18-42ff-a5d0-b5be53eab8b1'],
		] as const)
			sandbox.store.putDocument({ id, knowledgebaseId, name: 'before' });
	},
	E04: (sandbox, exchanges, from) => {
		conversations(sandbox, exchanges, from);
		if (from === 0) return;
		// The thread of "retry after error": its first run failed.
		const threadId = '8fabf328-18dc-4d80-8f36-c4c495a38571';
		const { store } = sandbox;
		const failed = { xpertId: ECHO, status: 'error', error: 'BOOM' };
		Object.assign(store.conversationOf(threadId) ?? {}, failed);
		store.putThread({ threadId, assistantId: ECHO, status: 'error', input: 'BOOM' });
	},
	E05: ({ store }, exchanges) => {
		const all = exchanges.find((one) => one.label === 'empty')?.response.body;
		for (const item of (all as { items: Array<Record<string, unknown>> }).items)
			store.putConversation(item);
	},
	E08: ({ store }, _exchanges, from) => {
		if (from > 0) return;
		store.putItem([ECHO, 'u1'], 'k1', { n: 1, color: 'blue' });
		store.putItem([ECHO, 'u1'], 'k2', { n: 2, color: 'red' });
		store.putItem([ECHO, 'u2', 'deep'], 'k1', { color: 'blue' });
		store.putItem([ECHO, 'u3'], 'k1', 'str');
	},
	E10: conversations,
	E13: ({ store }) =>
		void store.putConversation({ id: '7b8a0000-0000-4000-8000-000000000000', title: 'other' }),
	// The file context of "by storageFileId" has an id of its own that E14 does not take.
	E14: ({ store }, exchanges) => {
		const recorded = exchanges.find((one) => one.label === 'by storageFileId');
		const [, id = ''] = /file\/(.*)$/.exec(recorded?.request.path ?? '') ?? [];
		store.putFile({ id, originalName: 'hello.txt', size: 11, url: '' });
		store.contexts.set(id, { id: 'd5550000-0000-4000-8000-000000000000', storageFileId: id });
	},
	E15: conversations,
	E17: knowledgebases,
};

/** Puts onto the sandbox what an endpoint's recordings found on the server. */
export const arrangeEndpoint = (
	endpoint: string,
	from: number,
	sandbox: Sandbox,
	exchanges: Exchange[],
): void => FOUND[endpoint]?.(sandbox, exchanges, from);

/** Keys other than the plain one, where the label or the course of the recording says so. */
const KEYS: Record<string, string> = {
	'E01 wrong cs token': 'cs-x-wrong',
	'E04 run assistant key': 'helper',
	'E04 run workspace key': 'workspace',
	'E04 other assistant on bound thread': 'workspace',
	'E07 assistant key': 'echo',
	'E07 workspace key': 'workspace',
	'E09 assistant key': 'echo',
	'E09 workspace key': 'workspace',
};

/** The token an exchange was recorded with; undefined for none. Of the keys, E04 tells them apart. */
export function tokenOf(
	endpoint: string,
	index: number,
	{ label, auth }: Pick<Exchange, 'label' | 'auth'> = { label: '', auth: '' },
): string | undefined {
	if (auth === 'none') return undefined;
	const key = KEYS[`${endpoint} ${label}`];
	if (key !== undefined) return key;
	if (auth === 'wrong token' || label === 'garbage jwt') return 'wrong';
	if (auth === 'user JWT') return auth;
	// From "run legacy" on, the recordings of E04 were made with the key of the assistant "echo".
	return endpoint === 'E04' && index >= 25 && label !== 'plain key' ? 'echo' : 'plain';
}
