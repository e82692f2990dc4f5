import { kebabCase, reject } from 'lodash';
import type { Filter } from './filters';
import seeds from './seeds.json';

/**
 * How an assistant answers: from the processed documents; by repeating the question; as the recorded one does
 * (`You said: … [users seen: 1]`, which takes 6 s when told SLOW6000 and fails when told FAIL), or as the one that was
 * recorded later (`Answer to: …`); never; or only after a person has decided whether a sub agent may be called.
 */
export type AnswerMode = 'documents' | 'echo' | 'said' | 'answers' | 'fail' | 'interrupt';

/**
 * A tool of an assistant: a helper agent, or, with `knowledgebaseId`, a look into that knowledgebase. A person is asked
 * before one that `waits` is called.
 */
export interface ToolSeed {
	name: string;
	title?: string;
	description?: string;
	waits?: boolean;
	knowledgebaseId?: string;
	/** What a helper is called among agents. */
	agentKey?: string;
	/** The set of tools that a call of an interface belongs to: it answers with what it was given. */
	toolset?: { name: string; id?: string };
	/** What it wants that nobody gives it: every call of it fails for this reason. */
	fails?: string;
	/** What it finds at most, and whether its model may narrow that. */
	filtering?: Filtering;
}

/** How a search is filtered, as `agentConfig.retrievals` and a step have it. */
export interface Filtering {
	fixed?: Filter;
	agent?: { enabled: boolean };
}

/** A variable of an assistant's state: what a question gives it stays on the thread. */
export interface StateVariable {
	name: string;
	type: string;
	title?: string;
	default?: unknown;
}

/** A step of a workflow that looks into knowledgebases before its assistant is asked. */
export interface StepSeed {
	agentKey: string;
	title: string;
	knowledgebaseId: string;
	also?: string[];
	filter?: Filter;
}

/** An assistant to have from the start; everything but the name has a default. */
export interface AssistantSeed {
	id?: string;
	name: string;
	slug?: string;
	title?: string;
	description?: string | null;
	workspaceId?: string;
	type?: string;
	agentKey?: string;
	answers?: AnswerMode;
	looksFirst?: StepSeed | null;
	stateVariables?: StateVariable[] | null;
	/** The names of its agent's parameters, which stay on the thread as state variables do; nobody is shown them. */
	parameters?: string[] | null;
	/** The tokens that its model counts of what it was told and of what it said, where it counts: always the same. */
	counts?: [input: number, output: number] | null;
	error?: string | null;
	/** What a person is asked before a sub agent is called. */
	asks?: string;
	/** What the sub agent says instead of what it was asked. */
	subAgentSays?: string | null;
	/** The helpers it has instead of that sub agent. */
	tools?: ToolSeed[] | null;
	/** Whether its memory has an embedding model of its own, where the sandbox has none for all. */
	memory?: boolean;
	/** How long its runs take, in milliseconds, instead of what the sandbox was started with. */
	runMs?: number | null;
}

/** A seeded assistant with all its fields filled in. */
export type Assistant = Required<AssistantSeed> & { id: string; createdAt: string };

/** The workspace all seeded assistants live in; E1 takes it as `workspaceId`. */
export const WORKSPACE_ID = 'b0000000-0000-4000-8000-000000000001';

/** A copilot that E1 and E2 take in `copilotModel.copilotId`: the knowledgebase then has an embedding model. */
export const COPILOT_ID = 'c0000000-0000-4000-8000-000000000001';

export const SANDBOX_ASSISTANT_ID = 'd0000000-0000-4000-8000-000000000001';

export const ECHO_ASSISTANT_ID = 'd0000000-0000-4000-8000-000000000002';

export const BROKEN_ASSISTANT_ID = 'd0000000-0000-4000-8000-000000000003';

/**
 * An assistant that asks a person before it answers. It is not among those a sandbox has from the start:
 * give it to `store.putAssistant`. Any other assistant asks too, when told a text that begins as
 * `INTERRUPTING_INPUT` does.
 */
export const INTERRUPTING_ASSISTANT = {
	id: 'd0000000-0000-4000-8000-000000000004',
	name: 'careful',
	title: 'Careful',
	description: 'Asks a person before it answers.',
	answers: 'interrupt',
} as const satisfies AssistantSeed;

/** The assistant of the recordings; as the one above, it has to be given to `store.putAssistant`. */
export const SAYING_ASSISTANT = {
	id: 'd0000000-0000-4000-8000-000000000005',
	name: 'saying',
	title: 'Saying',
	description: 'Says what it was told, as slowly as it was told, and fails when told to FAIL.',
	answers: 'said',
} as const satisfies AssistantSeed;

/** The id of the assistant that answers from the documents of one department alone. */
export const DEPARTMENT_ASSISTANT_ID = 'd0000000-0000-4000-8000-000000000006';

/** A knowledgebase of a fresh sandbox, for workflows that know it by its id; its embedding model is usable. */
export const SANDBOX_KNOWLEDGEBASE_ID = 'e0000000-0000-4000-8000-000000000001';

interface KnowledgebaseSeed {
	id: string;
	name: string;
	description: string;
	copilotModelId: string;
}

/** `examples` has the names of the knowledgebases that examples fill, by the numbers of these. */
const { examples, ...others } = seeds as {
	assistants: AssistantSeed[];
	knowledgebase: KnowledgebaseSeed;
	examples: Record<string, string>;
	copilotModels: Record<string, Record<string, string>>;
	items: Array<{ namespace: string[]; key: string; value: unknown }>;
};

const { copilotModelId } = others.knowledgebase;
/** A knowledgebase for each example that fills one: none answers from what another one submits. */
const OF_EXAMPLES: KnowledgebaseSeed[] = Object.entries(examples).map(([number, name]) => ({
	id: `e0000000-0000-4000-8000-${number.padStart(12, '0')}`,
	name,
	description: `What example ${Number(number)} submits.`,
	copilotModelId,
}));

const isAnswered = ({ id }: KnowledgebaseSeed): boolean =>
	others.assistants.some(({ tools }) => tools?.some((tool) => tool.knowledgebaseId === id));

/** An assistant for each of them that has none yet. */
const ANSWERING: AssistantSeed[] = reject(OF_EXAMPLES, isAnswered).map(({ id, name }) => ({
	id: id.replace('e0000000', 'd0000000').replace('-0000000000', '-0000000001'),
	name,
	slug: kebabCase(name),
	description: 'Answers from what the example of this name submits.',
	tools: [{ name: `retriever-${id}`, knowledgebaseId: id }],
}));

/** What a fresh sandbox has. Its items are under the namespace of the default assistant. */
export const SEEDS = {
	...others,
	assistants: [...others.assistants, ...ANSWERING],
	knowledgebases: [others.knowledgebase, ...OF_EXAMPLES],
};
