import { abandonRun } from './cancelRun';
import { waitForRunResult } from './followRun';
import { withThread } from './overlap';
import { readSettled } from './readRunState';
import type { RunState } from './result';
import type { Run, RunClient } from './run';

/**
 * Reads the state of a run by its ID. Does not follow a run whose record cannot be read, because the ID may be wrong.
 * Before it follows a run, it retries temporary failures to read the record for `UNREACHABLE_MS`. Never throws.
 *
 * @param waits whether to follow a running run to its end
 */
export async function readOrFollow(
	run: RunClient & Pick<Run, 'whenGivenUp'>,
	waits: boolean,
): Promise<RunState> {
	// Start with the record, because the server may no longer store the stream.
	const state = await readSettled(run, waits);
	const mayGoOn = state.status === 'running' || (state.status === 'unread' && state.hasRecord);
	const followed = mayGoOn && waits ? await waitForRunResult(run) : state;
	const known = await withThread(run, await abandonRun(run, followed));
	return { ...known, ...run.facts };
}
