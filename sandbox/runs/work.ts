import { randomBytes, randomUUID } from 'node:crypto';
import { difference, findLastIndex } from 'lodash';
import { timestamp } from '../clock';
import type { Context } from '../context';
import {
	textIn,
	type ChatMessage,
	type Conversation,
	type Interrupt,
	type Message,
	type RunRecord,
	type Said,
	type Thread,
	type ToolCall,
} from '../entities';
import { actionsOf, type Action, type ActionOf } from '../faults';
import { FilterError } from '../filters';
import type { Assistant, ToolSeed } from '../seed';
import { helperOf, Saying, type Speaker, type Speech } from '../speech';
import type { Loose } from '../values';
import { replyOf, slownessOf } from './assistant';
import { addMessage, endMessage } from './chat';
import { RunEvents } from './events';
import { toolOf, toolSays, type Reply } from './models';
import { componentOf, found, retrieve, stepComponentOf } from './retriever';
import { changed, interruptOf, operation, overtaken, type Decision } from './thread';

/** A run that is to begin, or to go on after a decision. */
export interface Order {
	assistant: Assistant;
	conversation: Conversation;
	thread: Thread;
	base: Message[];
	/** What is asked, and as the thread keeps it; nothing when the run goes on after a decision. */
	question?: Said & {
		content: Message['content'];
		human?: Loose;
		state?: Loose;
		env?: Loose;
		isAgain: boolean;
		clientMessageId?: unknown;
	};
	decision?: Decision;
	misbehaviour: Action[];
}

interface Ending {
	status: Thread['status'];
	error?: string;
	interrupt?: Interrupt;
}

class Cancelled extends Error {}

export const CANCELED = 'Canceled by user';

/** The server stores a first step, and the last one before it says that the run has ended: so long at most, in ms. */
const STEP_MS = 300;

const NOTHING_SAID: Said = { text: '', attachments: '', files: [] };

/** One run from what it is asked until it has ended or waits for a person. */
export class Work {
	private readonly saying: Saying;
	private readonly lead: Speaker;
	private readonly events: RunEvents;
	private readonly fault: ActionOf<'run'> | undefined;
	/** What the thread had when it began, and what the run knows of it since. */
	private readonly known: Message[];
	private messages: Message[];
	private readonly asked: Said;
	private readonly human: Loose | undefined;
	private readonly hasRejected: boolean;
	private rounds: number;
	private ms: number;
	private answer: ChatMessage | undefined;
	private isCancelled = false;
	private isDead = false;
	private woken = Promise.resolve();
	private wake = () => {};

	constructor(
		private readonly context: Context,
		private readonly order: Order,
		readonly record: RunRecord,
		speech: Speech,
	) {
		const { thread, assistant, conversation, decision, question } = order;
		[this.fault] = actionsOf(order.misbehaviour, 'run');
		this.asked = question ?? decision?.interrupt.said ?? NOTHING_SAID;
		this.human = question?.human ?? thread.human;
		this.known = thread.messages;
		this.messages = question ? [...order.base, personSays(question.content)] : order.base;
		this.hasRejected = question !== undefined && thread.hasRejected === true;
		this.rounds = decision?.interrupt.rounds ?? 0;
		const slow = question && slownessOf(assistant, question.text);
		this.ms = this.fault?.ms ?? slow ?? assistant.runMs ?? context.runMs;
		this.saying = new Saying(context.clock, speech);
		this.lead = { agentKey: assistant.agentKey, executionId: record.id };
		this.events = new RunEvents(speech, context.clock, conversation, record, this.lead);
		this.woken = new Promise((resolve) => (this.wake = resolve));
	}

	text(): string {
		return this.saying.text();
	}

	cancel(): void {
		this.isCancelled = true;
		this.wake();
	}

	/** Its server process is gone: nothing of it happens any more, and nobody is told. */
	die(): void {
		this.isDead = true;
		this.wake();
	}

	/**
	 * Does all of it. The thread shows each step when this has ended: nothing of an answer until it is whole, and of a
	 * decision first what the tools said, while status and task stay as they were (`decision-watched-confirm`).
	 */
	async done(): Promise<void> {
		const { clock } = this.context;
		this.begin();
		const lag = this.order.decision ? this.ms / 4 : Math.min(STEP_MS, this.ms / 10);
		this.ms -= lag;
		const ending = await this.carriedOut().catch((error: unknown): Ending => {
			if (error instanceof Cancelled) return { status: 'interrupted', error: CANCELED };
			throw error;
		});
		this.stand(RUN_STATUS[ending.status]);
		if (!this.isCancelled) await clock.sleep(lag);
		await this.alive();
		this.end(ending);
		if (this.isCancelled) void this.landLate();
	}

