import { compact, isEqual, merge } from 'lodash';
import { z } from 'zod';

import { eachOf, numberIfAny, textIfAny } from '../payloads/common';
import { parseAnswer } from '../transport/answer';
import type { ServerEvent } from '../transport/eventStream';
import { isText, openTasks, parseReply, requestOf, textOf } from './thread';
import type { ConversationFacts, ThreadMessage, ThreadState } from './thread';

/*
 * Reads what a run has done from one of three sources: the events of its stream, its message in the conversation, or
 * the messages of its thread. Each source gives the same parts (recorded, one-question-1 to -6).
 */

const listIfAny = z.array(z.unknown()).optional().catch(undefined);

const partSchema = z
	.object({
		/**
		 * - `type`: `text`, `component` for a tool call or a workflow step, or another, such as an image.
		 * - `id`: for a text, the ID of the model call; for a component, the ID of the tool call.
		 * - `xpertName`: the name of the sub-agent; undefined for the assistant itself.
		 */
		...eachOf(textIfAny, 'type', 'id', 'text', 'agentKey', 'executionId', 'xpertName'),
		data: z
			.object({
				...eachOf(textIfAny, 'status', 'type', 'tool'),
				/** The result of a tool is in `output`, that of a workflow step in `data`. */
				...eachOf(z.unknown(), 'input', 'output', 'data', 'error'),
			})
			.optional()
			.catch(undefined),
	})
	.passthrough();

/** A text, a tool call or another part of an answer. */
export type Part = z.infer<typeof partSchema>;

const eventData = z.object({
	/** `category` is `workflow` for a step of a workflow; such a step is not a sub-agent. */
	...eachOf(textIfAny, 'id', 'agentKey', 'category', 'parentId', 'title', 'status', 'error'),
	...eachOf(numberIfAny, 'tokens', 'inputTokens', 'outputTokens'),
	inputs: z.unknown(),
	operation: z.object({ tasks: listIfAny }).optional().catch(undefined),
});

type EventData = z.infer<typeof eventData>;

const eventSchema = z.object({ type: z.string(), event: textIfAny, data: z.unknown() });

/** Receives the answer in pieces, while the assistant writes it. */
export interface Listener {
	/** A piece of the answer. `isNew` is true for the first piece of each model call. */
	onText: (piece: string, isNew: boolean) => void;
	/** The result of a tool or of a workflow step. */
	onToolResult: (answer: unknown) => void;
}

/** Compares event IDs. Each ID consists of a time and a counter, so digits are compared as numbers. */
const EVENT_ORDER = new Intl.Collator('en', { numeric: true });

/**
 * Collects the parts of a run, and how the run ended. Ignores events that come again after the stream is joined again.
 */
export class RunEvents {
	/** ID of the last event. */
	lastId?: string;
	conversationId?: string;
	/** Whether the stream reported its end. */
	isComplete = false;
	/**
	 * Whether the first event was read: the server drops the first events of a long stream. Undefined before any event.
	 */
	isWhole?: boolean;
	/** How the run ended. Other runs on the thread may change `status`, but not `agentStatus`. */
	end: Pick<ConversationFacts, 'status' | 'error' | 'tasks' | 'isLeftOver'> & {
		agentStatus?: string;
	} = { tasks: [] };
	usage?: ReturnType<typeof usageOf>;
	/** The parts of the run, in the order in which they came. */
	readonly parts: Part[] = [];

	private agentKey?: string;
	private isMessage = false;
	/** Components by ID; the call of a sub-agent also by the run ID of the sub-agent. */
	private readonly components = new Map<string, Part>();
	/** Calls that had no result when they were read, such as those that wait for a person. */
	private readonly waiting: Part[] = [];
	/** The assistant's last text; after a decision, the last text since then. */
	private lastText?: Part;
	/** Index of the first part after the last decision; 0 without a decision. */
	private from = 0;

	constructor(
		private readonly runId: string,
		private listener?: Listener,
	) {}

