import { findLast, pick } from 'lodash';
import { addMessage } from './chat';
import { timestamp } from '../clock';
import type { Context } from '../context';
import type {
	Asked as PastQuestion,
	Conversation,
	Message,
	OpenedFile,
	RunRecord,
	Thread,
} from '../entities';
import { badRequest, missingReference, type ApiError } from '../errors';
import type { RunInput } from './input';
import { begin, isUnderWay, newRun, type Run } from './run';
import type { Assistant } from '../seed';
import { asObject, isObject, type Loose } from '../values';
import type { Order } from './work';

/** What a run is asked, with the files that were given to it. */
export type Asked = RunInput & {
	attachments: string;
	unreadable?: string;
	opened: OpenedFile[];
	env: Loose;
};

type Task = Pick<Order, 'question' | 'decision' | 'base'>;

type Question = NonNullable<Task['question']>;

/** Where a run is to be, and what is to go wrong with the request that asks for it. */
type Place = Pick<Order, 'assistant' | 'conversation' | 'misbehaviour'>;

/** What came of asking: the run that begins, if one does, and the one the server names in its answer. */
export interface Started {
	run?: Run;
	named: RunRecord;
}

/**
 * Runs a conversation's thread and gives the content that E4 answers with: all that was said until the run ended,
 * failed, was cancelled or had to wait for a person. Only the older form of the input repeats the last answer where
 * nothing was said (`E04` "model fails (BOOM)").
 */
export async function runConversation(
	context: Context,
	place: Place,
	input: Asked,
): Promise<string> {
	const thread = context.store.threads.get(place.conversation.threadId);
	const last = input.legacy ? lastAnswer(thread) : '';
	const { run } = start(context, place, input);
	const question = findLast(context.store.messages, ({ role }) => role === 'human');
	await run?.ended;
	if (!context.store.conversations.has(place.conversation.id)) throw isDeleted(question?.id ?? '');
	return run?.text() || last;
}

/**
 * Begins what a conversation is asked for; nothing begins where nothing is to be done.
 *
 * @throws ApiError 400 for a decision or another try where nothing has run yet, and for a message to no run
 */
export function start(context: Context, place: Place, input: Asked): Started {
	const { conversation, assistant } = place;
	if (input.action === 'follow_up') return followUp(context, conversation, input);
	conversation.xpertId ??= assistant.id;
	const left = leaveOver(context, conversation, input);
	const thread = threadOf(context, assistant, conversation);
	const task = taskOf(context, input, thread, assistant);
	const run = task && begin(context, { ...place, thread, ...task }, left);
	const named = left ?? run?.record ?? latest(context, conversation);
	return { run, named: named ?? newRun(context, nowhere(conversation)) };
}

/** The answer of a run whose conversation was deleted meanwhile has no question any more. */
const isDeleted = (parentId: string): ApiError =>
	missingReference('parentId', parentId, 'chat_message');

const nowhere = ({ threadId }: Conversation) => ({ threadId, assistantId: null, text: undefined });

const latest = ({ store }: Context, { threadId }: Conversation): RunRecord | undefined =>
	store.runs.filter((run) => run.threadId === threadId && run.assistantId !== null).at(-1);

/**
 * What is refused, and a decision that does not name its run, leave a run behind that never ends; another try that is
 * refused leaves the conversation busy besides (`background` "a refused decision leaves traces"). One that is asked for
 * where the newest run died with its server is refused as well (`dead-run-next-question` "filter: retry of the dead run").
 */
function leaveOver(
	context: Context,
	conversation: Conversation,
	{ action, target }: Asked,
): RunRecord | undefined {
	if (action !== 'resume' && action !== 'retry') return undefined;
	const isRefused = !context.store.threads.has(conversation.threadId);
	const isDead = action === 'retry' && !isRefused && isDeadRun(latest(context, conversation));
	const namesNone = action === 'resume' && target.executionId === undefined;
	const left =
		isRefused || isDead || namesNone ? newRun(context, nowhere(conversation)) : undefined;
	if (isDead) throw badRequest('Retry source checkpoint not found');
	if (!isRefused) return left;
	conversation.updatedAt = timestamp(context.clock);
	if (action === 'resume') throw badRequest('Missing resume target AI message');
	conversation.status = 'busy';
	throw badRequest('Missing retry source AI message');
}

/** Whether a run has died with its server: it says that it runs, and nobody works on it. */
const isDeadRun = (run: RunRecord | undefined): boolean =>
	run?.status === 'running' && !isUnderWay(run);

