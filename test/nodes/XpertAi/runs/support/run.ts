import type { RunBody } from 'nodes/XpertAi/runs/runBody';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;

/** The body that says a text. */
export const saying = (input: string): RunBody => ({
	assistant_id: 'a',
	input: { action: 'send', message: { input: { input } } },
});

/** The record of a run. */
export const RUN = { run_id: 'r', thread_id: 't', assistant_id: 'a' };
