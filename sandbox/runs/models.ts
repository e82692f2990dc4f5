import type { ToolCall } from '../entities';
import type { AnswerMode, Assistant, ToolSeed } from '../seed';
import { passagesIn } from './retriever';

/** What a model is told when its turn comes. */
export interface Turn {
	/** What a person said last, and what stands before it of the files beside it. */
	text: string;
	attachments: string;
	/** All that persons have said so far, this included. */
	heard: string[];
	/** How often it has called tools for this, and what they said last when it is their answer that it is told. */
	rounds: number;
	toolsSaid?: string[];
	rejected: boolean;
	isAgain: boolean;
	tools: string[];
}

/** What a model says: words, then calls of tools; or words, and then it fails. */
export interface Reply {
	text: string;
	reasoning?: string;
	/** The time before each word, in milliseconds; without it all comes at once. */
	drip?: number;
	calls?: Call[];
	error?: string;
}

interface Call {
	name: string;
	args: Record<string, unknown>;
}

/** Why a run fails when the recorded model is told FAIL (`runs` "the model fails"). */
const RECORDED_FAILURE = '500 fake model failure: quota exceeded';

/** Models that break off after their first words, and why (`background` "E4 whose model fails after the first words"). */
const BREAKS_OFF: Record<string, string> = {
	FAILERR: 'The server had an error (FAILERR)',
	FAILMID: 'terminated',
};

/** What a model hears of a call that a person has rejected (`decisions` "the next question on that thread"). */
const REJECTED = 'Error: Reject by user';

const FIRST_WORDS = 'These words came first. ';

/** The words that tell the model what to do, and are no part of what it hands to a tool. */
const RECORDED_COMMANDS = /\b(?:SAY\b|ASK\b(?: BOTH\b)?|USETOOL\([^)]*\)|PAR\([^)]*\))/g;

/** What the tools that look into knowledgebases are called begins so. */
const LOOKS = 'retriever-';

/** How long the model thinks: 6 s for `SLOW6000`. */
export function slowness(text: string): number | undefined {
	const [, ms] = /SLOW(\d+)/.exec(text) ?? [];
	return ms === undefined ? undefined : Number(ms);
}

/**
 * What the model of the recordings says. It does what it is told: `USETOOL(a)` calls a tool, the second one when the
 * first has answered, `PAR(a|b)` two at once, `ASK` looks into its knowledgebase and `ASK BOTH` into all it has, with
 * words before it when told to `SAY` something; `CITE` says what was found, with where it stands; `RECALL` says all it
 * has heard, `SHOWALL` all it was told, `LONG24 DRIP250` so many words with pauses, `EMPTY` nothing, `REASON` thinks first, and
 * `FAIL…` fails.
 */
function recordedReply(turn: Turn, error: string = RECORDED_FAILURE): Reply {
	const { text, attachments, heard, toolsSaid } = turn;
	const broken = Object.keys(BREAKS_OFF).find((word) => text.includes(word));
	if (broken) return { text: FIRST_WORDS, error: BREAKS_OFF[broken] };
	if (text.includes('FAIL')) return { text: '', error };
	const called = recordedCalls(turn);
	if (called.length > 0) {
		const names = called.map(({ wanted }) => wanted).join(' and ');
		const calls = called.map(({ call }) => call);
		const first = names === '' ? 'Let me look that up. ' : `Let me use ${names}. `;
		return { text: text.includes('SAY') ? first : '', calls };
	}
	if (toolsSaid && text.includes('CITE')) return { text: allCited(toolsSaid) };
	const told = toolsSaid ?? (turn.rejected ? [REJECTED] : undefined);
	if (told) return { text: `Tool said: ${told.join('\n')}` };
	// The server makes nothing of an answer in parts, be they texts or images (`answers-in-parts`).
	if (/EMPTY|PARTS/.test(text)) return { text: '' };
	if (text.includes('SHOWALL')) return { text: `ALL: ${heard.join(' | ')}` };
	if (text.includes('RECALL')) return { text: `I heard: ${heard.join(' | ')}` };
	const [, count] = /LONG(\d+)/.exec(text) ?? [];
	if (count) return { text: words(Number(count)), drip: drip(text) };
	const reasoning = text.includes('REASON') ? 'First I think.' : undefined;
	return { text: `You said: ${attachments}${text} [users seen: ${heard.length}]`, reasoning };
}

