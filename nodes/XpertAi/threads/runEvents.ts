import isEqual from 'lodash/isEqual';
import merge from 'lodash/merge';
import { z } from 'zod';

import { numberIfAny, textIfAny } from '../payloads/common';
import { parseAnswer } from '../transport/answer';
import type { ServerEvent } from '../transport/eventStream';
import { openTasks, requestOf } from './conversation';
import { Citations, passagesIn, Sources } from './sources';
import { isText, parseReply, textOf, type ThreadMessage, type ThreadState } from './thread';

/*
 * Reads what a run has done. The events of its stream, the parts of its message in the conversation and the messages of
 * its thread all become the same parts (recorded, one-question-1 to -6).
 */

const listIfAny = z.array(z.unknown()).optional().catch(undefined);

const partSchema = z
	.object({
		/** `text`, `component` for a tool call or a workflow step, or another type such as an image. */
		type: textIfAny,
		/** For a text, the ID of the model call; for a component, the ID of the tool call. */
		id: textIfAny,
		text: textIfAny,
		agentKey: textIfAny,
		executionId: textIfAny,
		/** Name of the sub-agent; undefined for the assistant itself. */
		xpertName: textIfAny,
		data: z
			.object({
				status: textIfAny,
				type: textIfAny,
				tool: textIfAny,
				input: z.unknown(),
				/** The result of a tool; a workflow step has `data` instead. */
				output: z.unknown(),
				data: z.unknown(),
				error: z.unknown(),
			})
			.optional()
			.catch(undefined),
	})
	.passthrough();

/** A text, a tool call or another part of an answer. */
export type Part = z.infer<typeof partSchema>;

const eventData = z.object({
	id: textIfAny,
	agentKey: textIfAny,
	/** `workflow` for a step of a workflow, which is not a call. */
	category: textIfAny,
	parentId: textIfAny,
	title: textIfAny,
	inputs: z.unknown(),
	status: textIfAny,
	error: textIfAny,
	operation: z.object({ tasks: listIfAny }).optional().catch(undefined),
	tokens: numberIfAny,
	inputTokens: numberIfAny,
	outputTokens: numberIfAny,
});

type EventData = z.infer<typeof eventData>;

const eventSchema = z.object({ type: z.string(), event: textIfAny, data: z.unknown() });

/** Gets the answer while it is written. */
export interface Listener {
	/** A piece of the answer. `isNew` is true for the first piece of each model call. */
	onText: (piece: string, isNew: boolean) => void;
	/** The result of a tool or of a workflow step. */
	onToolResult: (answer: unknown) => void;
}

/** The tokens of all model calls of a run; input and output only if they add up to the total. */
export interface Usage {
	inputTokens?: number;
	outputTokens?: number;
	totalTokens: number;
}

/** The order of event IDs, each a time and a counter. */
const EVENT_ORDER = new Intl.Collator('en', { numeric: true });

/** Collects the events of a run. Repeated events, as after joining the stream again, change nothing. */
export class RunEvents {
	/** ID of the last event. */
	lastId?: string;
	conversationId?: string;
	/** Whether the stream reported its end. */
	isComplete = false;
	/** Whether the stream was read from its start: a long one loses its first events. */
	isWhole?: boolean;
	/** How the run ended. Another run on the thread does not change the status of the assistant's own agent. */
	end: Pick<EventData, 'status' | 'error'> & {
		tasks: unknown[];
		agentStatus?: string;
		/** Whether it ended with nothing but a task that waits for nobody. */
		isLeftOver?: boolean;
	} = { tasks: [] };
	usage?: Usage;
	/** In the order in which they came. */
	readonly parts: Part[] = [];

	private agentKey?: string;
	private isMessage = false;
	/** Components by their ID; that of a sub-agent's call also by the run ID of the sub-agent. */
	private readonly components = new Map<string, Part>();
	/** Calls that waited for a person. */
	private readonly waiting: Part[] = [];
	/** The assistant's last text after the decision. */
	private lastText?: Part;
	/** Index of the first part after the decision. */
	private from = 0;

	constructor(
		private readonly runId: string,
		private listener?: Listener,
	) {}

	/** Adds an event of the stream; ignores any other form, such as `[DONE]`. */
	addEvent({ id, data }: ServerEvent): void {
		const event = eventSchema.safeParse(parseAnswer(data)).data;
		const isRepeated = id !== undefined && EVENT_ORDER.compare(id, this.lastId ?? '') <= 0;
		if (!event || isRepeated) return;
		this.lastId = id ?? this.lastId;
		this.isWhole ??= event.event === 'on_conversation_start';
		if (event.type === 'complete') this.isComplete = true;
		if (event.type === 'message') this.readPart(event.data);
		if (event.event) this.applyEvent(event.event, eventData.safeParse(event.data).data);
	}

