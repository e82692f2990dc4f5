import { get, partition, startsWith } from 'lodash';
import { z } from 'zod';

import { lenientText, sameSchemaForKeys } from '../payloads/zodHelpers';
import { sanitizedLine } from '../transport/sanitizedLine';

/**
 * Returns the tasks that wait for a person. Excludes the task `__start__`, which a cancelled run leaves behind
 * (`test/recordings/one-key-cancel-ends-both.json`). Includes tasks without a `call`, e.g. tasks that wait for a second
 * decision after a change of the arguments (`test/recordings/decisions.json`).
 *
 * @returns the `tasks`, and `hasOnlyLeftOverTasks`: whether tasks were given, but all are leftovers
 */
export function waitingTaskFacts(all: unknown[] = []) {
	const isLeftOver = (task: unknown) => get(task, 'name') === '__start__' && mayBeLeftOver(task);
	const [leftOver, tasks] = partition(all, isLeftOver);
	return { tasks, hasOnlyLeftOverTasks: leftOver.length > 0 && tasks.length === 0 };
}

/**
 * Whether a task may be left over from a run: the step that the run would have taken next, not a call that waits for a
 * person. A run that overlapped with another run can end with such a task. Recorded in `test/recordings/turns.json`.
 */
export const mayBeLeftOver = (task: unknown) =>
	!get(task, 'call') && startsWith(get(task, 'path.0'), '__pregel_pull');

/** Whether tasks wait for a person's decision. An `error` shows that the tasks are leftovers of a cancelled run. */
export const waitsForPerson = ({ tasks, error }: { tasks: unknown[]; error?: unknown }) =>
	tasks.length > 0 && !error;

/** Reads one field of each waiting task. The `id` of a task stays the same until the decision. */
export const fieldOfEachTask = (
	path: 'id' | 'name' | 'call.id',
	tasks: unknown[] = [],
): unknown[] => tasks.map((task) => get(task, path) as unknown);

const waitingTaskSchema = z
	.object({
		name: lenientText,
		info: z.object(sameSchemaForKeys(lenientText, 'title', 'description')).catch({}),
		call: z
			.object({ ...sameSchemaForKeys(lenientText, 'id', 'name'), args: z.unknown() })
			.catch({}),
	})
	.catch({ info: {}, call: {} });

/**
 * The question of a waiting task and the tool call to approve. After a person changed the arguments, `args` and
 * `callId` are undefined. n8n expressions cannot read a field named `arguments`, so the field is named `args`.
 */
export function approvalDetails(task: unknown) {
	const { name, info, call } = waitingTaskSchema.parse(task);
	const title = info.title ?? name ?? '';
	const isDescribed = info.description && info.description !== title;
	const question = isDescribed ? `${title} (${info.description})` : title;
	return { question, tool: call.name ?? name, args: call.args, callId: call.id };
}

/**
 * The output of a run that waits for a decision. Omits the arguments of tool calls, because chat visitors may read the
 * output.
 */
export function waitingMessage(tasks: unknown[] = []): string {
	const questions = sanitizedLine(tasks.map((task) => approvalDetails(task).question).join(', '));
	return `This waits for a person to decide${questions ? `: ${questions}` : ''}.`;
}
