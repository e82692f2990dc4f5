import { isEqual, merge } from 'lodash';
import { z } from 'zod';

import { parseAndCleanJson } from '../transport/answer';
import type { ServerEvent } from '../transport/eventStream';
import type { ConversationFacts } from './conversation';
import {
	type AnswerPart,
	type EventData,
	eventDataSchema,
	eventSchema,
	isKnownEvent,
	partSchema,
} from './runEventSchemas';
import { approvalDetails, waitingTaskFacts } from './tasks';
import {
	isTextPart,
	parseReply,
	textOfContent,
	type ThreadMessage,
	type ThreadState,
} from './thread';

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
	onResumed?: (parts: AnswerPart[]) => void;
}

/** Sorts event IDs by number, e.g. `1795616530693-9` before `1795616530693-10`. */
const EVENT_ID_COLLATOR = new Intl.Collator('en', { numeric: true });

/** Collects the parts and the final status of a run. After a reconnect, ignores repeated events. */
export class RunTranscript {
	/** ID of the last event of a known type. */
	lastId?: string;
	conversationId?: string;
	/** Whether the server reported the end of the stream. */
	isComplete = false;
	/** False if the stream lacks its beginning: the server drops the first events of a long stream. */
	hasBeginning?: boolean;
	/** How the run ended. `agentStatus` is more reliable than `status`, which another run can change. */
	end: Pick<ConversationFacts, 'status' | 'error' | 'tasks' | 'hasOnlyLeftOverTasks'> & {
		agentStatus?: string;
	} = { tasks: [] };
	usage?: ReturnType<typeof usageOf>;
	/** The parts of the run, in order of arrival. */
	readonly parts: AnswerPart[] = [];

	/** ID of the last event of an unknown type. */
	private lastUnknownId?: string;
	/** The key of the assistant itself. All other keys belong to sub-agents. */
	private agentKey?: string;
	/** Whether the parts come from a stored message, and not from a stream. */
	private isStoredMessage = false;
	/** Components by ID. The call that started a sub-agent has two keys: the call ID and the sub-agent's run ID. */
	private readonly components = new Map<string, AnswerPart>();
	/** Tool calls from `addTaskCalls`. `markSubAgentStarted` looks here for the call that started the sub-agent. */
	private readonly waitingCalls: AnswerPart[] = [];
	/** The last text of the assistant, not of a sub-agent. */
	private lastText?: AnswerPart;
	/**
	 * Index of the first part after the last `prepareForNextAnswer`. `output` leaves out earlier parts, but `otherParts`
	 * has them.
	 */
	private answerStart = 0;

	constructor(
		private readonly runId: string,
		private listener?: Listener,
	) {}

	/**
	 * Adds an event of the stream. Ignores repeated events, events of an unknown type, and data that is not an event, such
	 * as `[DONE]`. An event without an ID never counts as repeated.
	 *
	 * @returns whether the event shows that the run goes on: it has an ID that was not seen before, whatever its type
	 */
	addEvent({ id, data }: ServerEvent): boolean {
		const event = eventSchema.safeParse(parseAndCleanJson(data)).data;
		if (!event) return false;
		// The IDs of unknown events may not be in the order of the others, so they have their own last ID.
		const lastIdOfKind = isKnownEvent(event) ? 'lastId' : 'lastUnknownId';
		const hasNewId =
			id !== undefined && EVENT_ID_COLLATOR.compare(id, this[lastIdOfKind] ?? '') > 0;
		if (hasNewId) this[lastIdOfKind] = id;
		if (!isKnownEvent(event)) return hasNewId;
		const isRepeated = id !== undefined && !hasNewId;
		if (isRepeated) return false;
		this.hasBeginning ??= event.event === 'on_conversation_start';
		if (event.type === 'complete') this.isComplete = true;
		if (event.type === 'message') this.addPart(event.data);
		if (event.event) this.applyEvent(event.event, eventDataSchema.safeParse(event.data).data);
		return hasNewId;
	}

	/** Adds the content of the message that the conversation stores for the run. */
	addStoredContent(content: unknown) {
		this.isStoredMessage = true;
		if (typeof content === 'string' && content) this.addPart({ type: 'text', text: content });
		if (Array.isArray(content)) for (const part of content) this.addPart(part);
	}

