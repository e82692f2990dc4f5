import isEqual from 'lodash/isEqual';
import merge from 'lodash/merge';
import sumBy from 'lodash/sumBy';
import { z } from 'zod';

import { numberIfAny, textIfAny } from '../payloads/common';
import { isJsonObject, parseAnswer } from '../transport/answer';
import type { ServerEvent } from '../transport/eventStream';
import { Citations, passagesIn, Sources } from './sources';
import { isFromAssistant, replyIn, textOf } from './messages';
import type { ThreadMessage, ThreadState } from './thread';

/*
 * The one reader of what a run has said and done. The events of its stream, the parts of its message in the
 * conversation, and the messages of its thread all come down to the same parts (recorded, one-question-1 to -6).
 */

const listIfAny = z.array(z.unknown()).optional().catch(undefined);

const partSchema = z
	.object({
		/** `text`, `component` for a tool or a step of the workflow, or something else such as an image. */
		type: textIfAny,
		/** Of a text: one for each call of a model. Of a component: the call. */
		id: textIfAny,
		text: textIfAny,
		agentKey: textIfAny,
		executionId: textIfAny,
		/** The name of a helper; the assistant itself has none here. */
		xpertName: textIfAny,
		data: z
			.object({
				status: textIfAny,
				type: textIfAny,
				tool: textIfAny,
				input: z.unknown(),
				/** What a tool has answered; a step of a workflow has `data` in its place. */
				output: z.unknown(),
				data: z.unknown(),
				error: z.unknown(),
			})
			.optional()
			.catch(undefined),
	})
	.passthrough();

/** A text, a call of a tool, or anything else in an answer. */
export type Part = z.infer<typeof partSchema>;

const eventData = z.object({
	id: textIfAny,
	agentKey: textIfAny,
	/** `workflow` for a step, which is no call. */
	category: textIfAny,
	parentId: textIfAny,
	title: textIfAny,
	xpertId: textIfAny,
	inputs: z.unknown(),
	status: textIfAny,
	error: textIfAny,
	operation: z.object({ tasks: listIfAny }).optional().catch(undefined),
	tokens: numberIfAny,
	inputTokens: numberIfAny,
	outputTokens: numberIfAny,
});

type EventData = z.infer<typeof eventData>;

const eventSchema = z.object({
	type: z.string(),
	event: textIfAny,
	data: z.unknown(),
});

/** What a task that waits for a person says of the call that it is about. */
const taskCall = z.object({
	call: z.object({ id: z.string(), name: z.string(), args: z.unknown() }),
});

/** Who hears what a run says while it goes on. */
export interface Listener {
	/** A piece of what the assistant itself says; the first of each call of its model `isNew`. */
	onText: (piece: string, isNew: boolean) => void;
	/** What a tool, or a step of the workflow, has answered. */
	onFound: (answer: unknown) => void;
}

/** How a run has ended, as the last events of its stream say. */
export interface RunEnd {
	status?: string;
	error?: string;
	tasks: unknown[];
	/** The status of the assistant's own agent, which another run on the thread does not change. */
	agentStatus?: string;
}

/** The tokens of all model calls of a run; input and output only where they add up to it. */
export interface Usage {
	inputTokens?: number;
	outputTokens?: number;
	totalTokens: number;
}

/** A call of a tool and what came of it, in the words of n8n's AI Agent. */
export interface Step {
	action: {
		tool: string;
		toolInput: unknown;
		toolCallId: string;
		/** The helper that made the call. */
		agent?: string;
	};
	/** What the tool answered, as JSON where it is JSON; missing while it waits for a person. */
	observation?: unknown;
}

/** What is known of a run. Events that come again, as after joining anew, change nothing. */
export class RunEvents {
	/** The event that was heard last. */
	lastId?: string;
	conversationId?: string;
	assistantId?: string;
	/** Whether the stream said that it is complete. */
	isComplete = false;
	/** Whether the stream was heard from its beginning: a long one loses its first events. */
	isWhole = false;
	end: RunEnd = { tasks: [] };
	usage?: Usage;
	/** Whether what came before a decision was told as well. */
	hasGoneOn = false;
	/** In the order in which they came. */
	readonly parts: Part[] = [];

	private agentKey?: string;
	private isMessage = false;
	private hasBegun = false;
	/** Calls of helpers that have waited for a person, by the run of the helper. */
	private readonly calls = new Map<string, Part>();
	/** Where the part after a decision begins. */
	private from = 0;

	constructor(
		private readonly runId: string,
		private listener?: Listener,
	) {}

	/** Takes an event of the stream; one of another form, such as `[DONE]`, tells nothing. */
	hear({ id, data }: ServerEvent): void {
		const event = eventSchema.safeParse(parseAnswer(data)).data;
		if (!event || (id !== undefined && !isAfter(id, this.lastId))) return;
		this.lastId = id ?? this.lastId;
		this.isWhole = this.hasBegun ? this.isWhole : event.event === 'on_conversation_start';
		this.hasBegun = true;
		if (event.type === 'complete') this.isComplete = true;
		if (event.type === 'message') this.readPart(event.data);
		if (event.event) this.takeEvent(event.event, eventData.safeParse(event.data).data);
	}