	/** Adds the content of the run's message, as the conversation stores it. */
	readContent(content: unknown): void {
		this.isMessage = true;
		if (typeof content === 'string' && content) this.readPart({ type: 'text', text: content });
		if (Array.isArray(content)) for (const part of content) this.readPart(part);
	}

	/** Adds a part or a piece of one. */
	readPart(raw: unknown): void {
		const part = partSchema.safeParse(raw).data;
		if (!part) return;
		this.agentKey ??= part.executionId === this.runId ? part.agentKey : undefined;
		if (part.type === 'component') this.addComponent(part);
		else if (part.text === undefined) this.parts.push(part);
		else if (!isText(part)) this.append(part, part.text);
		else if (this.isOwn(part)) this.addText(part, part.text);
		else this.addSubAgentText(part, part.text);
	}

	/** Adds tasks that wait for a person: calls that have not started. */
	readTasks(tasks: unknown[]): void {
		for (const task of tasks) {
			const { callId: id, tool, args: input } = requestOf(task);
			if (id === undefined || this.components.has(id)) continue;
			this.waiting.push(this.begin(component(id, { tool, input })));
		}
	}

	/** Adds a message of a thread. */
	readMessage(message: ThreadMessage): void {
		const { tool_calls: calls, tool_call_id: callId, content } = message;
		if (typeof callId === 'string')
			this.readPart(component(callId, { status: 'success', output: textOf(content) }));
		if (!Array.isArray(calls)) return;
		const { output: text, parts } = parseReply(content);
		// Texts without an ID are no pieces of the same text.
		const { id = String(this.parts.length) } = message;
		if (text !== '') this.readPart({ type: 'text', id, text });
		for (const part of parts) this.readPart(part);
		this.readTasks(calls.map((call: unknown) => ({ call })));
	}

	/** Continues after a decision: the next events belong to a part with an end of its own. */
	resume(listener: Listener | undefined): void {
		this.from = this.parts.length;
		this.lastText = undefined;
		this.end = { tasks: [] };
		this.isComplete = false;
		this.listener = listener;
	}

	/** ID of the assistant's last text. Its message on the thread has the same one (recorded). */
	get answerId(): string | undefined {
		return this.lastText?.id;
	}

	/** The assistant's last text, which is the answer once the run has ended. */
	get answer(): string {
		const texts = this.parts.slice(this.from).filter(isText);
		return texts.flatMap(({ id, text }) => (id === this.answerId ? (text ?? '') : [])).join('');
	}

	/** Parts that are neither text nor tool calls, such as images and the thoughts of a model. */
	get otherParts(): Part[] {
		return this.parts.filter((part) => part.type !== 'component' && !isText(part));
	}

	/** Whether the last part is a tool call without a result, also one that waited for a decision. */
	get isInToolCall(): boolean {
		const { tool, status, output } = this.parts.at(-1)?.data ?? {};
		const isDecided = tool !== undefined && status === undefined && output === undefined;
		return isDecided || status === 'running';
	}

	private applyEvent(event: string, data: EventData | undefined): void {
		if (!data) return;
		const { id, status, error, operation } = data;
		switch (event) {
			case 'on_conversation_start':
				this.conversationId ??= id;
				break;
			case 'on_agent_start':
				// The assistant starts first; its sub-agents follow.
				this.agentKey ??= data.agentKey;
				if (data.parentId !== undefined && data.category !== 'workflow') this.startSubAgent(data);
				break;
			case 'on_agent_end':
				if (data.agentKey !== this.agentKey) {
					merge(this.components.get(id ?? ''), { data: { status } });
					break;
				}
				this.end.agentStatus = status;
				this.usage = usageOf(data.tokens, data.inputTokens, data.outputTokens) ?? this.usage;
				break;
			case 'on_conversation_end': {
				const { tasks, isLeftOver } = openTasks(operation?.tasks);
				Object.assign(this.end, { status, error, tasks, isLeftOver });
				this.readTasks(tasks);
			}
		}
	}

