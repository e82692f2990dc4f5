/** Where runs are begun in the background, and listed. */
export const RUNS_PATH = '/threads/{threadId}/runs';

/** Where one is read. */
export const ONE_RUN_PATH = `${RUNS_PATH}/{runId}`;

/** Where it is cancelled. */
export const CANCEL_PATH = `${ONE_RUN_PATH}/cancel`;