	/** Takes the content of the run's message, as its conversation keeps it. */
	readContent(content: unknown): void {
		this.isMessage = true;
		if (typeof content === 'string' && content) this.readPart({ type: 'text', text: content });
		if (Array.isArray(content)) for (const part of content) this.readPart(part);
	}

	/** Takes a part, in whole or a piece of it. */
	readPart(given: unknown): void {
		const part = partSchema.safeParse(given).data;
		if (!part) return;
		this.agentKey ??= part.executionId === this.runId ? part.agentKey : undefined;
		if (part.type === 'component') this.takeComponent(part);
		else if (part.text === undefined) this.parts.push(part);
		else if (this.isOwn(part)) this.takeText(part, part.text);
		else this.takeHelperText(part, part.text);
	}

	/** Takes what waits for a person: calls that have not begun. */
	readTasks(tasks: unknown[]): void {
		for (const task of tasks) {
			const call = taskCall.safeParse(task).data?.call;
			if (call && !this.partWith(call.id))
				this.parts.push(component(call.id, { tool: call.name, input: call.args }));
		}
	}

	/** What was decided goes on: what comes next is another part, which has an end of its own. */
	goOn(listener: Listener | undefined): void {
		this.hasGoneOn = true;
		this.from = this.parts.length;
		this.end = { tasks: [] };
		this.isComplete = false;
		this.listener = listener;
	}

	/** The id of what the assistant has said last, which its message on the thread has too (recorded). */
	get speechId(): string | undefined {
		return this.parts.slice(this.from).findLast((part) => this.isSpeech(part))?.id;
	}

	/** What the assistant has said last: its answer once the run has ended. */
	get answer(): string {
		const speeches = this.parts.slice(this.from).filter((part) => this.isSpeech(part));
		const last = speeches.at(-1)?.id;
		return speeches.flatMap(({ id, text }) => (id === last ? (text ?? '') : [])).join('');
	}

	/** What is neither text nor a call of a tool, such as images. */
	get otherParts(): Part[] {
		return this.parts.filter(({ type, text }) => type !== 'component' && text === undefined);
	}

	/** Whether the last that was heard is a call of a tool without its end. */
	get isInCall(): boolean {
		return this.parts.at(-1)?.data?.status === 'running';
	}

	private takeEvent(event: string, data: EventData | undefined): void {
		if (!data) return;
		const { id, status, error, operation } = data;
		switch (event) {
			case 'on_conversation_start':
				this.conversationId ??= id;
				break;
			case 'on_agent_start':
				// The first to begin is the assistant itself; its helpers follow.
				this.agentKey ??= data.agentKey;
				this.assistantId ??= data.xpertId;
				if (data.parentId !== undefined && data.category !== 'workflow') this.takeHelper(data);
				break;
			case 'on_agent_end':
				if (data.agentKey === this.agentKey) this.takeAgentEnd(data);
				else merge(this.partWith(id ?? ''), { data: { status } });
				break;
			case 'on_conversation_end': {
				// Where two first messages met, a thread waits for the agent itself, which nobody can decide (recorded).
				const tasks = (operation?.tasks ?? []).filter(
					(task) => !(isJsonObject(task) && task.name === this.agentKey),
				);
				Object.assign(this.end, { status, error, tasks });
				this.readTasks(tasks);
			}
		}
	}

	private takeAgentEnd({ status, tokens, inputTokens = 0, outputTokens = 0 }: EventData): void {
		this.end.agentStatus = status;
		this.usage = usageOf(tokens, inputTokens, outputTokens) ?? this.usage;
	}

	private takeText(part: Part, text: string): void {
		const last = this.parts.at(-1);
		const isNew = this.speechId !== part.id;
		// A message has a line break between what a helper and what the assistant says; streams do not (recorded).
		const isAfterHelper = this.isMessage && last?.data !== undefined && !last.executionId;
		const own = isAfterHelper ? text.replace(/^\n/, '') : text;
		if (last?.id === part.id && last?.text !== undefined && !isNew) last.text += own;
		else this.parts.push({ ...part, text: own });
		this.listener?.onText(own, isNew);
	}

	/** What a helper says is what came of calling it. */
	private takeHelperText({ executionId = '', xpertName }: Part, text: string): void {
		const known = this.partWith(executionId);
		if (!known) this.parts.push(component(executionId, { tool: xpertName, output: text }));
		else if (known.data) known.data.output = `${String(known.data.output ?? '')}${text}`;
	}

