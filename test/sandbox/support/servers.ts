import type { AssistantSeed, Filter, SandboxOptions, TokenSeed, ToolSeed } from '../../../sandbox';
import { condition } from '../../engine/support/filters';

const ECHO = 'dda5bca8-0b5c-4802-aa50-02d615f338ae';
const WAITS = 'd511212d-43e9-433f-84c8-d8cae0214e79';
const SOMEBODY = 'b1000000-0000-4000-8000-000000000003';
const SECOND_WORKSPACE = 'b1000000-0000-4000-8000-00000000000b';

/** The workspace of most of the recordings. */
export const WORKSPACE = '447809ed-4fdc-4c86-a1a8-8b028415ef3f';

const ELSEWHERE = { workspaceId: 'another workspace' };

/** The keys of the recordings by their description: that of a workspace where there is none. */
const TOKENS: Record<string, TokenSeed> = {
	user: { token: 'key-of-a-user', kind: 'plain' },
	assistant: { token: 'key-of-an-assistant', kind: 'assistant', assistantId: ECHO },
	'another assistant': { token: 'key-of-another', kind: 'assistant', assistantId: WAITS },
	'another workspace': { token: 'key-of-another-workspace', ...ELSEWHERE },
	'user, another person': {
		...{ token: 'key-of-somebody', kind: 'plain', userId: SOMEBODY },
		...ELSEWHERE,
	},
	'workspace, another person': { token: 'key-of-theirs', userId: SOMEBODY, ...ELSEWHERE },
	second: {
		...{ token: 'key-of-the-second', workspaceId: SECOND_WORKSPACE },
		userId: 'b1000000-0000-4000-8000-000000000004',
	},
	'owner 1': { token: 'key-of-owner-1', userId: 'b1000000-0000-4000-8000-000000000001' },
	'owner 2': { token: 'key-of-owner-2', userId: 'b1000000-0000-4000-8000-000000000002' },
};

const WORKSPACE_KEY = 'workspace-key';

/** The token an exchange was sent with; undefined for none. */
export function tokenFor(key: string | undefined): string | undefined {
	if (key === 'none') return undefined;
	if (key === undefined || key === 'workspace' || key === 'of a workspace') return WORKSPACE_KEY;
	return TOKENS[key]?.token ?? key;
}

/** The knowledgebases that assistants look into: of animals, of plants, of nothing, of lions, and the filtered one. */
export const LOOKED_INTO = 'b36e28a1-1253-4f39-b371-35e38b1e0579';
const ANIMALS = 'a10d0f9f-78fb-4441-99aa-1c0020315267';
const PLANTS = '1c7826fc-1424-46d4-a9b0-1b8d86c1cc93';
const NOTHING = '1c7f5114-d5b9-4ca3-b107-13f497f07b43';
const LIONS = '490460ad-c269-406c-921c-130cbcdc1ef2';
export const QUOKKAS = 'de095f18-49d3-4372-a7da-e276858fb3b5';
export const FILTERED = '1ce4c698-25dd-471c-817d-94cd2c4cce13';

const look = (knowledgebaseId: string): ToolSeed => ({
	...{ name: `retriever-${knowledgebaseId}`, knowledgebaseId },
});

const helper = (name: string, waits = false): ToolSeed => ({
	...{ name, title: name, waits },
	description: `Helps with ${name}`,
});

/** An assistant of the model that says `You said: …`. */
const said = (id: string, name: string, tools?: ToolSeed[], title = name): AssistantSeed => ({
	...{ id, name, title, description: title, answers: 'said', tools },
	...{ slug: title.toLowerCase().replaceAll(' ', '-'), workspaceId: WORKSPACE },
});

/** One of the model that answers `Answer to: …`. */
const answers = (id: string, name: string, tools: ToolSeed[]): AssistantSeed => ({
	...said(id, name, tools),
	answers: 'answers',
});

const error = '400 You exceeded your current quota (FAIL)';

const MAIL: ToolSeed = {
	...{ name: 'sendMail', description: 'Send a mail', waits: true },
	toolset: { name: 'openapi', id: '5380119a-d868-4f9d-9956-236f958bdd5f' },
};

export const MAIN = '12280b80-6642-447f-9ad9-dbbdb589e2c5';
const HELPER = { name: 'helperkmain4172', title: 'Helper', agentKey: 'Agent_hkMain4172' };

/** Why a tool of the server refused what it was given. */
const UNREADABLE = `Received tool input did not match expected schema
Details: [
  {
    "code": "invalid_type",
    "expected": "string",
    "received": "undefined",
    "path": [
      "query"
    ],
    "message": "Required"
  },
  {
    "code": "unrecognized_keys",
    "keys": [
      "input"
    ],
    "path": [],
    "message": "Unrecognized key(s) in object: 'input'"
  }
]`;

/** What the main one of them had before it got its helper (`one-question-1`). */
export const BEFORE_ITS_HELPER = answers(MAIN, 'kMain4172', [
	look(QUOKKAS),
	{
		...{ name: 'parsed_file_search', toolset: { name: 'FileUnderstandingMiddleware' } },
		fails: UNREADABLE,
	},
]);

