import type { RunBody } from 'nodes/XpertAi/runs/runBody';
import type { ApiRequest } from 'nodes/XpertAi/transport/request';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;

/** The body that says a text. */
export const saying = (input: string): RunBody => ({
	assistant_id: 'a',
	input: { action: 'send', message: { input: { input } } },
});

/** The record of a run. */
export const RUN = { run_id: 'r', thread_id: 't', assistant_id: 'a' };

/** A body with a message that holds this input. */
export const bodyWith = (input: object) => ({ input: { action: 'send', message: { input } } });

/** Sends these events into a stream, numbered from 1. Does nothing for a request without a stream. */
export function streamEvents(stream: ApiRequest['stream'], events: object[]): void {
	for (const [at, event] of events.entries())
		stream?.onEvent({ id: String(at + 1), data: JSON.stringify(event) });
}