	/** Adds an event of the stream. Ignores repeated events, and data that is no event, such as `[DONE]`. */
	addEvent({ id, data }: ServerEvent) {
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

	/** Adds the calls of tasks that wait for a person. These calls have not started. */
	readTasks(tasks: unknown[]) {
		for (const task of tasks) {
			const { callId: id, tool, args: input } = requestOf(task);
			if (id === undefined || this.components.has(id)) continue;
			this.waiting.push(this.begin(component(id, { tool, input })));
		}
	}

	/** Adds a message of a thread: the result of a tool, or a reply of the assistant. Ignores messages of users. */
	readMessage(message: ThreadMessage) {
		const { tool_calls: calls, tool_call_id: callId, content } = message;
		if (typeof callId === 'string')
			this.readPart(component(callId, { status: 'success', output: textOf(content) }));
		if (!Array.isArray(calls)) return;
		const { output: text, parts } = parseReply(content);
		// A message without an ID gets an ID, so that its text is not appended to the text of the message before.
		const { id = String(this.parts.length) } = message;
		if (text !== '') this.readPart({ type: 'text', id, text });
		for (const part of parts) this.readPart(part);
		this.readTasks(calls.map((call: unknown) => ({ call })));
	}

	/** Continues after a decision: forgets the end and the answer so far, because a new end and answer follow. */
	resume(listener: Listener | undefined) {
		this.from = this.parts.length;
		this.lastText = undefined;
		this.end = { tasks: [] };
		this.isComplete = false;
		this.listener = listener;
	}

	/** ID of the assistant's last text. The message with this text on the thread has the same ID (recorded). */
	get answerId() {
		return this.lastText?.id;
	}

	/** The assistant's last text, which is the answer once the run has ended. */
	get output() {
		const texts = this.parts.slice(this.from).filter(isText);
		return texts.flatMap(({ id, text }) => (id === this.answerId ? (text ?? '') : [])).join('');
	}

	/** Parts that are neither text nor components, such as images and the thoughts of a model. */
	get otherParts(): unknown[] {
		return this.parts.filter((part) => part.type !== 'component' && !isText(part));
	}

	/** Whether the last part is running, or is a tool call without status and result, as one that waits for a decision. */
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
				// The first agent that starts is the assistant; the others are its sub-agents.
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
		// A stored message, unlike a stream, has a line break between a sub-agent's text and this text (recorded):
		// remove it.
		const isAfterSubAgent = this.isMessage && last?.data !== undefined && !last.executionId;
		const own = isAfterSubAgent ? text.replace(/^\n/, '') : text;
		this.append(part, own, isNew);
		this.lastText = this.parts.at(-1);
		this.listener?.onText(own, isNew);
	}

	/** Appends a text to the last part if it continues that part; otherwise adds a part. */
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

	/** Adds the text of a sub-agent to the result of the call that started the sub-agent. */
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
		// The part at the end of a call has neither tool nor input (recorded), so it is merged into the part at the
		// start.
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

/**
 * The tool calls of a run and their results, in order and in the format of n8n's AI Agent. `agent` is the sub-agent
 * that made a call, if any; `observation` is missing if the call has no result, e.g. because it waits for a person.
 */
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
 * The tokens of all model calls of a run. Input and output tokens are only given if their sum is the total.
 *
 * @returns undefined if the server gives no total
 */
function usageOf({ tokens: totalTokens, inputTokens = 0, outputTokens = 0 }: EventData) {
	if (!totalTokens) return undefined;
	const isSum = inputTokens + outputTokens === totalTokens;
	return { ...(isSum && { inputTokens, outputTokens }), totalTokens };
}

/**
 * Reads a run from a thread (E15). A thread has one text for each call of the assistant's model, and one value whose
 * key ends with `_channel` for each knowledge step of a workflow.
 *
 * @param messages the messages of the run on the thread
 */
export function eventsOn(state: ThreadState | undefined, messages: ThreadMessage[]): RunEvents {
	const events = new RunEvents('');
	const channels = z.record(z.object({ result: z.unknown() }).catch({}));
	for (const [name, { result }] of Object.entries(channels.parse(state?.values ?? {})))
		if (name.endsWith('_channel') && result) events.readPart(component(name, { output: result }));
	for (const message of messages) events.readMessage(message);
	return events;
}

/**
 * The sources of a run, numbered in the order in which the run found or cited them.
 *
 * @param earlier parts of earlier runs of the thread: the assistant may repeat links to passages that these runs found
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

/** A passage that a tool found (recorded, `sources`). */
const toolPassage = z.object({
	documentId: z.string().min(1),
	/** `snippet` is the text of the passage, on one line. */
	...eachOf(textIfAny, 'documentName', 'knowledgebaseId', 'fileUrl', 'snippet'),
	score: numberIfAny,
	chunkId: z.string().min(1),
});

type Passage = z.infer<typeof toolPassage>;

/** A passage that the knowledge step of a workflow found. The step does not say in which knowledgebase. */
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
	/**
	 * Counted from 1, in the order in which the run found or cited the passages; an answer may cite number 1 as `[1]`.
	 */
	number: number;
	/** Whether the answer links to the passage. */
	cited: boolean;
}

