import type { ApiRequest, Outcome } from '../../../../../nodes/XpertAi/transport/request';
import type { ServerEvent } from '../../../../../nodes/XpertAi/transport/eventStream';
import type { VirtualTime } from '../../../support/virtualTime';
import { fail, faulty } from './faults';
import type { Fault } from './faults';

export const RUN = 'r1';

/** A run as it can be heard. */
export interface HeardRun {
	/** In milliseconds since the test began. */
	begunAt: number;
	endedAt: number;
	/** What the assistant says until its end, in pieces. */
	pieces: string[];
	/** How its conversation stands then. */
	status: string;
}

/** An event, and when it comes. */
interface Timed {
	at: number;
	event: ServerEvent;
}

/**
 * Answers with the stream of a run, from its beginning or behind the event that was heard last, as far as its time
 * limit and a fault let it come.
 */
export function streamOf(
	request: ApiRequest & { fault?: Fault },
	run: HeardRun,
	time: VirtualTime,
): Outcome {
	const { fault, stream, timeoutMs, wholeMs = timeoutMs } = request;
	const until = time.elapsed() + wholeMs;
	const events = eventsOf(run);
	const next = events.findIndex(({ event }) => event.id === stream?.after) + 1;
	for (const { at, event } of events.slice(next, next + (fault?.heard ?? Infinity))) {
		time.pass(Math.max(0, Math.min(at, until) - time.elapsed()));
		if (time.signal.aborted) return fail(request, { kind: 'cancelled' });
		if (at > until) return fail(request, { kind: 'timeout' });
		const flaw = stream?.hear(event);
		if (flaw !== undefined) return fail(request, { kind: 'unreadable', reason: flaw });
	}
	if (!fault) return { ok: true, status: 201, answer: '' };
	time.pass(Math.min(fault.afterMs ?? timeoutMs, until - time.elapsed()));
	return faulty(request, fault);
}

/** The events of a run: its name first, then its words, evenly over its time, and how it has ended. */
function eventsOf({ begunAt, endedAt, pieces, status }: HeardRun): Timed[] {
	const timed: Timed[] = [];
	const put = (at: number, said: object, name?: string) => {
		const id = `${begunAt}-${timed.length}`;
		timed.push({
			at,
			event: { id, ...(name !== undefined && { name }), data: JSON.stringify(said) },
		});
	};
	const tell = (at: number, event: string, data: object) => put(at, { type: 'event', event, data });
	const agent = { agentKey: 'a1' };
	tell(begunAt, 'on_conversation_start', { status: 'busy' });
	tell(begunAt, 'on_message_start', { executionId: RUN });
	tell(begunAt, 'on_agent_start', { ...agent, id: RUN });
	for (const [index, text] of pieces.entries()) {
		const at = begunAt + ((endedAt - begunAt) * (index + 1)) / (pieces.length + 1);
		put(at, { type: 'message', data: { type: 'text', id: 'm1', text, ...agent } });
	}
	tell(endedAt, 'on_agent_end', { ...agent, id: RUN });
	tell(endedAt, 'on_conversation_end', { status });
	put(endedAt, { type: 'complete' }, 'complete');
	return timed;
}
