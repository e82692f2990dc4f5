import { passagesIn } from './retriever';

/** What a model is told when its turn comes. */
export interface Turn {
	/** What a person said last, and what stands before it of the files beside it. */
	text: string;
	attachments: string;
	/** All that persons have said so far, this included. */
	heard: string[];
	/** All that it is told, with what it is to be. */
	all: Array<{ role: string; content: unknown }>;
	/** How often it has called tools for this, and what they said last when it is their answer that it is told. */
	rounds: number;
	toolsSaid?: string[];
	/** Whether it is told that a person has rejected what it called before. */
	rejected: boolean;
	/** Whether it is asked the same anew. */
	isAgain: boolean;
	/** The names of the tools it has. */
	tools: string[];
}

/** What a model says: words, then calls of tools; or words, and then it fails. */
export interface Reply {
	text: string;
	/** What it thought before. */
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
const FAILURE = '500 fake model failure: quota exceeded';

/** Models that break off after their first words, and why (`background` "E4 whose model fails after the first words"). */
const BREAKS_OFF: Record<string, string> = {
	FAILERR: 'The server had an error (FAILERR)',
	FAILMID: 'terminated',
};

/** What a model hears of a call that a person has rejected (`decisions` "the next question on that thread"). */
const REJECTED = 'Error: Reject by user';

const FIRST_WORDS = 'These words came first. ';

/** The words that tell the model what to do, and are no part of what it hands to a tool. */
const COMMANDS = /\b(?:SAY\b|ASK\b(?: BOTH\b)?|USETOOL\([^)]*\)|PAR\([^)]*\))/g;

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
export function recordedReply(turn: Turn, error: string = FAILURE): Reply {
	const { text, attachments, heard, toolsSaid } = turn;
	const broken = Object.keys(BREAKS_OFF).find((word) => text.includes(word));
	if (broken) return { text: FIRST_WORDS, error: BREAKS_OFF[broken] };
	if (text.includes('FAIL')) return { text: '', error };
	const called = callsOf(turn);
	if (called.length > 0) {
		const names = called.map(({ wanted }) => wanted).join(' and ');
		const calls = called.map(({ call }) => call);
		const first = names === '' ? 'Let me look that up. ' : `Let me use ${names}. `;
		return { text: text.includes('SAY') ? first : '', calls };
	}
	if (toolsSaid && text.includes('CITE')) return { text: cited(toolsSaid) };
	const told = toolsSaid ?? (turn.rejected ? [REJECTED] : undefined);
	if (told) return { text: `Tool said: ${told.join('\n')}` };
	// The server makes nothing of an answer in parts, be they texts or images (`answers-in-parts`).
	if (/EMPTY|PARTS/.test(text)) return { text: '' };
	if (text.includes('SHOWALL')) return { text: `ALL: ${JSON.stringify(turn.all)}` };
	if (text.includes('RECALL')) return { text: `I heard: ${heard.join(' | ')}` };
	const [, count] = /LONG(\d+)/.exec(text) ?? [];
	if (count) return { text: words(Number(count)), drip: drip(text) };
	const reasoning = text.includes('REASON') ? 'First I think.' : undefined;
	return { text: `You said: ${attachments}${text} [users seen: ${heard.length}]`, reasoning };
}

const words = (count: number): string =>
	Array.from({ length: count }, (_, place) => `word${place + 1}`).join(' ');

export const drip = (text: string): number => Number(/DRIP(\d+)/.exec(text)?.[1] ?? 0);

/** The first sentence of the best passage of each look, with its link; of helpers all that they have said. */
const cited = (toolsSaid: string[]): string =>
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
function callsOf(turn: Turn): Array<{ wanted: string; call: Call }> {
	const { text, rounds, tools } = turn;
	const rest = text.replace(COMMANDS, '').trim() || 'go';
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
