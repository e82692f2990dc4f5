import { type Clock, timestamp } from '../clock';
import type { Conversation, RunRecord } from '../entities';
import type { Speaker, Speech } from '../speech';
import type { Loose } from '../values';

/** The events of a run as streams send them, in the order in which they come (`streams`), with what is read of them. */
export class RunEvents {
	constructor(
		private readonly speech: Speech,
		private readonly clock: Clock,
		private readonly conversation: Conversation,
		private readonly record: RunRecord,
		private readonly lead: Speaker,
	) {}

	start(): void {
		const { id, title } = this.conversation;
		this.event('on_conversation_start', { id, title, status: 'busy' });
		this.partStarts(this.lead);
	}

	/** A helper begins, or a step of a workflow, which has no model. */
	partStarts(part: Speaker, more: Loose = {}): void {
		this.event('on_agent_start', {
			id: part.executionId,
			agentKey: part.agentKey,
			title: part.xpertName,
			category: 'agent',
			status: 'running',
			parentId: part.parentExecutionId,
			threadId: this.record.threadId,
			xpertId: this.record.assistantId,
			createdAt: timestamp(this.clock),
			...more,
		});
	}

	partEnds(speaker: Speaker, status: string, error?: string, more: Loose = {}): void {
		const { total, input, output } = this.record.used;
		const used = { tokens: total, inputTokens: input, outputTokens: output };
		this.event('on_agent_end', {
			id: speaker.executionId,
			agentKey: speaker.agentKey,
			status,
			error,
			...(speaker === this.lead && used),
			parentId: speaker.parentExecutionId,
			xpertId: this.record.assistantId,
			...more,
		});
	}

	end(): void {
		const { id, title, status, error, operation } = this.conversation;
		this.event('on_conversation_end', {
			id,
			title,
			status,
			...(error !== null && { error }),
			...(operation !== null && error === null && { operation }),
		});
		this.speech.emit({ type: 'complete' }, 'complete');
	}

	private event(event: string, data: Loose): void {
		this.speech.emit({ type: 'event', event, data });
	}
}
