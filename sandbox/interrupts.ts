import { randomUUID } from 'node:crypto';
import type { Interrupt, ToolCall } from './entities';
import type { Assistant } from './store';
import { toolOf } from './tools';
import type { Loose } from './values';

/** What a person has decided on what a thread waits for. */
export interface Decision {
	interrupt: Interrupt;
	/** Whether the calls are carried out. */
	carriesOut: boolean;
	payload?: unknown;
	/** Other arguments for some of the calls, by the call's id. */
	changes?: Map<string, Loose>;
}

/** What waits from now on: all calls of the message, one of which a person has to decide. */
export function interruptOf(
	assistant: Assistant,
	calls: ToolCall[],
	waiting: Pick<Interrupt, 'run' | 'said' | 'rounds'>,
	asks: string | undefined,
): Interrupt {
	const tasks = calls.map((call) => {
		const { name, title = name, description = title, toolset } = toolOf(assistant, call);
		const isTool = toolset !== undefined;
		return { id: randomUUID(), call, title, description: asks ?? description, isTool };
	});
	return { ...waiting, tasks, changed: false };
}

/** The same calls with other arguments; they wait once more, under new ids. */
export function changed(interrupt: Interrupt, changes: Map<string, Loose>): Interrupt {
	const tasks = interrupt.tasks.map((task) => {
		const args = { ...task.call.args, ...changes.get(task.call.id) };
		return { ...task, id: randomUUID(), call: { ...task.call, args } };
	});
	return { ...interrupt, tasks, changed: true };
}
