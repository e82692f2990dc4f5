import { omit } from 'lodash';
import { z } from 'zod';
import { badRequest } from '../errors';
import { asObject, isObject, type Loose } from '../values';

const object = z.object({}).passthrough();
const message = z.object({ input: object }).passthrough();

const followUpMode = z.union([z.literal('queue'), z.literal('steer')]).optional();

const runInput = z.discriminatedUnion('action', [
	z.object({ action: z.literal('send'), message }).passthrough(),
	z.object({ action: z.literal('resume'), target: object, decision: object }).passthrough(),
	z.object({ action: z.literal('retry'), source: object }).passthrough(),
	z.object({ action: z.literal('follow_up'), message, mode: followUpMode }).passthrough(),
]);

/** A run's input as it was read. `legacy` is true for the older form without an action. */
export interface RunInput {
	action: 'send' | 'resume' | 'retry' | 'follow_up';
	legacy: boolean;
	text: string;
	/** All that was sent beside the files: the text, and whatever else its sender adds, which no model is told. */
	human: Loose;
	state: Loose;
	source: Loose;
	files: unknown[];
	/** What a person decided, on which run and with which changes, with action `resume`. */
	decision: Loose;
	target: Loose;
	patch: Loose;
	clientMessageId: unknown;
}

/** The older form `{input:{input}}` says the same as action `send`. */
const modern = (input: unknown, legacy: boolean): unknown => {
	if (!legacy || !isObject(input)) return input;
	return { action: 'send', ...(input.input !== undefined && { message: { input: input.input } }) };
};

/** Reads the `input` of E4; throws the recorded 400 that names each missing or wrong part. */
export function readRunInput(input: unknown): RunInput {
	const legacy = isObject(input) && input.action === undefined;
	const result = runInput.safeParse(modern(input, legacy));
	if (!result.success) {
		const issues = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
		throw badRequest(issues.join('; '));
	}
	const { action } = result.data;
	const state = asObject(asObject(result.data).state);
	const said = asObject('message' in result.data ? asObject(result.data.message).input : undefined);
	return {
		action,
		legacy,
		decision: asObject('decision' in result.data ? result.data.decision : undefined),
		target: asObject(asObject(result.data).target),
		patch: asObject(asObject(result.data).patch),
		clientMessageId: asObject(asObject(result.data).message).clientMessageId,
		text: typeof said.input === 'string' ? said.input : '',
		human: { ...omit(said, 'files', 'references'), ...asObject(state.human) },
		state: omit(state, 'human'),
		source: asObject('source' in result.data ? result.data.source : undefined),
		files: Array.isArray(said.files) ? (said.files as unknown[]) : [],
	};
}
