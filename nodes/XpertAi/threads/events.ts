import { z } from 'zod';

import { parseAnswer } from '../transport/answer';
import type { ServerEvent } from '../transport/eventStream';

const textIfAny = z.string().optional().catch(undefined);

/** What is read of the data of an event (recorded, `streams`); all of them are of one form. */
const eventData = z.object({
	type: z.string(),
	event: textIfAny,
	data: z
		.object({
			type: textIfAny,
			/** Of a text: one for each call of a model. */
			id: textIfAny,
			text: textIfAny,
			agentKey: textIfAny,
			executionId: textIfAny,
			/** Of a conversation: how its run has ended, and why where it has failed. */
			status: textIfAny,
			error: textIfAny,
			/** What a tool, or the step of a workflow, has found or done. */
			data: z.object({ output: z.unknown(), data: z.unknown() }).optional().catch(undefined),
		})
		.optional()
		.catch(undefined),
});

type EventData = NonNullable<z.infer<typeof eventData>['data']>;

/** What a run says while it goes on, for whoever wants to know it at once. */
export interface Listener {
	/** A piece of what the assistant itself says; the first of what it says before or after a call of a tool `isNew`. */
	onText: (piece: string, isNew: boolean) => void;
	/** What a tool of the assistant, or a step of its workflow, has answered. */
	onFound: (answer: unknown) => void;
}

/** What the events of a run have told until now. Events that come again, as after joining anew, tell nothing. */
export class Told {
	/** The event that was heard last. */
	lastId?: string;
	/** What the assistant said last, which is its answer once the run has ended. */
	answer = '';
	/** How the run has ended. */
	end?: { status?: string; error?: string };
	/** Whether all has been told. */
	isComplete = false;
	private agentKey?: string;
	private speechId?: string;

	/** @param runId the number of the run, which the first event tells otherwise */
	constructor(
		private readonly listener: Listener,
		public runId?: string,
	) {}

	/** Takes an event; one of another form, such as `[DONE]`, tells nothing. */
	hear({ id, data }: ServerEvent): void {
		const event = eventData.safeParse(parseAnswer(data)).data;
		if (!event || (id !== undefined && !isAfter(id, this.lastId))) return;
		this.lastId = id ?? this.lastId;
		if (event.type === 'complete') this.isComplete = true;
		if (event.data) this.take(event, event.data);
	}

	private take({ type, event }: z.infer<typeof eventData>, data: EventData): void {
		if (event === 'on_message_start') this.runId ??= data.executionId;
		if (event === 'on_conversation_end') this.end = { status: data.status, error: data.error };
		// The first to begin is the assistant itself; its helpers follow.
		if (event === 'on_agent_start') this.agentKey ??= data.agentKey;
		if (type !== 'message' || data.agentKey !== this.agentKey) return;
		if (data.type === 'text' && data.text) this.say(data.text, data.id);
		if (data.type === 'component') this.listener.onFound(data.data?.output ?? data.data?.data);
	}

	private say(piece: string, speechId: string | undefined): void {
		const isNew = speechId !== this.speechId;
		this.speechId = speechId;
		this.answer = isNew ? piece : this.answer + piece;
		this.listener.onText(piece, isNew);
	}
}

/** Whether an event comes after another: their ids are times with a counter. */
function isAfter(id: string, last: string | undefined): boolean {
	if (last === undefined) return true;
	const [ms = 0, count = 0] = id.split('-').map(Number);
	const [lastMs = 0, lastCount = 0] = last.split('-').map(Number);
	return ms > lastMs || (ms === lastMs && count > lastCount);
}
