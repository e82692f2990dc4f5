/** What may happen to a conversation. */
export const EVENTS = ['answered', 'cancelled', 'failed', 'waiting'] as const;

export type ConversationEvent = (typeof EVENTS)[number];

/** What tells of the last run of a conversation. */
interface RunTraces {
	status?: string;
	/** What its run waits for a person to decide. */
	tasks: unknown[];
}

/**
 * What has happened to a conversation, by how its last run stands; nothing while one goes on or before
 * the first. Runs that wait and runs that were cancelled are both `interrupted`; only the former have
 * something to decide (service behaviour, "What became of a run").
 */
export function eventOf({ status, tasks }: RunTraces): ConversationEvent | undefined {
	switch (status) {
		case 'idle':
			return 'answered';
		case 'error':
			return 'failed';
		case 'interrupted':
			return tasks.length > 0 ? 'waiting' : 'cancelled';
		default:
			return undefined;
	}
}
