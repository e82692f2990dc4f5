import type { AssistantSeed, SandboxOptions, TokenSeed, ToolSeed } from '../../../sandbox';

const SECOND_WORKSPACE = 'b1000000-0000-4000-8000-00000000000b';
const ECHO = 'dda5bca8-0b5c-4802-aa50-02d615f338ae';
const WAITS = 'd511212d-43e9-433f-84c8-d8cae0214e79';
const WORKSPACE = '447809ed-4fdc-4c86-a1a8-8b028415ef3f';
const SOMEBODY = 'b1000000-0000-4000-8000-000000000003';

/** The keys of the recordings by their description: that of a workspace where there is none. */
const TOKENS: Record<string, TokenSeed> = {
	user: { token: 'key-of-a-user', kind: 'plain' },
	assistant: { token: 'key-of-an-assistant', kind: 'assistant', assistantId: ECHO },
	'another assistant': { token: 'key-of-another', kind: 'assistant', assistantId: WAITS },
	'another workspace': { token: 'key-of-another-workspace', workspaceId: 'another workspace' },
	'user, another person': {
		token: 'key-of-somebody',
		kind: 'plain',
		workspaceId: 'another workspace',
		userId: SOMEBODY,
	},
	'workspace, another person': {
		token: 'key-of-the-workspace-of-somebody',
		workspaceId: 'another workspace',
		userId: SOMEBODY,
	},
	second: {
		token: 'key-of-the-second',
		workspaceId: SECOND_WORKSPACE,
		userId: 'b1000000-0000-4000-8000-000000000004',
	},
	'owner 1': { token: 'key-of-owner-1', userId: 'b1000000-0000-4000-8000-000000000001' },
	'owner 2': { token: 'key-of-owner-2', userId: 'b1000000-0000-4000-8000-000000000002' },
};

/** The workspace of most of the recordings. */
export const RECORDED_WORKSPACE = '447809ed-4fdc-4c86-a1a8-8b028415ef3f';

/** The tokens of a server of the recordings. */
export const KEYS = {
	accessToken: 'workspace-key',
	tokens: Object.values(TOKENS),
} satisfies SandboxOptions;

/** The token an exchange was sent with; undefined for none. */
export function tokenFor(key: string | undefined): string | undefined {
	if (key === 'none') return undefined;
	if (key === undefined || key === 'workspace' || key === 'of a workspace') return KEYS.accessToken;
	return TOKENS[key]?.token ?? key;
}

/** The key of an agent that was given none of its own. */
const keyOf = (made: string) => `Agent_${made}`;

/** An agent that has one name for all. */
const named = (title: string) => ({
	title,
	description: title,
	slug: title.toLowerCase().replaceAll(' ', '-'),
	workspaceId: WORKSPACE,
});

const helper = (name: string, waits = false) => ({
	name,
	title: name,
	description: `Helps with ${name}`,
	waits,
});

/** What the model of the later recordings answers when it is asked to fail. */
const error = '400 You exceeded your current quota (FAIL)';

/** An agent that was given a name of its own. */
const agent = (made: string) => ({
	agentKey: `Agent_${made}`,
	agentName: `${made}main`,
	prompt: 'You are a test assistant.',
});

/** What the model of some of them counts, whatever it is asked. */
const COUNTS: [number, number] = [5, 5];

/** The assistants of the recordings of 22 November: one that echoes, one with helpers, one that asks before it calls them. */
const ASSISTANTS: AssistantSeed[] = [
	{
		id: ECHO,
		name: 'G Echo',
		...named('G Echo'),
		...agent('echo'),
		answers: 'said',
		error,
	},
	{
		id: 'ee448943-1248-4351-94f7-08f3759bd74a',
		name: 'toolmain',
		...named('G Uses tools'),
		...agent('tooluser'),
		answers: 'said',
		tools: [helper('helper'), helper('other')],
		error,
	},
	{
		id: WAITS,
		name: 'waitsmain',
		...named('G Asks first'),
		...agent('waits'),
		answers: 'said',
		tools: [helper('subagent', true), helper('second', true)],
		error,
	},
	{
		id: '2f812b08-2bdf-41bc-802e-9f4d7bd73396',
		name: 'asker 1ccl8',
		...named('asker 1ccl8'),
		agentKey: keyOf('jouczo9qfj'),
		answers: 'said',
		tools: [{ name: 'sub', ...named('sub'), waits: true }],
		counts: COUNTS,
	},
];

/** Assistants that only repeat the message. */
const echoing = (id: string, made: string, name: string): AssistantSeed => ({
	id,
	name,
	...named(name),
	agentKey: keyOf(made),
	answers: 'said',
});

/** An assistant that has a memory with an embedding model. */
const remembering = (id: string, name: string, made: string): AssistantSeed => ({
	...echoing(id, made, name),
	...agent(made),
	memory: true,
});

/** The knowledgebase that one of them looks into, and those of `sources`: of animals, of plants, of nothing, of lions. */
export const LOOKED_INTO = 'b36e28a1-1253-4f39-b371-35e38b1e0579';
const ANIMALS = 'a10d0f9f-78fb-4441-99aa-1c0020315267';
const PLANTS = '1c7826fc-1424-46d4-a9b0-1b8d86c1cc93';
const NOTHING = '1c7f5114-d5b9-4ca3-b107-13f497f07b43';
const LIONS = '490460ad-c269-406c-921c-130cbcdc1ef2';

/** An assistant that looks into knowledgebases. */
const knowing = (id: string, made: string, name: string, ...into: string[]): AssistantSeed => ({
	...echoing(id, made, name),
	...agent(made),
	tools: into.map((knowledgebaseId) => ({ name: `retriever-${knowledgebaseId}`, knowledgebaseId })),
});