/** A message beside a run: it is kept in the conversation, and nobody hears it (`decisions` "follow up, queue"). */
function followUp(context: Context, conversation: Conversation, input: Asked): Started {
	const target = context.store.runs.find(({ id }) => id === input.target.executionId);
	const heardBy = target ?? latest(context, conversation);
	addMessage(context, {
		conversationId: conversation.id,
		role: 'human',
		content: input.text,
		executionId: heardBy?.id ?? null,
		clientMessageId: input.clientMessageId,
	});
	return { named: target ?? newRun(context, nowhere(conversation)) };
}

function lastAnswer(thread: Thread | undefined): string {
	const content = findLast(thread?.messages, ({ from }) => from === 'assistant')?.content;
	return typeof content === 'string' ? content : '';
}

function taskOf(
	{ store }: Context,
	input: Asked,
	thread: Thread,
	assistant: Assistant,
): Task | undefined {
	if (input.action === 'resume') return decisionOn(thread, input);
	if (input.action === 'retry') {
		const source = store.runs.find(({ id }) => id === input.source.executionId);
		return again(thread, source?.asked, input.env);
	}
	// After a failed run only an explicit `send` or `retry` gets the thread going again: the recordings show
	// the older form answered with the last answer from then on (`E04` "extra fields" after "BOOM").
	const explicit = input.action === 'send' && !input.legacy;
	if (thread.status === 'error' && !explicit) return undefined;
	return ask(thread.messages, { ...input, state: stateAfter(thread, assistant, input) }, false);
}

/**
 * The values of an assistant's variables: what a question gives them, be it as its state or beside its text, or else
 * what they had, or else their default (`knowledge-filter`, `knowledge-filter-3`).
 */
function stateAfter(
	{ state: before }: Thread,
	{ stateVariables, parameters }: Assistant,
	{ state, human }: Asked,
): Loose {
	const variables = [...(stateVariables ?? []), ...(parameters ?? []).map((name) => ({ name }))];
	const pairs = variables.flatMap(({ name, ...rest }) => {
		const given = [state, human, before ?? {}].find((one) => one[name] !== undefined);
		const value = given ? given[name] : 'default' in rest ? rest.default : undefined;
		return value === undefined ? [] : [[name, value] as const];
	});
	return Object.fromEntries(pairs);
}

type Told = Pick<Asked, 'text' | 'attachments' | 'opened' | 'unreadable'> &
	Pick<Question, 'human' | 'state' | 'env' | 'clientMessageId'>;

function ask(base: Message[], told: Told, isAgain: boolean): Task {
	const { text, attachments, opened: files, unreadable } = told;
	const parts = [attachments, text].map((part) => ({ type: 'text', text: part }));
	const content = attachments === '' ? text : parts;
	return {
		base,
		question: {
			...pick(told, 'text', 'human', 'state', 'env', 'attachments', 'clientMessageId'),
			files,
			unreadable,
			content,
			isAgain,
		},
	};
}

/**
 * What was said last, or to the run that is named, is asked anew, from where it was asked, with the values it had
 * (`filters-retry`); its messages get new ids (`runs` "retry"). Only `env` counts for one request alone (`filters-state-env`).
 */
function again(thread: Thread, source: PastQuestion | undefined, env: Loose): Task | undefined {
	if (source) return ask(source.base, { ...source, env }, true);
	const { messages, before, status, input: text, attachments = '', opened = [], state } = thread;
	if (typeof text !== 'string') return undefined;
	const base = status === 'idle' ? (before ?? messages) : messages;
	return ask(base, { text, attachments, opened, state, env }, true);
}

/**
 * What a person has decided. Whatever they have decided is carried out when a payload came with it, be it null
 * (`decisions` "reject with an empty payload").
 */
function decisionOn({ interrupt, messages }: Thread, { decision, patch }: Asked): Task | undefined {
	if (!interrupt) return undefined;
	const { type, payload } = decision;
	if (type !== 'confirm' && type !== 'reject') {
		throw badRequest("decision.type: Invalid enum value. Expected 'confirm' | 'reject'");
	}
	const carriesOut = type === 'confirm' || 'payload' in decision;
	const changes = carriesOut ? changesIn(patch) : undefined;
	return { base: messages, decision: { interrupt, carriesOut, payload, changes } };
}

/** The arguments a person has changed, by the id of the call; what names no call changes nothing. */
function changesIn({ toolCalls }: Loose): Map<string, Loose> | undefined {
	if (!Array.isArray(toolCalls)) return undefined;
	const changes = toolCalls.filter(isObject).map(({ id, args }) => [id, asObject(args)] as const);
	return new Map(changes.filter((one): one is [string, Loose] => typeof one[0] === 'string'));
}

function threadOf({ store }: Context, assistant: Assistant, conversation: Conversation): Thread {
	const { threadId, createdAt } = conversation;
	const existing = store.threads.get(threadId);
	return (
		existing ?? store.putThread({ threadId, assistantId: assistant.id, createdAt, isNew: true })
	);
}