	private takeHelper({ id = '', title, inputs }: EventData): void {
		const waits = this.parts.find(
			({ data }) => data && data.output === undefined && isEqual(data.input, inputs),
		);
		if (waits) this.calls.set(id, waits);
		else if (!this.partWith(id))
			this.parts.push(component(id, { status: 'running', tool: title, input: inputs }));
	}

	private partWith(id: string): Part | undefined {
		return this.calls.get(id) ?? this.parts.find((part) => part.id === id && part.data);
	}

	private takeComponent(part: Part): void {
		// The end of a call has neither its tool nor what it was asked (recorded).
		const known = this.partWith(part.id ?? '');
		if (known) merge(known, part);
		else this.parts.push(part);
		const found = part.data?.output ?? part.data?.data;
		if (found !== undefined) this.listener?.onFound(found);
	}

	private isOwn({ agentKey, xpertName }: Part): boolean {
		if (agentKey === undefined) return xpertName === undefined;
		return agentKey === (this.agentKey ?? agentKey);
	}

	private isSpeech(part: Part): boolean {
		return part.text !== undefined && part.type !== 'component';
	}
}

const component = (id: string, data: Part['data']): Part => ({ type: 'component', id, data });

/** The calls of tools among the parts of a run, in their order. */
export function stepsOf(parts: Part[]): Step[] {
	return parts.flatMap(({ id = '', xpertName, data }): Step[] => {
		if (data?.tool === undefined) return [];
		const { tool, input: toolInput } = data;
		const said = data.output ?? data.error;
		const agent = xpertName === undefined ? {} : { agent: xpertName };
		const observation = typeof said === 'string' ? parseAnswer(said) : said;
		return [
			{
				action: { tool, toolInput, toolCallId: id, ...agent },
				...(said !== undefined && { observation }),
			},
		];
	});
}

/** Tokens as they are told. @returns undefined where the model counts none */
export function usageOf(
	totalTokens: number | undefined,
	inputTokens = 0,
	outputTokens = 0,
): Usage | undefined {
	if (!totalTokens) return undefined;
	const isSum = inputTokens + outputTokens === totalTokens;
	return { ...(isSum && { inputTokens, outputTokens }), totalTokens };
}

const counted = z.object({
	response_metadata: z.object({
		usage: z.object({
			prompt_tokens: z.number(),
			completion_tokens: z.number(),
			total_tokens: z.number(),
		}),
	}),
});

/** What the models have used for messages of a thread (recorded, E15). */
export function usageIn(messages: ThreadMessage[]): Usage | undefined {
	const all = messages.flatMap((one) => counted.safeParse(one).data?.response_metadata.usage ?? []);
	return usageOf(
		sumBy(all, 'total_tokens'),
		sumBy(all, 'prompt_tokens'),
		sumBy(all, 'completion_tokens'),
	);
}

/**
 * The same parts from a thread (E15), which has one text for each call of the assistant's model, and a channel for each
 * knowledge step of a workflow.
 *
 * @param messages those of it that count
 */
export function partsOf(state: ThreadState | undefined, messages: ThreadMessage[]): Part[] {
	const read = new RunEvents('');
	const channels = z.record(z.object({ result: z.unknown() }).catch({}));
	for (const [name, { result }] of Object.entries(channels.parse(state?.values ?? {})))
		if (name.endsWith('_channel') && result) read.readPart(component(name, { output: result }));
	for (const message of messages) {
		const { id, tool_calls: calls, tool_call_id: callId, content } = message;
		if (typeof callId === 'string')
			read.readPart(component(callId, { status: 'success', output: textOf(content) }));
		if (!isFromAssistant(message)) continue;
		const { output: text, parts } = replyIn(content);
		if (text !== '') read.readPart({ type: 'text', id, text });
		for (const part of parts) read.readPart(part);
		const tasks = Array.isArray(calls) ? calls.map((call: unknown) => ({ call })) : [];
		read.readTasks(tasks);
	}
	return read.parts;
}

/**
 * The sources of a run, numbered in the order in which it has found or named them, as it was to be seen while it ran.
 *
 * @param earlier what earlier runs of the thread have found, for links that an assistant repeats
 */
export function sourcesOf(parts: Part[], earlier: Part[] = []): Sources {
	const sources = new Sources(earlier.flatMap(foundIn));
	const named = new Citations(sources, 'asWritten');
	for (const part of parts) {
		sources.add(foundIn(part));
		if (part.text !== undefined) named.rewrite(part.text);
	}
	return sources;
}

const foundIn = ({ data }: Part) => passagesIn(data?.output ?? data?.data);

/** Whether an event comes after another: their ids are times with a counter. */
function isAfter(id: string, last: string | undefined): boolean {
	if (last === undefined) return true;
	const [ms = 0, count = 0] = id.split('-').map(Number);
	const [lastMs = 0, lastCount = 0] = last.split('-').map(Number);
	return ms > lastMs || (ms === lastMs && count > lastCount);
}