/**
 * The passages in the result of a tool or a step.
 *
 * @param raw the result, as a value or as JSON text
 * @returns an empty list if the result is not that of a search
 */
export const passagesIn = (raw: unknown): Passage[] =>
	searchResult.safeParse(typeof raw === 'string' ? parseAnswer(raw) : raw).data ?? [];

/** The passages that a run found or cited, each once, numbered across all searches and knowledgebases of the run. */
export class Sources {
	private readonly found = new Map<string, Passage & Pick<Source, 'number'>>();
	private readonly earlier: Map<string, Passage>;

	/** @param earlier passages of earlier runs of the thread: the assistant may repeat links to them */
	constructor(earlier: Passage[] = []) {
		this.earlier = new Map(earlier.map((passage) => [passage.chunkId, passage]));
	}

	/** Adds the passages that were not added before. */
	add(more: Passage[]) {
		for (const passage of more) {
			if (this.found.has(passage.chunkId)) continue;
			this.found.set(passage.chunkId, { number: this.found.size + 1, ...passage });
		}
	}

	/**
	 * The number of the passage that a link points to. A passage that this run did not find gets the next number.
	 *
	 * @returns undefined if the address is not that of a passage
	 */
	numberOf(url: string): number | undefined {
		const linked = passageAt(url);
		if (!linked) return undefined;
		this.add([this.earlier.get(linked.chunkId) ?? linked]);
		return this.found.get(linked.chunkId)?.number;
	}

	/**
	 * Lists all passages.
	 *
	 * @param cited the numbers of the passages that the answer cites
	 */
	list(cited: ReadonlySet<number>): Source[] {
		return [...this.found.values()].map((one) => ({ ...one, cited: cited.has(one.number) }));
	}
}

/**
 * The IDs of the passage that a link names: `xpert://knowledgebase/chunk?knowledgebaseId=…&documentId=…&chunkId=…`.
 *
 * @returns undefined if the link lacks the ID of the document or of the chunk
 */
function passageAt(url: string): Passage | undefined {
	const ids = new URLSearchParams(url.slice(url.indexOf('?') + 1));
	return toolPassage.safeParse(Object.fromEntries(ids)).data;
}

/** How to write the links to sources in an answer. */
export type CitationStyle = 'numbers' | 'asWritten' | 'none';

/* The lengths in these patterns are limited, so that matching any text takes linear time. */
const CHARACTER = String.raw`(?:\\.|[^[\]\\\n])`;
const LABEL = String.raw`(?:${CHARACTER}|\[${CHARACTER}{0,30}\]){0,150}`;
const REST = String.raw`[^\s()<>[\]]{0,1000}`;

/** A link to a passage (`[⟦1⟧](xpert://…)`, recorded) or an address without a label; includes a space before it. */
const LINK = new RegExp(
	String.raw`( ?)(?:\[(${LABEL})\]\(<?(xpert://${REST})>?(?: "[^"\n]{0,200}")?\)|(xpert://[\w/?&=%-]{0,1000}))`,
	'g',
);

/** Pattern for an address that may be cut off anywhere; `after` matches what follows `xpert://`. */
const startOf = (after: string) =>
	[...'xpert://'].reduceRight((inner, sign) => `(?:${sign}${inner})?`, after);

/** A link that is cut off by the end of a text. */
const LINK_START = new RegExp(
	String.raw` ?(?:\[${LABEL}(?:\\|\[${CHARACTER}{0,30}\\?|\](?:\(<?${startOf(`${REST}>?(?: (?:"[^"\\n]{0,200}"?)?)?`)})?)?|${startOf(REST)})$`,
);

/** How many characters at the end of a text are searched for a link that is cut off. */
const MAX_LINK_START = 6_500;

/** A label that consists only of a number, such as `⟦1⟧`, or is empty: it names no document. */
const MARKER = /^⟦?\d*⟧?$/;

/** Rewrites the links to sources in a text. The text may arrive in pieces, and a link may be split between pieces. */
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
	 * Adds the next piece of the text.
	 *
	 * @returns the rewritten text since the last call, without a cut-off link at its end; may be empty
	 */
	push(piece: string) {
		this.buffer += piece;
		const open = LINK_START.exec(this.buffer.slice(-MAX_LINK_START))?.[0].length ?? 0;
		return this.take(this.buffer.length - open);
	}

	/** Ends the text. Returns the rest that `push` has held back. */
	end() {
		return this.take(this.buffer.length);
	}

	private take(length: number) {
		const complete = this.buffer.slice(0, length);
		this.buffer = this.buffer.slice(length);
		return this.rewrite(complete);
	}
}
