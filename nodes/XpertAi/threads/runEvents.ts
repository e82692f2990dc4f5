import { isEqual, merge } from 'lodash';
import { z } from 'zod';

import { eachOf, lenientNumber, lenientText } from '../payloads/schemas';
import { parseAnswer } from '../transport/answer';
import type { ServerEvent } from '../transport/eventStream';
import type { ConversationFacts } from './conversation';
import { openTasks, requestOf } from './tasks';
import { isTextPart, parseReply, textOf, type ThreadMessage, type ThreadState } from './thread';

/*
 * A run of the assistant can be read from three sources: the event stream of the run, the run's message in the
 * conversation, or the run's messages on the thread. All three sources contain the same parts, as
 * `test/recordings/one-question-1.json` to `one-question-6.json` show.
 */

const lenientList = z.array(z.unknown()).optional().catch(undefined);

const partSchema = z
	.object({
		/**
		 * - `type`: `text`, `component` (a tool call or a workflow step), or another type such as an image.
		 * - `id`: the ID of the model call (for a text) or of the tool call (for a component).
		 * - `xpertName`: the name of the sub-agent; undefined for the assistant itself.
		 */
		...eachOf(lenientText, 'type', 'id', 'text', 'agentKey', 'executionId', 'xpertName'),
		data: z
			.object({
				...eachOf(lenientText, 'status', 'type', 'tool'),
				/** The result of a tool is in `output`. The result of a workflow step is in `data`. */
				...eachOf(z.unknown(), 'input', 'output', 'data', 'error'),
			})
			.optional()
			.catch(undefined),
	})
	.passthrough();

/** A text, a tool call or another part of an answer. */
export type Part = z.infer<typeof partSchema>;

const eventData = z.object({
	/** `category` is `workflow` for a workflow step. */
	...eachOf(lenientText, 'id', 'agentKey', 'category', 'parentId', 'title', 'status', 'error'),
	...eachOf(lenientNumber, 'tokens', 'inputTokens', 'outputTokens'),
	inputs: z.unknown(),
	operation: z.object({ tasks: lenientList }).optional().catch(undefined),
});

type EventData = z.infer<typeof eventData>;

const eventSchema = z.object({ type: z.string(), event: lenientText, data: z.unknown() });

/** The names of events of the type `event` in `test/recordings`. The node reads some of them. */
const KNOWN_EVENTS =
	/^on_(conversation_(start|end)|message_(start|end)|agent_(start|end)|chat_event|interrupt)$/;

const isKnown = ({ type, event = '' }: z.infer<typeof eventSchema>) =>
	['message', 'complete'].includes(type) || (type === 'event' && KNOWN_EVENTS.test(event));

/** Receives the answer piece by piece, while the assistant writes. */
export interface Listener {
	/** A piece of the answer. `isNew` is true if a new text starts with this piece. */
	onText: (piece: string, isNew: boolean) => void;
	/** The result of a tool or workflow step. */
	onToolResult: (answer: unknown) => void;
	/**
	 * Called when the stream goes on after a decision, before the first piece of the new answer. Gets the parts from
	 * before the decision.
	 */
	onEarlier?: (parts: Part[]) => void;
}

/** Sorts event IDs by number, e.g. `1795616530693-9` before `1795616530693-10`. */
const EVENT_ORDER = new Intl.Collator('en', { numeric: true });

/** Collects the parts and the final status of a run. After a reconnect, ignores repeated events. */
export class RunEvents {
	/** ID of the last event of a known type. */
	lastId?: string;
	conversationId?: string;
	/** Whether the server reported the end of the stream. */
	isComplete = false;
	/** False if the server dropped the first events of a long stream. */
	isWhole?: boolean;
	/** How the run ended. `agentStatus` is more reliable than `status`, which another run can change. */
	end: Pick<ConversationFacts, 'status' | 'error' | 'tasks' | 'isLeftOver'> & {
		agentStatus?: string;
	} = { tasks: [] };
	usage?: ReturnType<typeof usageOf>;
	/** The parts of the run, in order of arrival. */
	readonly parts: Part[] = [];

	private lastUnknownId?: string;
	private agentKey?: string;
	private isMessage = false;
	/** Components by ID. The call that started a sub-agent has two keys: the call ID and the sub-agent's run ID. */
	private readonly components = new Map<string, Part>();
	/** Tool calls from `readTasks`. `startSubAgent` looks here for the call that started the sub-agent. */
	private readonly waiting: Part[] = [];
	/** The last text of the assistant, not of a sub-agent. */
	private lastText?: Part;
	/** Index of the first part after the last `resume`. */
	private from = 0;