	/** The last checkpoint of a cancelled run may be stored after those of others. */
	private async landLate(): Promise<void> {
		const { lands } = this.fault ?? {};
		if (lands === undefined) return;
		await this.context.clock.sleep(lands);
		this.step([]);
	}

	private begin(): void {
		const { order } = this;
		const { question, thread, conversation } = order;
		this.stand('running');
		if (question) {
			const { text, attachments, files: opened, human = thread.human, state } = question;
			this.record.asked = { base: order.base, text, attachments, opened, human, state };
			conversation.title ??= question.text;
			Object.assign(thread, {
				attachments: question.attachments,
				opened: question.files,
				before: order.base,
				hasRejected: false,
			});
			this.note({ status: 'busy' });
		}
		const asked = question && (this.questionMessage(question) ?? this.lastQuestion());
		this.answer = this.answerOf() ?? this.newAnswer(asked);
		this.events.start();
	}

	private questionMessage({ text, isAgain, clientMessageId }: NonNullable<Order['question']>) {
		const { messages } = this.context.store;
		const isKnown = messages.some(
			(one) => one.clientMessageId && one.clientMessageId === clientMessageId,
		);
		if (isAgain || isKnown) return undefined;
		const { id: conversationId } = this.order.conversation;
		return addMessage(this.context, {
			conversationId,
			role: 'human',
			content: text,
			clientMessageId,
		});
	}

	private lastQuestion(): ChatMessage | undefined {
		const { id } = this.order.conversation;
		const { messages } = this.context.store;
		return messages.filter((one) => one.conversationId === id && one.role === 'human').at(-1);
	}

	private answerOf(): ChatMessage | undefined {
		if (!this.order.decision) return undefined;
		const { messages } = this.context.store;
		return messages
			.filter(({ role, executionId }) => role === 'ai' && executionId === this.record.id)
			.at(-1);
	}

	private newAnswer(asked?: ChatMessage): ChatMessage {
		return addMessage(this.context, {
			conversationId: this.order.conversation.id,
			role: 'ai',
			// Where all takes no time, an answer is newer than its question all the same.
			createdAt: new Date(this.context.clock.now() + 1).toISOString(),
			status: 'thinking',
			executionId: this.record.id,
			parentId: asked?.id ?? null,
		});
	}

	private end(ending: Ending): void {
		const { record, context } = this;
		record.endedAt = context.clock.now();
		this.giveParts(ending.status === 'error' ? ending.error : undefined);
		this.note(ending);
		this.events.partEnds(this.lead, record.status, ending.error);
		this.events.end();
	}

	private giveParts(error?: string): void {
		if (!this.answer) return;
		endMessage(this.context, this.answer, this.saying.take(), error);
	}

	private stand(status: RunRecord['status']): void {
		Object.assign(this.record, { status, updatedAt: this.context.clock.now() });
	}

	/** The conversation and the thread tell how it stands, why it failed and what is to be decided. */
	private note({ status, error = undefined, interrupt = undefined }: Ending): void {
		const { thread, conversation, assistant } = this.order;
		const updatedAt = timestamp(this.context.clock);
		const told = { status, error: error ?? null, updatedAt };
		Object.assign(thread, told, { interrupt: interrupt ?? null });
		const waits = interrupt ? operation(interrupt, assistant) : null;
		const isOvertaken = status === 'interrupted' && !interrupt && error === undefined;
		Object.assign(conversation, told, { operation: isOvertaken ? this.overtakenAt() : waits });
	}

	private overtakenAt(): Loose {
		return overtaken(this.fault?.step ?? this.order.assistant.agentKey);
	}

	private async carriedOut(): Promise<Ending> {
		const { decision, thread } = this.order;
		if (!decision) return await this.asks();
		const { interrupt, carriesOut, changes, payload } = decision;
		const calls = interrupt.tasks.map(({ call }) => call);
		if (carriesOut && !changes) {
			// What is carried out takes most of the time, the words about it the rest.
			const words = this.ms / 3;
			this.ms -= words;
			await this.useTools(calls, payload);
			this.ms = words;
			return await this.converse();
		}
		await this.pass();
		if (changes) return { status: 'interrupted', interrupt: changed(interrupt, changes) };
		thread.hasRejected = true;
		return { status: 'idle' };
	}

