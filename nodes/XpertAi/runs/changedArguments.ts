import get from 'lodash/get';
import isEqual from 'lodash/isEqual';

import { serverWords } from '../transport/serverWords';
import { withoutChanges } from './input';
import type { RunUnderWay } from './run';
import { changedOnly, notChanged, nothingToDecide } from './verdict';
import type { Verdict } from './verdict';

/**
 * Sends a run; one that confirms with changed arguments in two steps, as the server wants it: it takes the arguments
 * and waits again, and a second confirmation carries them out (recorded). The second is sent only where what waits is
 * what was confirmed: nobody has seen anything else.
 *
 * @param send sends a run and judges what comes of it
 */
export async function withChanges(
	run: RunUnderWay,
	send: (run: RunUnderWay) => Promise<Verdict>,
): Promise<Verdict> {
	const { asked, waiting } = run;
	const { changes, ...confirmed } = asked;
	if (!changes) return await send(run);
	if (waiting.length === 0) return nothingToDecide();
	const calls = waiting.map(callOf);
	// With a call that does not wait, the server changes nothing, and would carry out the old arguments (recorded).
	if (!changes.every((id) => typeof id === 'string' && calls.includes(id)))
		return notChanged(
			calls.flatMap((id) => (typeof id === 'string' ? (serverWords(id) ?? []) : [])),
		);
	const taken = await send(run);
	if (!waitsWithChanges(taken, waiting)) return taken;
	const { thread: before = run.before, interrupt: again = [] } = taken;
	const body = withoutChanges(run.body);
	const verdict = await send({ ...run, asked: confirmed, body, before, waiting: again });
	const isDecided = verdict.status === 'completed' || verdict.status === 'interrupted';
	return isDecided ? verdict : changedOnly(verdict);
}

/** Whether what was confirmed waits again; once its arguments are changed, the server shows no calls (recorded). */
function waitsWithChanges({ interrupt = [] }: Verdict, waiting: unknown[]): boolean {
	const isChanged = interrupt.every((task) => callOf(task) === undefined);
	return isChanged && isEqual(namesOf(interrupt), namesOf(waiting));
}

const callOf = (task: unknown): unknown => get(task, 'call.id');
const namesOf = (tasks: unknown[]): unknown[] => tasks.map((task) => get(task, 'name') as unknown);
