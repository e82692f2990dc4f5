import { randomUUID } from 'node:crypto';
import { timestamp, type Clock } from './clock';
import { AUTHORS, OWNED, OWNER, TENANCY } from './entities';
import type { ChatMessage, Conversation, RunRecord } from './entities';
import type { Speaker, Speech } from './speech';
import type { Used } from './tokens';
import type { Loose } from './values';

/** The model that all assistants of the sandbox have, as runs name it. */
export const MODEL = { provider: 'openai-compatible', model: 'g-chat' };

/** Where a run comes from, before it has ended once. */
export const SOURCE = { triggerSource: 'api', from: 'api' };

/** What a run has used until now; of helpers and of steps nothing is told. */
const tokensOf = ({ total, input, output }: Used = { total: 0, input: 0, output: 0 }): Loose => ({
	tokens: total,
	embedTokens: 0,
	inputTokens: input,
	outputTokens: output,
});

const { tenantId, organizationId, userId } = OWNER;
const WRITTEN_BY = { createdById: userId, updatedById: userId };

/** The events of a run as streams send them, in the order in which they come (`streams`). */
export class RunEvents {
	constructor(
		private readonly speech: Speech,
		private readonly clock: Clock,
		private readonly conversation: Conversation,
		private readonly record: RunRecord,
		private readonly lead: Speaker,
	) {}

	/** A run begins, or goes on: `question` is what was asked, `answer` the message that will have its words. */
	start(answer: ChatMessage, question?: ChatMessage): void {
		const { id, title, createdAt, updatedAt } = this.conversation;
		this.event('on_conversation_start', { id, title, status: 'busy', createdAt, updatedAt });
		this.event('on_message_start', question ? begun(answer, question) : goingOn(answer));
		this.event('on_agent_start', {
			...this.agent(this.record.id, this.lead),
			id: this.record.id,
			createdAt: timestamp({ ...this.clock, now: () => this.record.startedAt }),
			updatedAt: timestamp(this.clock),
			inputs: {
				human: question ? { input: question.content } : {},
				sys: { soul: null, profile: null },
			},
			metadata: question ? SOURCE : MODEL,
		});
	}

	helperStarts(helper: Speaker, inputs: Loose): void {
		const { agentKey: predecessor } = this.lead;
		this.partStarts(helper, { predecessor, inputs, metadata: MODEL });
	}

	/** A step of a workflow has no model. */
	stepStarts(step: Speaker, inputs: Loose): void {
		const checkpointNs = `${step.agentKey}:${randomUUID()}`;
		const kind = { category: 'workflow', type: 'knowledge', xpertId: undefined };
		this.partStarts(step, { ...kind, inputs, checkpointNs });
	}

	stepEnds(step: Speaker): void {
		this.agentEnds(step, 'success', undefined, { metadata: undefined, xpertId: undefined });
	}

	stepFails(step: Speaker, error: string): void {
		this.agentEnds(step, 'error', error, { metadata: undefined, xpertId: undefined });
	}

	/** A search that its filter does not let begin (`filters-retry` "joined", without the value). */
	retrieverFails(name: string, error: string): void {
		this.event('on_retriever_error', { tags: [], name, error });
	}

	agentEnds(speaker: Speaker, status: string, error?: string, otherwise: Loose = {}): void {
		const used = speaker === this.lead ? this.record.used : undefined;
		this.event('on_agent_end', {
			id: speaker.executionId,
			agentKey: speaker.agentKey,
			...(speaker.xpertName && { title: speaker.xpertName }),
			status,
			...(error !== undefined && { error }),
			elapsedTime: String(this.clock.now() - this.record.startedAt),
			...tokensOf(used),
			totalTokens: used?.total ?? 0,
			...(used?.input && { totalPrice: 0, currency: 'USD' }),
			metadata: MODEL,
			...(speaker.parentExecutionId && { parentId: speaker.parentExecutionId }),
			xpertId: this.record.assistantId,
			...otherwise,
		});
	}

	/** What a model has counted of one of its answers; one that does not count says nothing. */
	counted([inputTokens, outputTokens]: [number, number], by: Speaker): void {
		this.event('on_chat_event', {
			type: 'thread_context_usage',
			threadId: this.record.threadId,
			runId: by.executionId,
			agentKey: by.agentKey,
			updatedAt: timestamp(this.clock),
			usage: {
				contextTokens: inputTokens,
				inputTokens,
				outputTokens,
				totalTokens: inputTokens + outputTokens,
				embedTokens: 0,
				totalPrice: 0,
				currency: by === this.lead ? 'USD' : null,
			},
		});
	}

	waits(operation: Loose): void {
		this.event('on_interrupt', operation);
	}

	end(answer: ChatMessage | undefined): void {
		const { id, title, status, error, operation } = this.conversation;
		this.event('on_message_end', {
			id: answer?.id,
			conversationId: id,
			executionId: this.record.id,
			role: 'ai',
			status: answer?.status,
			...(answer?.error ? { error: answer.error } : {}),
		});
		this.event('on_conversation_end', {
			id,
			title,
			status,
			...(error !== null ? { error } : {}),
			...(operation !== null && error === null ? { operation } : {}),
		});
		this.speech.emit({ type: 'complete' }, 'complete');
	}

	private event(event: string, data: Loose): void {
		this.speech.emit({ type: 'event', event, data });
	}

	private partStarts(part: Speaker, more: Loose): void {
		const now = timestamp(this.clock);
		this.event('on_agent_start', {
			...this.agent(part.executionId, part),
			title: part.xpertName,
			parentId: part.parentExecutionId,
			...TENANCY,
			...AUTHORS,
			createdAt: now,
			updatedAt: now,
			...more,
		});
	}

	private agent(id: string, speaker: Speaker): Loose {
		return {
			id,
			...OWNED,
			category: 'agent',
			agentKey: speaker.agentKey,
			status: 'running',
			...tokensOf(speaker === this.lead ? this.record.used : undefined),
			threadId: this.record.threadId,
			xpertId: this.record.assistantId,
		};
	}
}

/** The message that an answer begins with, and the question before it. */
const begun = (answer: ChatMessage, question: ChatMessage): Loose => ({
	tenantId,
	organizationId,
	parentId: question.id,
	role: 'ai',
	content: '',
	status: 'thinking',
	conversationId: answer.conversationId,
	executionId: answer.executionId,
	...TENANCY,
	parent: { ...question, ...WRITTEN_BY, tenantId, organizationId },
	...AUTHORS,
	...WRITTEN_BY,
	taskSummary: answer.taskSummary,
	id: answer.id,
	createdAt: answer.createdAt,
	updatedAt: answer.updatedAt,
});

const goingOn = (answer: ChatMessage): Loose => ({
	...answer,
	...WRITTEN_BY,
	tenantId,
	organizationId,
	status: 'thinking',
});
