import { compact, isEqual, merge } from 'lodash';
import { z } from 'zod';

import { eachOf, numberIfAny, textIfAny } from '../payloads/common';
import { parseAnswer } from '../transport/answer';
import type { ServerEvent } from '../transport/eventStream';
import { isText, openTasks, parseReply, requestOf, textOf } from './thread';
import type { ConversationFacts, ThreadMessage, ThreadState } from './thread';

/*
 * A run of the assistant can be read from three sources: the event stream of the run, the run's message in the
 * conversation, or the run's messages on the thread. All three sources contain the same parts, as
 * `test/recordings/one-question-1.json` to `one-question-6.json` show.
 */

const listIfAny = z.array(z.unknown()).optional().catch(undefined);

const partSchema = z
	.object({
		/**
		 * - `type`: `text`, `component` (a tool call or a workflow step), or another type such as an image.
		 * - `id`: the ID of the model call (for a text) or of the tool call (for a component).
		 * - `xpertName`: the name of the sub-agent; undefined for the assistant itself.
		 */
		...eachOf(textIfAny, 'type', 'id', 'text', 'agentKey', 'executionId', 'xpertName'),
		data: z
			.object({
				...eachOf(textIfAny, 'status', 'type', 'tool'),
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
	...eachOf(textIfAny, 'id', 'agentKey', 'category', 'parentId', 'title', 'status', 'error'),
	...eachOf(numberIfAny, 'tokens', 'inputTokens', 'outputTokens'),
	inputs: z.unknown(),
	operation: z.object({ tasks: listIfAny }).optional().catch(undefined),
});

type EventData = z.infer<typeof eventData>;

const eventSchema = z.object({ type: z.string(), event: textIfAny, data: z.unknown() });

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
	/** The parts from before a decision, before the first piece of the answer to the decision. */
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
	 * @returns whether the event has an ID and was not seen before, so that the run goes on
	 */
	addEvent({ id, data }: ServerEvent): boolean {
		const event = eventSchema.safeParse(parseAnswer(data)).data;
		if (!event) return false;
		const mark = isKnown(event) ? 'lastId' : 'lastUnknownId';
		const isNew = id !== undefined && EVENT_ORDER.compare(id, this[mark] ?? '') > 0;
		if (isNew) this[mark] = id;
		const isRepeated = id !== undefined && !isNew;
		if (mark === 'lastUnknownId' || isRepeated) return isNew;
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
		else if (!isText(part)) this.append(part, part.text);
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
		const texts = this.parts.slice(this.from).filter(isText);
		return texts.flatMap(({ id, text }) => (id === this.answerId ? (text ?? '') : [])).join('');
	}

	/** All parts except texts and components, e.g. images and model reasoning. */
	get otherParts(): unknown[] {
		return this.parts.filter((part) => part.type !== 'component' && !isText(part));
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

	/** Appends a text to the last part, or adds a new part. */
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

/**
 * Collects the passages that a run found or cited, and numbers the cited ones in the order of the run's texts.
 *
 * @param earlier the parts of previous runs on the thread. The assistant can link to passages of previous runs.
 */
export function sourcesOf(parts: Part[], earlier: Part[] = []): Sources {
	const sources = new Sources(earlier.flatMap(passagesOf));
	sources.addParts(parts);
	return sources;
}

const passagesOf = ({ data }: Part) => passagesIn(data?.output ?? data?.data);

/** A passage that a tool found (test/recordings/sources.json). */
const toolPassage = z.object({
	documentId: z.string().min(1),
	/** `snippet` is the text of the passage, on one line. */
	...eachOf(textIfAny, 'documentName', 'knowledgebaseId', 'fileUrl', 'snippet'),
	score: numberIfAny,
	chunkId: z.string().min(1),
});

type Passage = z.infer<typeof toolPassage>;

/** A passage that a workflow's knowledge step found. The step does not name the knowledgebase. */
const stepPassage = z
	.object({
		pageContent: z.string(),
		metadata: z.object({ chunkId: z.string().min(1), score: numberIfAny }),
		document: z.object({ id: z.string().min(1), name: textIfAny, fileUrl: textIfAny }),
	})
	.transform(
		({ pageContent, metadata: { chunkId, score }, document }): Passage => ({
			documentId: document.id,
			documentName: document.name,
			score,
			snippet: pageContent.replace(/\s+/g, ' ').trim(),
			fileUrl: document.fileUrl,
			chunkId,
		}),
	);

const passages = z
	.array(z.union([toolPassage, stepPassage]).optional().catch(undefined))
	.transform((list) => compact(list));

/** A search result: a list of passages, or an object with the list in `chunks`. */
const searchResult = z.union([
	passages,
	z.object({ chunks: passages }).transform(({ chunks }) => chunks),
]);

/** A passage that the run found or cited. */
export interface Source extends Passage {
	/** The place of the passage's first citation in the texts of the run, from 1. Uncited passages come last. */
	number: number;
	/** Whether the answer links to the passage. */
	cited: boolean;
}

/**
 * The passages in the result of a tool or workflow step.
 *
 * @param raw the result, as a value or as JSON text
 * @returns an empty list if the result is not a search result
 */
export const passagesIn = (raw: unknown): Passage[] =>
	searchResult.safeParse(typeof raw === 'string' ? parseAnswer(raw) : raw).data ?? [];

/**
 * The passages that a run found or cited, without duplicates. A passage gets its number by its first citation, as in a
 * book. So the number does not depend on which knowledgebase answered first.
 */
export class Sources {
	private readonly found = new Map<string, Passage>();
	/** The numbers of the cited chunks, by chunk ID. */
	private readonly numbers = new Map<string, number>();
	private readonly earlier: Map<string, Passage>;

	/** @param earlier the passages of previous runs on the thread. The assistant can link to these passages. */
	constructor(earlier: Passage[] = []) {
		this.earlier = new Map(earlier.map((passage) => [passage.chunkId, passage]));
	}

	/** Adds passages. A passage that is known only from a link gets the details of its search result. */
	add(more: Passage[]) {
		for (const passage of more)
			this.found.set(passage.chunkId, { ...passage, ...this.found.get(passage.chunkId) });
	}

	/** Adds the passages and the citations of the parts of a run. */
	addParts(parts: Part[]) {
		const citations = new Citations(this, 'asWritten');
		for (const part of parts) {
			this.add(passagesOf(part));
			if (part.text !== undefined && isText(part)) citations.rewrite(part.text);
		}
	}

	/**
	 * Returns the number of the passage that a link points to. Adds the passage if it is new, and counts the citation.
	 *
	 * @returns undefined if the URL is not a link to a passage
	 */
	numberOf(url: string): number | undefined {
		const linked = passageAt(url);
		if (!linked) return undefined;
		const { chunkId } = linked;
		this.add([this.earlier.get(chunkId) ?? linked]);
		const number = this.numbers.get(chunkId) ?? this.numbers.size + 1;
		this.numbers.set(chunkId, number);
		return number;
	}

	/**
	 * Lists all passages by their numbers: first the passages that the run cites, then all others.
	 *
	 * @param cited the numbers of the passages that the answer cites
	 */
	list(cited: ReadonlySet<number>): Source[] {
		const chunkIds = new Set([...this.numbers.keys(), ...this.found.keys()]);
		const inOrder = compact([...chunkIds].map((chunkId) => this.found.get(chunkId)));
		return inOrder.map((one, at) => ({ number: at + 1, ...one, cited: cited.has(at + 1) }));
	}
}

/**
 * Reads the IDs in a link to a passage: `xpert://knowledgebase/chunk?knowledgebaseId=…&documentId=…&chunkId=…`.
 *
 * @returns undefined if the document ID or the chunk ID is missing
 */
function passageAt(url: string): Passage | undefined {
	const ids = new URLSearchParams(url.slice(url.indexOf('?') + 1));
	return toolPassage.safeParse(Object.fromEntries(ids)).data;
}

/** How an answer shows links to sources. For example, `numbers` shows `[1]`. */
export type CitationStyle = 'numbers' | 'asWritten' | 'none';

/* The lengths in these patterns are limited, so that matching takes linear time. */
const CHARACTER = String.raw`(?:\\.|[^[\]\\\n])`;
const LABEL = String.raw`(?:${CHARACTER}|\[${CHARACTER}{0,30}\]){0,150}`;
const REST = String.raw`[^\s()<>[\]]{0,1000}`;

/** Matches a link to a passage, e.g. `[⟦1⟧](xpert://…)`, or a bare `xpert://` URL. Includes a preceding space. */
const LINK = new RegExp(
	String.raw`( ?)(?:\[(${LABEL})\]\(<?(xpert://${REST})>?(?: "[^"\n]{0,200}")?\)|(xpert://[\w/?&=%-]{0,1000}))`,
	'g',
);

/** Pattern for a cut-off URL: either the start of `xpert://`, e.g. `xp`, or `xpert://` followed by `after`. */
const startOf = (after: string) =>
	[...'xpert://'].reduceRight((inner, sign) => `(?:${sign}${inner})?`, after);

/** Matches a link that is cut off at the end of a text. */
const LINK_START = new RegExp(
	String.raw` ?(?:\[${LABEL}(?:\\|\[${CHARACTER}{0,30}\\?|\](?:\(<?${startOf(`${REST}>?(?: (?:"[^"\\n]{0,200}"?)?)?`)})?)?|${startOf(REST)})$`,
);

/** Maximum length of a cut-off link that `push` recognizes. */
const MAX_LINK_START = 6_500;

/** Matches a label without a document name: an empty label, or a number such as `⟦1⟧`. */
const MARKER = /^⟦?\d*⟧?$/;

/** Rewrites the links to sources in a text. Both the text and a single link can arrive in several pieces. */
export class Citations {
	/** Numbers of the passages that the text cites. */
	readonly cited = new Set<number>();
	private buffer = '';

	constructor(
		private readonly sources: Sources,
		private readonly style: CitationStyle,
	) {}

	/** @returns the whole text with its links in the chosen style */
	rewrite(text: string) {
		return text.replace(LINK, (link, space: string, label = '', linked?: string, bare?: string) => {
			const number = this.sources.numberOf(linked ?? bare ?? '');
			if (number !== undefined) this.cited.add(number);
			if (this.style === 'asWritten') return link;
			const name = number !== undefined && MARKER.test(label) ? '' : label;
			const mark = number !== undefined && this.style === 'numbers' ? `[${number}]` : '';
			const shown = compact([name, mark]).join(' ');
			return shown && space + shown;
		});
	}

	/**
	 * Adds the next piece of the text. Holds back a cut-off link at the end.
	 *
	 * @returns the next rewritten text, which can be empty
	 */
	push(piece: string) {
		this.buffer += piece;
		const open = LINK_START.exec(this.buffer.slice(-MAX_LINK_START))?.[0].length ?? 0;
		return this.take(this.buffer.length - open);
	}

	/** Ends the text. Returns the text that `push` held back. */
	end() {
		return this.take(this.buffer.length);
	}

	private take(length: number) {
		const complete = this.buffer.slice(0, length);
		this.buffer = this.buffer.slice(length);
		return this.rewrite(complete);
	}
}
