import type { Message, ToolCall } from './entities';
import { textIn } from './messageText';
import type { Counts } from './seed';

/**
 * What a run has used: `total` of all answers of its model, by the server's own estimate where this does not count;
 * `input` and `output` only where it does, and only of its last answer (`one-question-1` "joined").
 */
export interface Used {
	total: number;
	input: number;
	output: number;
}

/** How many letters the server takes for a token, where a model does not count. */
const LETTERS = 4;

/** What a model counts of one of its answers. */
export const countedOf = (counts: Counts, said: string): [input: number, output: number] =>
	counts === 'words' ? [TOLD, said.split(/\s+/).filter(Boolean).length] : counts;

/** What a model that counts words says of all that it was told: how it comes to that was not recorded. */
const TOLD = 100;

const ROLES: Record<Message['from'], string> = { person: 'Human', assistant: 'AI', tool: 'Tool' };

/** The tokens of one answer of a model that does not count, by the letters of what it was told and of what it said. */
export const estimated = (system: string, messages: Message[], said: string): number =>
	tokensIn([`System: ${system}`, ...messages.map(toldOf)].join('\n')) + tokensIn(said);

/** What a model writes when it calls a tool. */
export const written = ({ name, args }: Pick<ToolCall, 'name' | 'args'>): string =>
	name + JSON.stringify(args);

const tokensIn = (text: string): number => Math.ceil(text.length / LETTERS);

const toldOf = (message: Message): string => {
	const name = message.answers ? `${message.answers.name}, ` : '';
	return `${ROLES[message.from]}: ${name}${textIn(message)}`;
};