	constructor(
		private readonly runId: string,
		private listener?: Listener,
	) {}

	/**
	 * Adds an event of the stream. Ignores repeated events, and data that is not an event, such as `[DONE]`. Passes over an
	 * event of an unknown type without moving `lastId`, because its ID may not be in the order of the others.
	 *
	 * @returns true if the event has an ID that was not seen before, so that the run goes on. An event without an ID is
	 * applied, but returns false.
	 */
	addEvent({ id, data }: ServerEvent): boolean {
		const event = eventSchema.safeParse(parseAnswer(data)).data;
		if (!event) return false;
		const position = isKnown(event) ? 'lastId' : 'lastUnknownId';
		const isNew = id !== undefined && EVENT_ORDER.compare(id, this[position] ?? '') > 0;
		if (isNew) this[position] = id;
		if (position === 'lastUnknownId') return isNew;
		const isRepeated = id !== undefined && !isNew;
		if (isRepeated) return false;
		this.isWhole ??= event.event === 'on_conversation_start';
		if (event.type === 'complete') this.isComplete = true;
		if (event.type === 'message') this.readPart(event.data);
		if (event.event) this.applyEvent(event.event, eventData.safeParse(event.data).data);
		return isNew;
	}

	/** Adds the content of the run's message in the conversation. */
	readContent(content: unknown) {
		this.isMessage = true;
		if (typeof content === 'string' && content) this.readPart({ type: 'text', text: content });
		if (Array.isArray(content)) for (const part of content) this.readPart(part);
	}

	/** Adds a part, or the next piece of a text. */
	readPart(raw: unknown) {
		const part = partSchema.safeParse(raw).data;
		if (!part) return;
		this.agentKey ??= part.executionId === this.runId ? part.agentKey : undefined;
		if (part.type === 'component') this.addComponent(part);
		else if (part.text === undefined) this.parts.push(part);
		else if (!isTextPart(part)) this.append(part, part.text);
		else if (this.isOwn(part)) this.addText(part, part.text);
		else this.addSubAgentText(part, part.text);
	}

	/** Adds the tool call of each task. Skips known tool calls. */
	readTasks(tasks: unknown[]) {
		for (const task of tasks) {
			const { callId: id, tool, args: input } = requestOf(task);
			if (id === undefined || this.components.has(id)) continue;
			this.waiting.push(this.begin(component(id, { tool, input })));
		}
	}

	/** Reads a tool result or a reply of the assistant from a message on the thread. Ignores messages of users. */
	readMessage(message: ThreadMessage) {
		const { tool_calls: calls, tool_call_id: callId, content } = message;
		if (typeof callId === 'string')
			this.readPart(component(callId, { status: 'success', output: textOf(content) }));
		if (!Array.isArray(calls)) return;
		const { output: text, parts } = parseReply(content);
		// Without an ID, `append` would join this text to the previous message.
		const { id = String(this.parts.length) } = message;
		if (text !== '') this.readPart({ type: 'text', id, text });
		for (const part of parts) this.readPart(part);
		this.readTasks(calls.map((call: unknown) => ({ call })));
	}

	/** Resets the answer and `end`. Called when the run continues after a person's decision. */
	resume(listener: Listener | undefined) {
		this.from = this.parts.length;
		this.lastText = undefined;
		this.end = { tasks: [] };
		this.isComplete = false;
		this.listener = listener;
		listener?.onEarlier?.(this.parts);
	}

	/** ID of the assistant's last text. On the thread, the message with this text has the same ID. */
	get answerId() {
		return this.lastText?.id;
	}

	/** The assistant's last text, which is the answer once the run has ended. */
	get output() {
		const texts = this.parts.slice(this.from).filter(isTextPart);
		return texts.flatMap(({ id, text }) => (id === this.answerId ? (text ?? '') : [])).join('');
	}

	/** All parts except texts and components, e.g. images and model reasoning. */
	get otherParts(): unknown[] {
		return this.parts.filter((part) => part.type !== 'component' && !isTextPart(part));
	}

	/** Whether the last part is running or waits for a decision. A waiting tool call has no status and no output. */
	get isInToolCall() {
		const { tool, status, output } = this.parts.at(-1)?.data ?? {};
		const isPending = tool !== undefined && status === undefined && output === undefined;
		return isPending || status === 'running';
	}