const words = (count: number): string =>
	Array.from({ length: count }, (_, place) => `word${place + 1}`).join(' ');

const drip = (text: string): number => Number(/DRIP(\d+)/.exec(text)?.[1] ?? 0);

/** The first sentence of the best passage of each look, with its link; of helpers all that they have said. */
const allCited = (toolsSaid: string[]): string =>
	`Here is what I found: ${toolsSaid.map(bestOf).join('. ')}.`;

function bestOf(toolSaid: string): string {
	const passages = passagesIn(toolSaid);
	if (passages === undefined) return `(no JSON: ${toolSaid})`;
	const [best] = passages;
	if (best === undefined) return '(no chunks)';
	const [sentence] = best.content.replace(/^#.*\n/, '').split('. ');
	return `${sentence} ${best.citationMarkdown}`;
}

/**
 * The tools that come next by what a person said: a name stands for the tool that begins with it. A look that is not
 * asked for by name has none.
 */
function recordedCalls(turn: Turn): Array<{ wanted: string; call: Call }> {
	const { text, rounds, tools } = turn;
	const rest = text.replace(RECORDED_COMMANDS, '').trim() || 'go';
	if (rounds === 0 && /\bASK\b/.test(text)) {
		const looks = tools.filter((tool) => tool.startsWith(LOOKS));
		const args = { input: rest, query: rest };
		return looks
			.slice(0, text.includes('BOTH') ? undefined : 1)
			.map((name) => ({ wanted: '', call: { name, args } }));
	}
	const groups = [...text.matchAll(/(?:USETOOL|PAR)\(([^)]*)\)/g)].map(([, names = '']) =>
		names.split('|'),
	);
	return (groups[rounds] ?? []).flatMap((wanted, place, all) => {
		const name = tools.find((tool) => tool.startsWith(wanted));
		const input = all.length > 1 ? `${rest} #${place + 1}` : rest;
		return name === undefined ? [] : { wanted, call: { name, args: { input, query: rest } } };
	});
}

const LONGEST = 1500;

const FIRST = 3;

const COMMANDS = /\b(?:SAY|ASKLOOK|LOOKASK|ASK|HELP|LOOK|CITE)\b/g;

/** What it hands over when it is told two commands in one word, whatever comes after it (`filters-confirm`). */
const BOTH = { LOOK: { input: 'budget gold coins' }, ASK: { to: 'first@x.y', text: 'first' } };

/** A filter of its own that it is told to make (`knowledge-filter-2` "agent filter hr"). */
const DYNAMIC = /^(.*?) DYN (\{.*\})$/;

/** What is called next when the model is told so: its own words before it, and what it hands over. */
const CALLS = {
	LOOK: {
		says: 'Let me look that up. ',
		named: /^retriever-/,
		args: (rest: string) => ({ input: rest }),
	},
	HELP: {
		says: 'Let me ask the helper. ',
		named: /^(?!retriever-)/,
		args: (rest: string) => ({ input: `subtask ${rest}` }),
	},
	ASK: {
		says: 'Let me send that. ',
		named: /^/,
		args: (_rest: string, text: string) => ({ to: 'first@x.y', text: `first ${text}` }),
	},
};

/** Why it fails when it is told to, and when it is told to do so once. */
const FAILURE = '400 the model failed on purpose';
const FAILED_ONCE = '400 the model failed once on purpose';

/**
 * What the model of the recordings from `one-question-1` on says. It does what it is told: `LOOK` looks into its
 * knowledgebase, `HELP` calls its helper and `ASK` its other tool, with words before it when told to `SAY` something;
 * `CITE` says what was found with its link, `RECALL` all it has heard before; `LONG60 DRIP200` says so many words with
 * pauses, `EMPTY` nothing; `FAIL` fails, `FAILONCE` the first time, and `FAILMID` after some words.
 */
