import { passagesIn } from './retriever';
import { drip, type Reply, type Turn } from './recordedModel';

/** How many words come before a model breaks off (`one-question-2` "model fails after the first words"). */
const FIRST = 3;

/** The words that tell the model what to do. */
const COMMANDS = /\b(?:SAY|ASK|HELP|LOOK|CITE)\b/g;

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
	if (toolsSaid)
		return {
			text: text.includes('CITE') ? cited(toolsSaid) : `RESULT: ${toolsSaid.join('\n')}`,
			drip: pause,
		};
	const call = callOf(turn);
	if (call) return call;
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

function callOf({ text, tools, rounds }: Turn): Reply | undefined {
	const command = (['LOOK', 'HELP', 'ASK'] as const).find((one) =>
		new RegExp(`\\b${one}\\b`).test(text),
	);
	if (rounds > 0 || !command) return undefined;
	const { says, named, args } = CALLS[command];
	const name = tools.find((tool) => named.test(tool));
	if (name === undefined) return undefined;
	const rest = text
		.replace(COMMANDS, '')
		.replace(/SLOW\d+/, '')
		.replace(/ +/g, ' ')
		.trim();
	return { text: text.includes('SAY') ? says : '', calls: [{ name, args: args(rest, text) }] };
}