	private addText(part: Part, text: string): void {
		const last = this.parts.at(-1);
		const isNew = this.answerId !== part.id;
		// In a message, a line break follows the text of a sub-agent; in a stream, none does (recorded).
		const isAfterSubAgent = this.isMessage && last?.data !== undefined && !last.executionId;
		const own = isAfterSubAgent ? text.replace(/^\n/, '') : text;
		this.append(part, own, isNew);
		this.lastText = this.parts.at(-1);
		this.listener?.onText(own, isNew);
	}

	/** Adds a text to the last part, if it is the next piece of that. */
	private append(part: Part, text: string, isNew = false): void {
		const last = this.parts.at(-1);
		const isNext = last?.id === part.id && last?.type === part.type && last?.text !== undefined;
		if (isNext && !isNew) last.text += text;
		else this.parts.push({ ...part, text });
	}

	private begin(part: Part & { id: string }): Part {
		this.parts.push(part);
		this.components.set(part.id, part);
		return part;
	}

	/** The text of a sub-agent is the result of its call. */
	private addSubAgentText({ executionId = '', xpertName }: Part, text: string): void {
		const known = this.components.get(executionId);
		if (!known) this.begin(component(executionId, { tool: xpertName, output: text }));
		else if (known.data) known.data.output = `${String(known.data.output ?? '')}${text}`;
	}

	private startSubAgent({ id = '', title, inputs }: EventData): void {
		const call = this.waiting.find(
			({ data }) => data?.output === undefined && isEqual(data?.input, inputs),
		);
		if (call) this.components.set(id, merge(call, { data: { status: 'running' } }));
		else if (!this.components.has(id))
			this.begin(component(id, { status: 'running', tool: title, input: inputs }));
	}

	private addComponent(part: Part): void {
		// The end of a call repeats neither the tool nor the input (recorded).
		const { id = `#${this.parts.length}` } = part;
		const known = this.components.get(id);
		if (known) merge(known, part);
		else this.begin({ ...part, id });
		const result = part.data?.output ?? part.data?.data;
		if (result !== undefined) this.listener?.onToolResult(result);
	}

	private isOwn({ agentKey, xpertName }: Part): boolean {
		if (agentKey === undefined) return xpertName === undefined;
		return agentKey === (this.agentKey ?? agentKey);
	}
}

const component = (id: string, data: Part['data']) => ({ type: 'component', id, data });

/**
 * The tool calls of a run and their results, in order and in the format of n8n's AI Agent. `agent` is the sub-agent that
 * made a call; `observation` is missing while it waits for a person.
 */
export function stepsOf(parts: Part[]) {
	return parts.flatMap(({ id = '', xpertName: agent, data }) => {
		if (data?.tool === undefined) return [];
		const { tool, input: toolInput } = data;
		const result = data.output ?? data.error;
		const observation = typeof result === 'string' ? parseAnswer(result) : result;
		const action = { tool, toolInput, toolCallId: id, ...(agent !== undefined && { agent }) };
		return [{ action, ...(result !== undefined && { observation }) }];
	});
}

/** Token counts as usage. @returns undefined if the model counts no tokens */
export function usageOf(totalTokens = 0, inputTokens = 0, outputTokens = 0): Usage | undefined {
	if (!totalTokens) return undefined;
	const isSum = inputTokens + outputTokens === totalTokens;
	return { ...(isSum && { inputTokens, outputTokens }), totalTokens };
}

/**
 * Reads a run from a thread (E15), which has one text for each call of the assistant's model, and
 * a channel for each knowledge step of a workflow.
 *
 * @param messages the messages of the run
 */
export function eventsOn(state: ThreadState | undefined, messages: ThreadMessage[]): RunEvents {
	const events = new RunEvents('');
	events.conversationId = state?.metadata?.id;
	const channels = z.record(z.object({ result: z.unknown() }).catch({}));
	for (const [name, { result }] of Object.entries(channels.parse(state?.values ?? {})))
		if (name.endsWith('_channel') && result) events.readPart(component(name, { output: result }));
	for (const message of messages) events.readMessage(message);
	return events;
}

/**
 * The sources of a run, numbered in the order in which they were found or cited while it ran.
 *
 * @param earlier parts of earlier runs of the thread, for links that the assistant repeats
 */
export function sourcesOf(parts: Part[], earlier: Part[] = []): Sources {
	const sources = new Sources(earlier.flatMap(passagesOf));
	const citations = new Citations(sources, 'asWritten');
	for (const part of parts) {
		sources.add(passagesOf(part));
		if (part.text !== undefined) citations.rewrite(part.text);
	}
	return sources;
}

const passagesOf = ({ data }: Part) => passagesIn(data?.output ?? data?.data);