	/** Adds a part, or the next piece of a text. */
	addPart(raw: unknown) {
		const part = partSchema.safeParse(raw).data;
		if (!part) return;
		this.agentKey ??= part.executionId === this.runId ? part.agentKey : undefined;
		if (part.type === 'component') this.addComponent(part);
		else if (part.text === undefined) this.parts.push(part);
		else if (!isTextPart(part)) this.append(part, part.text);
		else if (this.isAssistantsOwnText(part)) this.addText(part, part.text);
		else this.addSubAgentText(part, part.text);
	}

	/** Adds the tool call of each task. Skips known tool calls. */
	addTaskCalls(tasks: unknown[]) {
		for (const task of tasks) {
			const { callId: id, tool, args: input } = approvalDetails(task);
			if (id === undefined || this.components.has(id)) continue;
			this.waitingCalls.push(this.addNewComponent(makeComponent(id, { tool, input })));
		}
	}

	/** Reads a tool result or a reply of the assistant from a message on the thread. Ignores messages of users. */
	addMessage(message: ThreadMessage) {
		const { tool_calls: calls, tool_call_id: callId, content } = message;
		if (typeof callId === 'string')
			this.addPart(makeComponent(callId, { status: 'success', output: textOfContent(content) }));
		// Each message of the assistant has the list `tool_calls`, which may be empty. Other messages have none.
		if (!Array.isArray(calls)) return;
		const { output: text, parts } = parseReply(content);
		// Without an ID, `append` would join this text to the previous message.
		const { id = String(this.parts.length) } = message;
		if (text !== '') this.addPart({ type: 'text', id, text });
		for (const part of parts) this.addPart(part);
		this.addTaskCalls(calls.map((call: unknown) => ({ call })));
	}

	/** Prepares for the answer after a person's decision: resets the answer and `end`, and sets the listener. */
	prepareForNextAnswer(listener: Listener | undefined) {
		this.answerStart = this.parts.length;
		this.lastText = undefined;
		this.end = { tasks: [] };
		this.isComplete = false;
		this.listener = listener;
		listener?.onResumed?.(this.parts);
	}

	/** ID of the assistant's last text. On the thread, the message with this text has the same ID. */
	get answerId() {
		return this.lastText?.id;
	}

	/** The assistant's last text, which is the answer once the run has ended. */
	get output() {
		const texts = this.parts.slice(this.answerStart).filter(isTextPart);
		return texts.flatMap(({ id, text }) => (id === this.answerId ? (text ?? '') : [])).join('');
	}

	/** All parts except texts and components, e.g. images and model reasoning. */
	get otherParts(): unknown[] {
		return this.parts.filter((part) => part.type !== 'component' && !isTextPart(part));
	}

	/** Whether the last part is a tool call or a step that is running or waits. A waiting call has no status and no output. */
	get isInToolCall() {
		const { tool, status, output } = this.parts.at(-1)?.data ?? {};
		const isPending = tool !== undefined && status === undefined && output === undefined;
		return isPending || status === 'running';
	}

	/** Applies an event about the conversation or an agent. Events with other names have no data that the node needs. */
	private applyEvent(event: string, data: EventData | undefined) {
		if (!data) return;
		const { id, status, error, operation } = data;
		switch (event) {
			case 'on_conversation_start':
				this.conversationId ??= id;
				break;
			case 'on_agent_start':
				// The first agent that starts is the assistant. Any other agent with a parent is a workflow step (which comes as
				// a part, and is not started here) or a sub-agent.
				this.agentKey ??= data.agentKey;
				if (data.parentId !== undefined && data.category !== 'workflow')
					this.markSubAgentStarted(data);
				break;
			case 'on_agent_end':
				if (data.agentKey === this.agentKey) {
					this.end.agentStatus = status;
					this.usage = usageOf(data) ?? this.usage;
				} else merge(this.components.get(id ?? ''), { data: { status } });
				break;
			case 'on_conversation_end': {
				const { tasks, hasOnlyLeftOverTasks } = waitingTaskFacts(operation?.tasks);
				Object.assign(this.end, { status, error, tasks, hasOnlyLeftOverTasks });
				this.addTaskCalls(tasks);
			}
		}
	}

