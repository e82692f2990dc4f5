import get from 'lodash/get';
import isEmpty from 'lodash/isEmpty';

import { parseAnswer } from '../transport/answer';
import { textOf } from './messages';

/** The family of servers a run is sent to; each answers 400 or an error to the other's shape. */
export type ServerFamily = 'xpert' | 'langgraph';

/** What is said to the assistant. */
export type RunInput =
	| { kind: 'message'; text: unknown; files: unknown }
	| { kind: 'chat'; messages: unknown }
	| { kind: 'decision'; decision: unknown; payload: unknown; target: unknown };

/**
 * The part of E4's body that says it, in the shape of the family (service behaviour, E4). Values are
 * checked afterwards, with the whole body.
 */
export function runInput(family: ServerFamily, input: RunInput): Record<string, unknown> {
	return family === 'langgraph' ? langGraphInput(input) : { input: xpertInput(input) };
}

function xpertInput(input: RunInput): unknown {
	switch (input.kind) {
		case 'message':
			return sendMessage(input.text, input.files);
		case 'chat':
			return sendMessage(transcript(input.messages), undefined);
		case 'decision':
			return {
				action: 'resume',
				target: input.target ?? {},
				decision: decisionOf(input),
			};
	}
}

function sendMessage(text: unknown, files: unknown): unknown {
	return {
		action: 'send',
		message: { input: { input: text, ...(isEmpty(files) ? {} : { files }) } },
	};
}

function langGraphInput(input: RunInput): Record<string, unknown> {
	switch (input.kind) {
		case 'message':
			return { input: { messages: [{ role: 'user', content: input.text }] } };
		case 'chat':
			return { input: { messages: input.messages } };
		case 'decision':
			return { command: { resume: decisionOf(input) } };
	}
}

function decisionOf({ decision, payload }: Extract<RunInput, { kind: 'decision' }>): unknown {
	return { type: decision, ...(payload === undefined ? {} : { payload }) };
}

/** The texts of the messages in the body of E4, of either family; none in a decision. */
export function saidIn(body: string): string[] {
	const json = parseAnswer(body);
	const text: unknown = get(json, 'input.message.input.input');
	if (typeof text === 'string') return [text];
	const messages: unknown = get(json, 'input.messages');
	return Array.isArray(messages) ? messages.map((one: unknown) => textOf(get(one, 'content'))) : [];
}

/** Xpert takes one text: a single message as it is, several with who says each. */
function transcript(messages: unknown): unknown {
	if (!Array.isArray(messages)) return undefined;
	const lines = messages as Array<{ role?: string; content?: string }>;
	if (lines.length === 1) return lines[0]?.content;
	return lines.map(({ role, content }) => `${role}: ${content}`).join('\n\n');
}