function laterReply(turn: Turn, error = FAILURE): Reply {
	const { text, attachments, heard, toolsSaid, isAgain } = turn;
	const pause = drip(text);
	if (text.includes('FAILMID')) {
		return {
			text: wordsOf(text)
				.split(/(?<= )/)
				.slice(0, FIRST)
				.join(''),
			drip: pause,
			error: 'terminated',
		};
	}
	const isOnce = text.includes('FAILONCE');
	if (isOnce && !isAgain) return { text: '', error: FAILED_ONCE };
	if (text.includes('FAIL') && !isOnce) return { text: '', error };
	const call = callOf(turn);
	if (call) return call;
	if (toolsSaid)
		return {
			text: text.includes('CITE')
				? cited(toolsSaid)
				: `RESULT: ${toolsSaid.join(' || ').slice(0, LONGEST)}`,
			drip: pause,
		};
	if (text.includes('EMPTY')) return { text: '' };
	if (text.includes('RECALL')) return { text: `I recall: ${heard.slice(0, -1).join(' | ')}` };
	if (text.includes('LONG')) return { text: wordsOf(text), drip: pause };
	return { text: `Answer to: ${attachments}${text}` };
}

function wordsOf(text: string): string {
	const count = Number(/LONG(\d+)/.exec(text)?.[1]);
	return `${Array.from({ length: count }, (_, place) => `w${place}`).join(' ')}.`;
}

function cited(toolsSaid: string[]): string {
	const [best] = toolsSaid.flatMap((said) => passagesIn(said) ?? []);
	return best ? `Found: ${best.content} ${best.citationMarkdown}` : 'Found: nothing';
}

const isLook = (tool: string) => tool.startsWith('retriever-');

const NAMES = ['LOOK', 'HELP', 'ASK'] as const;

/** The calls that come next; a look is one into each knowledgebase (`knowledge-filter-6` "tool, two knowledgebases"). */
function callOf({ text, tools, rounds }: Turn): Reply | undefined {
	const [, both] = /\b(ASKLOOK|LOOKASK)\b/.exec(text) ?? [];
	const next = both?.match(/ASK|LOOK/g)?.[rounds] as keyof typeof BOTH | undefined;
	if (both !== undefined) {
		const name = tools.find((tool) => isLook(tool) === (next === 'LOOK'));
		return next && name !== undefined
			? { text: '', calls: [{ name, args: BOTH[next] }] }
			: undefined;
	}
	if (rounds > 0) return undefined;
	const [, asked = '', filter] = DYNAMIC.exec(text) ?? [];
	if (filter !== undefined) {
		const args = { input: asked, dynamicFilter: JSON.parse(filter) as unknown };
		return { text: '', calls: tools.filter(isLook).map((name) => ({ name, args })) };
	}
	const command = NAMES.find((one) => new RegExp(`\\b${one}\\b`).test(text));
	if (!command) return undefined;
	const { says, named, args } = CALLS[command];
	const found = tools.filter((tool) => named.test(tool));
	const names = command === 'LOOK' ? found : found.slice(0, 1);
	if (names.length === 0) return undefined;
	const rest = text
		.replace(COMMANDS, '')
		.replace(/SLOW\d+/, '')
		.replace(/ +/g, ' ')
		.trim();
	const calls = names.map((name) => ({ name, args: args(rest, text) }));
	return { text: text.includes('SAY') ? says : '', calls };
}

/** The sub agent that an assistant calls when a person agrees, by the name of its tool. */
export const SUB_AGENT = 'subagent';

/** The models of the recordings, which helpers have as well. */
export const MODELS: Partial<Record<AnswerMode, (turn: Turn, error?: string) => Reply>> = {
	said: recordedReply,
	answers: laterReply,
};

/** The sub agent that any assistant has which was given no tools, and any that is made to ask. */
const subAgent = ({ asks }: Assistant): ToolSeed => ({
	name: SUB_AGENT,
	title: 'SubAgent',
	description: asks,
	waits: true,
});

export const toolsOf = (assistant: Assistant): ToolSeed[] =>
	assistant.tools ?? [subAgent(assistant)];

export const toolOf = (assistant: Assistant, { name }: ToolCall): ToolSeed =>
	toolsOf(assistant).find((tool) => tool.name === name) ?? subAgent(assistant);

/** What a sub agent says when it is called; the sandbox's own repeats what came with the decision. */
export function toolSays(assistant: Assistant, { args }: ToolCall, payload?: unknown): Reply {
	if (assistant.subAgentSays !== null) return { text: assistant.subAgentSays };
	const text = String(args.input).replace(/\s+/g, ' ');
	const model = MODELS[assistant.answers];
	if (!model) {
		return {
			text: `Confirmed: ${text}${payload === undefined ? '' : ` ${JSON.stringify(payload)}`}`,
		};
	}
	return model({
		text,
		attachments: '',
		heard: [text],
		rounds: 0,
		rejected: false,
		isAgain: false,
		tools: [],
	});
}