	private async asks(): Promise<Ending> {
		const first = Math.min(STEP_MS, this.ms / 10);
		this.ms -= first;
		const rest = this.ms;
		await this.pass(first);
		this.ms = rest;
		this.firstStep();
		const failed = this.lookFirst();
		return failed ?? (await this.converse());
	}

	private firstStep(): void {
		const { thread, question } = this.order;
		if (!question) return;
		const input = this.asked.text;
		const { state } = question;
		Object.assign(thread, { input, human: this.human, state, isNew: false });
	}

	/** A workflow may look into a knowledgebase before its assistant is asked. */
	private lookFirst(): Ending | undefined {
		const { store } = this.context;
		const { assistant, thread, question } = this.order;
		const { looksFirst } = assistant;
		if (!looksFirst) return undefined;
		const { agentKey, title: xpertName } = looksFirst;
		const query = this.asked.text;
		const [executionId, id] = [randomUUID(), randomUUID()];
		const step = { agentKey, xpertName, executionId, parentExecutionId: this.record.id };
		this.events.partStarts(step, { category: 'workflow', xpertId: undefined });
		const ended = this.saying.use(stepComponentOf(query), this.lead, id, id);
		const variables = { ...this.variables(), env: question?.env };
		const data = filtering(() => found(store, looksFirst, query, variables));
		if (data instanceof FilterError) return this.lookFailed(step, data.message);
		thread.found = JSON.stringify(data, null, 2);
		ended({ category: 'Computer', status: 'success', data });
		this.events.partEnds(step, 'success', undefined, { xpertId: undefined });
		return undefined;
	}

	/** Nothing more is said of the step: it says that it runs for ever (`filters-retry` "joined", without the value). */
	private lookFailed(step: Speaker, error: string): Ending {
		const { thread, question, base } = this.order;
		thread.found ??= null;
		// What is asked anew goes on from where it was asked, also where it fails (`filters-state-env` "retry without context").
		if (question?.isAgain) thread.messages = base;
		this.events.partEnds(step, 'error', error, { xpertId: undefined });
		return { status: 'error', error };
	}

	private variables(): Loose {
		return { ...this.order.thread.state, human: this.human };
	}

	/** The assistant says something and calls tools, until it calls none, or one that waits for a person. */
	private async converse(): Promise<Ending> {
		const { assistant } = this.order;
		for (;;) {
			const reply = this.nextReply();
			const id = `chatcmpl-${randomUUID()}`;
			const usage = await this.speak(reply, id);
			if (reply.error !== undefined) return { status: 'error', error: reply.error };
			const calls = (reply.calls ?? []).map(toCall);
			this.step([{ id, from: 'assistant', content: reply.text, calls, usage }]);
			if (calls.length === 0) return this.answered();
			this.rounds += 1;
			if (calls.some((call) => toolOf(assistant, call).waits)) {
				const { record, asked, rounds, fault } = this;
				const waiting = { run: record, said: asked, rounds };
				return {
					status: 'interrupted',
					interrupt: interruptOf(assistant, calls, waiting, fault?.text),
				};
			}
			await this.useTools(calls);
		}
	}

	/** It has answered; one that was overtaken waits for its own agent, which nobody can decide on. */
	private answered(): Ending {
		return this.fault?.outcome === 'overtaken' ? { status: 'interrupted' } : { status: 'idle' };
	}

	private nextReply(): Reply {
		const { messages, rounds, hasRejected: rejected } = this;
		const { assistant } = this.order;
		const heard = messages.filter(({ from }) => from === 'person');
		const since = messages.slice(findLastIndex(messages, ({ from }) => from === 'person') + 1);
		const tools = since.at(-1)?.from === 'tool' ? since.filter(({ from }) => from === 'tool') : [];
		const question = {
			...this.asked,
			heard: heard.map(textIn),
			rounds,
			toolsSaid: tools.length > 0 ? tools.map(textIn) : undefined,
			rejected,
			isAgain: this.order.question?.isAgain ?? false,
		};
		return replyOf(this.context, assistant, question, this.fault);
	}

	/** The words come one after another where they drip, and all at once otherwise. */
	private async speak(reply: Reply, id: string): Promise<Loose | undefined> {
		const { text, reasoning = '', drip = this.context.wordMs, calls = [], error } = reply;
		const runId = randomUUID();
		let said = '';
		const say = (word: string) => {
			this.saying.say(word, this.lead, id, runId);
			said += word;
		};
		try {
			await this.pass();
			this.saying.think(reasoning, this.lead, id, runId);
			await this.drip(text, drip, say);
		} catch (cancelled) {
			this.estimate(said);
			throw cancelled;
		}
		if (error !== undefined && text === '') return undefined;
		const { counts } = this.order.assistant;
		if (error === undefined && counts) return this.count(...counts);
		this.estimate(said + JSON.stringify(calls));
		return undefined;
	}