	private applyEvent(event: string, data: EventData | undefined) {
		if (!data) return;
		const { id, status, error, operation } = data;
		switch (event) {
			case 'on_conversation_start':
				this.conversationId ??= id;
				break;
			case 'on_agent_start':
				// The first agent that starts is the assistant. All other agents are sub-agents.
				this.agentKey ??= data.agentKey;
				if (data.parentId !== undefined && data.category !== 'workflow') this.startSubAgent(data);
				break;
			case 'on_agent_end':
				if (data.agentKey !== this.agentKey) {
					merge(this.components.get(id ?? ''), { data: { status } });
					break;
				}
				this.end.agentStatus = status;
				this.usage = usageOf(data) ?? this.usage;
				break;
			case 'on_conversation_end': {
				const { tasks, isLeftOver } = openTasks(operation?.tasks);
				Object.assign(this.end, { status, error, tasks, isLeftOver });
				this.readTasks(tasks);
			}
		}
	}

	private addText(part: Part, text: string) {
		const last = this.parts.at(-1);
		const isNew = this.answerId !== part.id;
		// Stored messages contain a line break after a sub-agent's text. Streams do not.
		const isAfterSubAgent = this.isMessage && last?.data !== undefined && !last.executionId;
		const own = isAfterSubAgent ? text.replace(/^\n/, '') : text;
		this.append(part, own, isNew);
		this.lastText = this.parts.at(-1);
		this.listener?.onText(own, isNew);
	}

	/** Appends a text to the last text if both have the same ID and type. Otherwise, or if `isNew`, adds a new part. */
	private append(part: Part, text: string, isNew = false) {
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

	/** Adds the text of a sub-agent to the output of the tool call that started the sub-agent. */
	private addSubAgentText({ executionId = '', xpertName }: Part, text: string) {
		const known = this.components.get(executionId);
		if (!known) this.begin(component(executionId, { tool: xpertName, output: text }));
		else if (known.data) known.data.output = `${String(known.data.output ?? '')}${text}`;
	}

	private startSubAgent({ id = '', title, inputs }: EventData) {
		const call = this.waiting.find(
			({ data }) => data?.output === undefined && isEqual(data?.input, inputs),
		);
		if (call) this.components.set(id, merge(call, { data: { status: 'running' } }));
		else if (!this.components.has(id))
			this.begin(component(id, { status: 'running', tool: title, input: inputs }));
	}

	private addComponent(part: Part) {
		// The server sends two parts for a call. The first part has `tool` and `input`. The second part has the result.
		const { id = `#${this.parts.length}` } = part;
		const known = this.components.get(id);
		if (known) merge(known, part);
		else this.begin({ ...part, id });
		const result = part.data?.output ?? part.data?.data;
		if (result !== undefined) this.listener?.onToolResult(result);
	}

	private isOwn({ agentKey, xpertName }: Part) {
		if (agentKey === undefined) return xpertName === undefined;
		return agentKey === (this.agentKey ?? agentKey);
	}
}

const component = (id: string, data: Part['data']) => ({ type: 'component', id, data });

/** The tool calls of a run in the format of n8n's AI Agent. `agent` is the name of the sub-agent that made the call. */
export function stepsOf(parts: Part[]) {
	return parts.flatMap(({ id = '', xpertName: agent, data }) => {
		if (data?.tool === undefined) return [];
		const { tool, input: toolInput } = data;
		const result = data.output ?? data.error;
		const observation = parseAnswer(result);
		const action = { tool, toolInput, toolCallId: id, ...(agent !== undefined && { agent }) };
		return [{ action, ...(result !== undefined && { observation }) }];
	});
}

/**
 * The token usage of a run. Omits the input and output tokens if they do not add up to the total.
 *
 * @returns undefined if the server gives no total
 */
function usageOf({ tokens: totalTokens, inputTokens = 0, outputTokens = 0 }: EventData) {
	if (!totalTokens) return undefined;
	const isSum = inputTokens + outputTokens === totalTokens;
	return { ...(isSum && { inputTokens, outputTokens }), totalTokens };
}

/**
 * Reads a run from the state of its thread.
 *
 * @param messages the messages of the run on the thread
 */
export function eventsOn(state: ThreadState | undefined, messages: ThreadMessage[]): RunEvents {
	const events = new RunEvents('');
	// The results of knowledge steps are in fields of `state.values` whose names end with `_channel`.
	const channels = z.record(z.object({ result: z.unknown() }).catch({}));
	for (const [name, { result }] of Object.entries(channels.parse(state?.values ?? {})))
		if (name.endsWith('_channel') && result) events.readPart(component(name, { output: result }));
	for (const message of messages) events.readMessage(message);
	return events;
}
