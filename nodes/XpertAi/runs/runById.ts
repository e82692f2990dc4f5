import { cancelIfGivenUp } from './cancelRun';
import { waitForRunResult } from './followRun';
import { withThreadFindings } from './compareWithThread';
import { readSettledState, readStateWithRetries } from './readRunState';
import type { RunState } from './result';
import type { Run, RunClient } from './run';

type RunById = RunClient & Pick<Run, 'whenGivenUp'>;

/** Reads the state of a run. Never throws. */
export const readStateById = async (run: RunById): Promise<RunState> =>
	await enrichRunState(run, await readSettledState(run));

/**
 * Follows a run to its end. Does not follow a run whose record cannot be read, because the ID may be wrong. Retries
 * temporary failures to read the record for `UNREACHABLE_MS`. Never throws.
 */
export async function waitById(run: RunById): Promise<RunState> {
	// Start with the record, because the server may no longer store the stream.
	const state = await readStateWithRetries(run);
	const mayGoOn = state.status === 'running' || (state.status === 'unread' && state.hasRecord);
	return await enrichRunState(run, mayGoOn ? await waitForRunResult(run) : state);
}

/**
 * Completes the state of a run: cancels the run if the node has given it up and the user wants this, compares a
 * completed answer with the thread, and adds the facts.
 */
async function enrichRunState(run: RunById, state: RunState): Promise<RunState> {
	const known = await withThreadFindings(run, await cancelIfGivenUp(run, state));
	return { ...known, ...run.facts };
}