	private async drip(text: string, ms: number, say: (word: string) => void): Promise<void> {
		for (const word of ms > 0 ? text.split(/(?<=\s)(?=\S)/) : [text]) {
			await this.pass(ms);
			say(word);
		}
	}

	private estimate(said: string): void {
		this.record.used.total += Math.ceil(said.length / 4);
	}

	private count(input: number, output: number): Loose {
		const total = input + output;
		this.record.used = { input, output, total: this.record.used.total + total };
		return { prompt_tokens: input, completion_tokens: output, total_tokens: total };
	}

	private async useTools(calls: ToolCall[], payload?: unknown): Promise<void> {
		const { assistant } = this.order;
		await this.pass();
		const messages: Message[] = [];
		for (const call of calls) {
			await this.pass(slownessOf(assistant, String(call.args.input)) ?? 0);
			const tool = toolOf(assistant, call);
			const isHelper = !tool.knowledgebaseId && !tool.toolset;
			const content = isHelper ? await this.askHelper(tool, call, payload) : this.use(tool, call);
			messages.push({ id: randomUUID(), from: 'tool', answers: call, content });
		}
		this.step(messages);
	}

	private async askHelper(tool: ToolSeed, call: ToolCall, payload: unknown): Promise<string> {
		const { assistant } = this.order;
		const helper = helperOf(this.lead, tool);
		this.events.partStarts(helper, { inputs: call.args });
		const { text, drip = 0 } = toolSays(assistant, call, payload);
		const [id, runId] = [`chatcmpl-${randomUUID()}`, randomUUID()];
		await this.drip(text, drip, (word) => this.saying.say(word, helper, id, runId));
		this.events.partEnds(helper, 'success');
		return text;
	}

	/** What comes of any other tool is no word of the answer, but a part of the conversation's message. */
	private use(tool: ToolSeed, call: ToolCall): string {
		const begun = componentOf(call);
		const failed = (error: string) => ({ tool: call.name, status: 'fail', toolCall: call, error });
		// What was given to a tool is looked at before it begins (`one-question-1` "a tool that fails").
		if (tool.fails !== undefined) {
			this.saying.use(failed(tool.fails), this.lead, call.id);
			return mistaken(tool.fails);
		}
		const ended = this.saying.use(begun, this.lead, call.id);
		const output = tool.knowledgebaseId
			? filtering(() => retrieve(this.context.store, tool, call, this.variables()))
			: JSON.stringify({ sent: true, ...call.args });
		if (output instanceof FilterError) {
			ended(failed(output.message));
			return mistaken(output.message);
		}
		ended({ status: 'success', output });
		return output;
	}

	/** Lets time pass: so long, or all that what comes next takes. */
	private async pass(ms = this.ms): Promise<void> {
		if (ms === this.ms) this.ms = 0;
		if (ms > 0) await Promise.race([this.context.clock.sleep(ms), this.woken]);
		await this.alive();
		if (this.isCancelled) throw new Cancelled();
	}

	/** Goes no further where the process that works on it is gone. */
	private async alive(): Promise<void> {
		if (this.isDead) await new Promise(() => undefined);
	}

	/** A step has ended: all messages of the thread are written, and what others have written meanwhile is lost. */
	private step(added: Message[]): void {
		const { thread } = this.order;
		const lost = difference(thread.messages, this.known, this.messages);
		if (lost.length > 0) thread.lost = [...(thread.lost ?? []), ...lost];
		this.messages = [...this.messages, ...added];
		const input = this.order.question ? this.asked.text : thread.input;
		Object.assign(thread, { messages: this.messages, input, human: this.human });
	}
}

function filtering<T>(search: () => T): T | FilterError {
	try {
		return search();
	} catch (error) {
		if (error instanceof FilterError) return error;
		throw error;
	}
}

const mistaken = (error: string) => `Error: ${error}\n Please fix your mistakes.`;

const RUN_STATUS: Record<Thread['status'], RunRecord['status']> = {
	busy: 'running',
	idle: 'success',
	interrupted: 'interrupted',
	error: 'error',
};

const toCall = ({ name, args }: Omit<ToolCall, 'id' | 'type'>): ToolCall => ({
	name,
	args,
	id: `call_${randomBytes(6).toString('hex')}`,
	type: 'tool_call',
});

const personSays = (content: Message['content']): Message => ({
	id: randomUUID(),
	from: 'person',
	content,
});
