import { passagesIn } from './retriever';
import { drip, type Reply, type Turn } from './recordedModel';

/** So much of what its tools said it repeats. */
const LONGEST = 1500;

/** How many words come before a model breaks off (`one-question-2` "model fails after the first words"). */
const FIRST = 3;

/** The words that tell the model what to do. */
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
export function laterReply(turn: Turn, error = FAILURE): Reply {
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

/** The first passage that was found, in one line, with its link. */
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
