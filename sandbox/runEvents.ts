import { timestamp, type Clock } from './clock';
import { AUTHORS, OWNED, OWNER, TENANCY } from './entities';
import type { ChatMessage, Conversation, RunRecord } from './entities';
import type { Speaker, Speech } from './speech';
import type { Loose } from './values';

/** The model that all assistants of the sandbox have, as runs name it. */
export const MODEL = { provider: 'openai-compatible', model: 'g-chat' };

/** Where a run comes from, before it has ended once. */
export const SOURCE = { triggerSource: 'api', from: 'api' };

const NO_TOKENS = { embedTokens: 0, inputTokens: 0, outputTokens: 0 };

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
		const now = timestamp(this.clock);
		this.event('on_agent_start', {
			...this.agent(helper.executionId, helper),
			title: helper.xpertName,
			predecessor: this.lead.agentKey,
			inputs,
			metadata: MODEL,
			parentId: helper.parentExecutionId,
			...TENANCY,
			...AUTHORS,
			id: helper.executionId,
			createdAt: now,
			updatedAt: now,
		});
	}

	agentEnds(speaker: Speaker, status: string, error?: string): void {
		this.event('on_agent_end', {
			id: speaker.executionId,
			agentKey: speaker.agentKey,
			...(speaker.xpertName && { title: speaker.xpertName }),
			status,
			...(error !== undefined && { error }),
			elapsedTime: String(this.clock.now() - this.record.startedAt),
			tokens: 0,
			totalTokens: 0,
			...NO_TOKENS,
			metadata: MODEL,
			...(speaker.parentExecutionId && { parentId: speaker.parentExecutionId }),
			xpertId: this.record.assistantId,
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

	private agent(id: string, { agentKey }: Speaker): Loose {
		return {
			id,
			...OWNED,
			category: 'agent',
			agentKey,
			status: 'running',
			tokens: 0,
			...NO_TOKENS,
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
	content: '',
	status: 'thinking',
});
