/**
 * What engine tests use of n8n-core and its version 1.122.48 (n8n 1.123.81) calls otherwise: the activation
 * of triggers, and the schedule of their polls.
 */
import { EventEmitter } from 'node:events';

import { Container } from '@n8n/di';
import * as core from 'n8n-core';

export * from 'n8n-core';

type Activation = [
	workflowId: string,
	workflow: unknown,
	additionalData: unknown,
	mode: string,
	activation: string,
	getTriggerFunctions: unknown,
	getPollFunctions: unknown,
];

interface ActiveWorkflows {
	add(...activation: Activation): Promise<void>;
	remove(workflowId: string): Promise<boolean>;
	readonly scheduledTaskManager: {
		registerCron(context: unknown, onTick: () => Promise<void>): void;
	};
}

const { ActiveWorkflows } = core as unknown as { ActiveWorkflows: new () => ActiveWorkflows };

/** Tells when a poll has ended, which is all that tests ask of it. */
export class TriggersAndPollers {
	readonly events = new EventEmitter();
}

/** Is asked for the schedule of a poll; tests take its place and say themselves when it is time. */
export class ScheduledTaskManager {
	register(_schedule: unknown, _onTick: (time: Date) => void): void {
		throw new Error('no test waits for a minute to pass');
	}
}

/** Activates the triggers of a workflow. */
export class ActiveWorkflowTriggers {
	private readonly workflows = Container.get(ActiveWorkflows);

	async addAllTriggers(...activation: Activation): Promise<void> {
		const schedule = jest.spyOn(this.workflows.scheduledTaskManager, 'registerCron');
		schedule.mockImplementation((context, onTick) => {
			const poll = async () => {
				await onTick();
				Container.get(TriggersAndPollers).events.emit('poll-tick-completed');
			};
			Container.get(ScheduledTaskManager).register(context, () => void poll());
		});
		try {
			await this.workflows.add(...activation);
		} finally {
			schedule.mockRestore();
		}
	}

	async remove(workflowId: string): Promise<void> {
		await this.workflows.remove(workflowId);
	}
}

Container.set(TriggersAndPollers, new TriggersAndPollers());
Container.set(ScheduledTaskManager, new ScheduledTaskManager());
Container.set(ActiveWorkflowTriggers, new ActiveWorkflowTriggers());