const ASSISTANTS: AssistantSeed[] = [
	{ id: 'bb6c8464-5f99-48a8-affc-9ea8f7fdda92', name: 'echo', answers: 'said' },
	{
		...{ id: '5a66814f-af17-41fc-8c04-41ddbfb82fae', name: 'lead', answers: 'interrupt' },
		...{ asks: 'agent SubAgent', subAgentSays: 'Tool said: []', runMs: 1000 },
	},
	{ ...said(ECHO, 'G Echo'), error },
	{
		...said(
			'ee448943-1248-4351-94f7-08f3759bd74a',
			'toolmain',
			[helper('helper'), helper('other')],
			'G Uses tools',
		),
		error,
	},
	{
		...said(WAITS, 'waitsmain', [helper('subagent', true), helper('second', true)], 'G Asks first'),
		error,
	},
	said('2f812b08-2bdf-41bc-802e-9f4d7bd73396', 'asker 1ccl8', [
		{ name: 'sub', title: 'sub', description: 'sub', waits: true },
	]),
	said('25d98823-4faa-40e7-a356-740ca3dad58d', 'echo rq31f'),
	{ ...said('a36898bf-fa54-4873-98e8-f18ed3258637', 'G Remembers'), memory: true },
	{ ...said('2c4eb53b-2ebb-4d8b-8519-4ddcddedb8fd', 'G Remembers at 0.6'), memory: true },
	said('712ff2f1-ae91-4916-ad85-4893397f26b4', 'G Knows animals', [look(ANIMALS)]),
	said('9677e03f-fc39-4346-9661-dfe96f0e048f', 'G Knows animals and plants', [
		look(ANIMALS),
		look(PLANTS),
	]),
	said('77c867ff-492e-4aba-b626-b44d8117aa68', 'G Knows nothing', [look(NOTHING)]),
	said('6fe8fbeb-9672-4590-8ac1-492ac8a2c3d5', 'G Meta 76e0', [look(LIONS)]),
	said('ec2f9969-c01c-45fd-ad64-03d9317ae851', 'G Knows and has a helper', [
		look(ANIMALS),
		helper('subhelper', true),
	]),
	{
		...said('987881cc-4b27-4db0-a44c-a3002f04515c', 'G Knowledge step 2'),
		looksFirst: { agentKey: 'Knowledge_Gflow2', title: 'Look up', knowledgebaseId: ANIMALS },
	},
	said('870ea983-db22-4db8-841d-fd24f0db3efd', 'G Forgets'),
	said('be7ed798-74c9-4431-8528-34e380670c58', 'parts unvrv'),
	said('2da974fe-54cb-49dd-929a-407392de3450', 'tooler 9u9w1', [look(LOOKED_INTO)]),
	answers(MAIN, 'kMain4172', [look(QUOKKAS), HELPER]),
	answers('419450f4-75a6-4739-841e-a27dca9459dc', 'kWait6803', [MAIL]),
	{
		...answers('0ddcf62d-9361-4d30-984a-286a4cc193be', 'kStep8873', []),
		looksFirst: { agentKey: 'Know_kStep8873', title: 'Look', knowledgebaseId: QUOKKAS },
	},
	{
		...answers('d051bd2a-68f5-402f-ac31-1d175ac9c3c1', 'xpert1395', []),
		workspaceId: SECOND_WORKSPACE,
	},
];