/** A step of a workflow that looks into a knowledgebase. */
const step = (made: string, knowledgebaseId: string) => ({
	agentKey: `Knowledge_${made}`,
	title: 'Look up',
	knowledgebaseId,
});

const helped = knowing(
	'ec2f9969-c01c-45fd-ad64-03d9317ae851',
	'knowsHelper',
	'G Knows and has a helper',
	ANIMALS,
);

ASSISTANTS.push(
	{
		...echoing('25d98823-4faa-40e7-a356-740ca3dad58d', 'ao9dqik20s', 'echo rq31f'),
		counts: COUNTS,
	},
	remembering('a36898bf-fa54-4873-98e8-f18ed3258637', 'G Remembers', 'remembers'),
	remembering('2c4eb53b-2ebb-4d8b-8519-4ddcddedb8fd', 'G Remembers at 0.6', 'remembers6'),
	knowing('712ff2f1-ae91-4916-ad85-4893397f26b4', 'knows', 'G Knows animals', ANIMALS),
	knowing(
		'9677e03f-fc39-4346-9661-dfe96f0e048f',
		'knows2',
		'G Knows animals and plants',
		ANIMALS,
		PLANTS,
	),
	knowing('77c867ff-492e-4aba-b626-b44d8117aa68', 'knowsNothing', 'G Knows nothing', NOTHING),
	knowing('6fe8fbeb-9672-4590-8ac1-492ac8a2c3d5', 'metaKnowsefaa', 'G Meta 76e0', LIONS),
	{ ...helped, tools: [...(helped.tools ?? []), helper('subhelper', true)] },
	{
		...echoing('987881cc-4b27-4db0-a44c-a3002f04515c', 'knowsFlow2', 'G Knowledge step 2'),
		...agent('knowsFlow2'),
		prompt: 'Answer from: {found}',
		looksFirst: step('Gflow2', ANIMALS),
	},
	echoing('870ea983-db22-4db8-841d-fd24f0db3efd', 'forgets', 'G Forgets'),
	{
		...echoing('be7ed798-74c9-4431-8528-34e380670c58', 'nib0vlt9wb', 'parts unvrv'),
		counts: COUNTS,
	},
	{
		...echoing('2da974fe-54cb-49dd-929a-407392de3450', 'lah52tup4i', 'tooler 9u9w1'),
		tools: [{ name: `retriever-${LOOKED_INTO}`, knowledgebaseId: LOOKED_INTO }],
		counts: COUNTS,
	},
);

/** What the server of the recordings with times had before a sequence began. */
export const RECORDED_LATER: SandboxOptions = {
	...KEYS,
	assistants: ASSISTANTS,
};

/** The knowledgebase of the recordings from `one-question-1` on. */
export const QUOKKAS = 'de095f18-49d3-4372-a7da-e276858fb3b5';

export const later = (id: string, name: string, tools: ToolSeed[]): AssistantSeed => ({
	...echoing(id, name, name),
	description: null,
	prompt: 'You are a test assistant.',
	answers: 'answers',
	counts: 'words',
	tools,
});

export const looksInto = (knowledgebaseId: string): ToolSeed => ({
	name: `retriever-${knowledgebaseId}`,
	knowledgebaseId,
});

/** Why a tool of the server refused what it was given. */
const UNREADABLE = `Received tool input did not match expected schema
Details: ${JSON.stringify(
	[
		{
			code: 'invalid_type',
			expected: 'string',
			received: 'undefined',
			path: ['query'],
			message: 'Required',
		},
		{
			code: 'unrecognized_keys',
			keys: ['input'],
			path: [],
			message: "Unrecognized key(s) in object: 'input'",
		},
	],
	undefined,
	2,
)}`;

const MAIN = '12280b80-6642-447f-9ad9-dbbdb589e2c5';
const HELPER: ToolSeed = {
	name: 'helperkmain4172',
	title: 'Helper',
	agentKey: keyOf('hkMain4172'),
};

/** What the main one of them had before it got its helper (`one-question-1`). */
export const BEFORE_ITS_HELPER = later(MAIN, 'kMain4172', [
	looksInto(QUOKKAS),
	{
		name: 'parsed_file_search',
		toolset: { name: 'FileUnderstandingMiddleware' },
		fails: UNREADABLE,
	},
]);

const second = later('d051bd2a-68f5-402f-ac31-1d175ac9c3c1', 'xpert1395', []);
/** The knowledgebase whose searches are filtered. */
export const FILTERED = '1ce4c698-25dd-471c-817d-94cd2c4cce13';

/** What the server of the recordings from `one-question-1` on had before a sequence began. */
export const RECORDED_LAST: SandboxOptions = {
	...KEYS,
	assistants: [
		later(MAIN, 'kMain4172', [looksInto(QUOKKAS), HELPER]),
		later('419450f4-75a6-4739-841e-a27dca9459dc', 'kWait6803', [
			{
				name: 'sendMail',
				description: 'Send a mail',
				waits: true,
				toolset: { name: 'openapi', id: '5380119a-d868-4f9d-9956-236f958bdd5f' },
			},
		]),
		{
			...later('0ddcf62d-9361-4d30-984a-286a4cc193be', 'kStep8873', []),
			prompt: 'Context: {found}',
			looksFirst: { agentKey: 'Know_kStep8873', title: 'Look', knowledgebaseId: QUOKKAS },
		},
		{ ...second, workspaceId: SECOND_WORKSPACE },
	],
};