	/** Adds a text of the assistant itself, and passes it to the listener. */
	private addText(part: AnswerPart, text: string) {
		const last = this.parts.at(-1);
		// After a decision, the answer must not continue the text before it, even if both have the same ID. So
		// `prepareForNextAnswer` clears `lastText`, and the text counts as new.
		const isNewText = this.lastText?.id !== part.id;
		// Stored messages contain a line break after a sub-agent's text. Streams do not.
		// A part that `addSubAgentText` created has `data`, but no `executionId`.
		const isAfterSubAgent = this.isStoredMessage && last?.data !== undefined && !last.executionId;
		const own = isAfterSubAgent ? text.replace(/^\n/, '') : text;
		if (isNewText) this.parts.push({ ...part, text: own });
		else this.append(part, own);
		this.lastText = this.parts.at(-1);
		this.listener?.onText(own, isNewText);
	}

	/** Appends a text to the last part if that part is a text with the same ID and type. Otherwise, adds a new part. */
	private append(part: AnswerPart, text: string) {
		const last = this.parts.at(-1);
		const isNext = last?.id === part.id && last?.type === part.type && last?.text !== undefined;
		if (isNext) last.text += text;
		else this.parts.push({ ...part, text });
	}

	private addNewComponent(part: AnswerPart & { id: string }): AnswerPart {
		this.parts.push(part);
		this.components.set(part.id, part);
		return part;
	}

	/** Adds the text of a sub-agent to the output of the tool call that started the sub-agent. */
	private addSubAgentText({ executionId = '', xpertName }: AnswerPart, text: string) {
		const known = this.components.get(executionId);
		if (!known) this.addNewComponent(makeComponent(executionId, { tool: xpertName, output: text }));
		else if (known.data) known.data.output = `${String(known.data.output ?? '')}${text}`;
	}

	/** Marks the tool call that started a sub-agent as running. Adds a component if the call is unknown. */
	private markSubAgentStarted({ id = '', title, inputs }: EventData) {
		const call = this.waitingCalls.find(
			({ data }) => data?.output === undefined && isEqual(data?.input, inputs),
		);
		if (call) this.components.set(id, merge(call, { data: { status: 'running' } }));
		else if (!this.components.has(id))
			this.addNewComponent(makeComponent(id, { status: 'running', tool: title, input: inputs }));
	}

	/** Adds a tool call or a step, or its result. Passes the result to the listener. */
	private addComponent(part: AnswerPart) {
		// The server sends two parts for a call. The first part has `tool` and `input`. The second part has the result.
		const { id = `#${this.parts.length}` } = part;
		const known = this.components.get(id);
		if (known) merge(known, part);
		else this.addNewComponent({ ...part, id });
		const result = part.data?.output ?? part.data?.data;
		if (result !== undefined) this.listener?.onToolResult(result);
	}

	/** Whether a text comes from the assistant itself, and not from a sub-agent. */
	private isAssistantsOwnText({ agentKey, xpertName }: AnswerPart) {
		if (agentKey === undefined) return xpertName === undefined;
		return agentKey === (this.agentKey ?? agentKey);
	}
}

/** Creates a part for a tool call or a step. */
const makeComponent = (id: string, data: AnswerPart['data']) => ({ type: 'component', id, data });

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

const stepChannelsSchema = z.record(z.object({ result: z.unknown() }).catch({}));

/**
 * Reads one run or all runs of a thread from the state of the thread. Does not set `end`.
 *
 * @param messages the messages on the thread that belong to these runs
 */
export function transcriptFromThread(
	state: ThreadState | undefined,
	messages: ThreadMessage[],
): RunTranscript {
	const transcript = new RunTranscript('');
	// The results of knowledge steps are in fields of `state.values` whose names end with `_channel`.
	const channels = stepChannelsSchema.parse(state?.values ?? {});
	for (const [name, { result }] of Object.entries(channels))
		if (name.endsWith('_channel') && result)
			transcript.addPart(makeComponent(name, { output: result }));
	for (const message of messages) transcript.addMessage(message);
	return transcript;
}