/** A condition in three words: the field, the operator, and a JSON value or where the value is taken from. */
const where = (words: string): Filter => {
	const [field = '', operator = '', of = ''] = words.split(' ');
	const isLiteral = /^["\d]/.test(of);
	return condition(field, operator, isLiteral ? { value: JSON.parse(of) } : { selector: of });
};

/** Several of them in one group. */
const filterOf = (words: string): Filter => {
	const [, operator] = /\b(AND|OR)\b/.exec(words) ?? [];
	if (operator === undefined) return where(words);
	const children = words.split(` ${operator} `).map(where);
	return { kind: 'group', operator: operator === 'OR' ? 'or' : 'and', children };
};

const filtered = (filter: string): ToolSeed => ({
	...look(FILTERED),
	filtering: { fixed: filterOf(filter) },
});

/** The department that a question brings, or the state of the assistant. */
const OF_PERSON = 'metadata.department eq human.department';
const OF_STATE = 'metadata.department eq department';

/** The assistants whose tool finds what its filter lets it find: id, name and filter. */
const FILTERING: Array<[id: string, name: string, filter: string, more?: Partial<AssistantSeed>]> =
	[
		['5ea44652-511e-4610-8ad5-5470cb9c43f2', 'fFixed1', 'metadata.department eq "sales"'],
		['2eedd87f-4050-4929-8ad8-eb9c6960808c', 'fHuman2434', OF_PERSON],
		['f5e9f760-5edd-4253-a5b7-e9003b524cd0', 'fState4566', OF_STATE, variable('department')],
		[
			...(['7313b814-0a9c-4893-b93f-e497c582d344', 'fParam6674', OF_STATE] as const),
			{ parameters: ['department'] },
		],
		['97d6c3ab-27d1-448a-b9d1-d7a5e53ca9e1', 'fEnv1', 'metadata.department eq env.department'],
		[
			...(['1524979f-6f44-4c84-9f41-9fcdc2c1f83f', 'fFolder1'] as const),
			'document.folderPath under human.folder',
		],
		['7800c014-97b7-494b-b828-b0bfc0bef3c5', 'fYear1', 'metadata.year gte human.year'],
		['7422ffe7-190b-44e1-b377-78afe6104252', 'fFrom1', 'metadata.validFrom gte human.from'],
		['b39d3532-04fd-4fad-af6b-205fdb2d3c18', 'fLevel1', 'metadata.level eq human.level'],
		['6acbf4e4-86c7-476d-a67c-4421d4edda5b', 'fTags1', 'metadata.tags containsAny human.tags'],
		['d64b2eab-b940-42ee-a540-fa076c9bfbe8', 'fIn1', 'metadata.department in human.departments'],
		['a592421b-1221-410f-8867-3b21088a5b14', 'fSecret1', 'metadata.secret eq human.secret'],
		['20cc0e4a-6faa-4b6b-a861-ab9964525950', 'fName1', 'document.fileName startsWith human.name'],
		['8f02ad22-23f5-4847-994d-1181db5d5706', 'fIds1', 'document.id in human.ids'],
		['c2cc566e-747c-4352-9f4d-4c671e9ed710', 'fNothere1', 'metadata.nothere eq human.x'],
		[
			...(['49cd1944-b6b7-4840-9abf-f007f588c8a2', 'fDefault1', OF_STATE] as const),
			variable('department', 'sales'),
		],
		[
			...(['1a2e1729-8543-45a7-b06b-0ccf3ed81e2d', 'fOptional1'] as const),
			...(['document.folderPath under folder', variable('folder', '')] as const),
		],
		[
			...(['86793975-597d-4d6e-b35a-9aa7f0c7912f', 'fContains1'] as const),
			...(['metadata.department contains department', variable('department', '')] as const),
		],
		[
			...(['1092dcd5-9748-4db4-9b51-c97c48b4e14a', 'fOr1'] as const),
			`${OF_PERSON} OR document.folderPath under human.folder`,
		],
		[
			...(['8b7fb942-91b4-4d02-8f0f-928d8d394b65', 'fAnd1'] as const),
			`${OF_PERSON} AND metadata.year gte 2025`,
		],
		[
			...(['618262b5-a2a3-4430-97c3-ef20c8df5db4', 'fWait1948', OF_PERSON] as const),
			{ tools: [MAIL, filtered(OF_PERSON)] },
		],
		[
			...(['82702fcf-8f91-4519-b932-e8b0305e96a9', 'fWaitState1197', OF_STATE] as const),
			{ tools: [MAIL, filtered(OF_STATE)], ...variable('department') },
		],
	];

function variable(name: string, value?: string): Partial<AssistantSeed> {
	const more = value === undefined ? {} : { default: value };
	return { stateVariables: [{ name, type: 'string', title: 'd', ...more }] };
}

/** The same with a step of the workflow before them. */
const STEPS: Array<[id: string, name: string, filter: string, more?: Partial<AssistantSeed>]> = [
	['9f967562-8892-4266-8e0f-6057101a86e5', 'sHuman42', OF_PERSON],
	['be83d012-8ad9-4f07-b048-3fcf785b4a12', 'sState2953', OF_STATE, variable('department')],
	['21ad5152-f844-4cc5-8d40-27c3869a3b0a', 'sEnv4040', 'metadata.department eq env.department'],
	['71f0ed79-e000-4980-ac29-048faa08c5a4', 'sTwo1', OF_PERSON],
	['69231d2b-acd5-45ef-87b5-f7a7c784ea86', 'sWait5703', OF_PERSON, { tools: [MAIL] }],
];

ASSISTANTS.push(
	...FILTERING.map(([id, name, filter, more]) => ({
		...answers(id, name, [filtered(filter)]),
		...{ description: 'd', ...more },
	})),
	...STEPS.map(([id, name, filter, more]) => ({
		...answers(id, name, []),
		description: 'd',
		looksFirst: {
			...{ agentKey: `Know_${name}`, title: 'Look', knowledgebaseId: FILTERED },
			...{ filter: where(filter), also: name === 'sTwo1' ? [QUOKKAS] : [] },
		},
		...more,
	})),
	{
		...answers('ad191c92-9944-4b3d-8cb0-dca4f65eb5ff', 'fDyn5017', [
			{ ...look(FILTERED), filtering: { agent: { enabled: true } } },
		]),
		description: 'd',
	},
	answers('663651b2-3a88-46ad-b5e8-c6ca6e98149a', 'fTwo1', [filtered(OF_PERSON), look(QUOKKAS)]),
);

/** A server of the recordings, with all that were on one of them. */
export const RECORDED: SandboxOptions = {
	...{ accessToken: WORKSPACE_KEY, tokens: Object.values(TOKENS), assistants: ASSISTANTS },
};
