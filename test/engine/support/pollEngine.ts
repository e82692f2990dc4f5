import './environment';

import { Container } from '@n8n/di';
import { configureGlobalAxiosDefaults } from '@n8n/backend-network';
import {
	ActiveWorkflowTriggers,
	InstanceSettings,
	PackageDirectoryLoader,
	PollContext,
	ScheduledTaskManager,
	TriggersAndPollers,
	WorkflowExecute,
} from 'n8n-core';
import { NodeHelpers, Workflow, createRunExecutionData } from 'n8n-workflow';
import type { IDataObject, INode, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { expectFreshBuild } from '../../../host/freshBuild';
import { projectRoot } from '../../../host/paths';
import { type CredentialData, credentialsHelper } from './credentials';
import { type NodeResult, additionalDataOf, loaded, nodeOf, resultOf } from './nodeEngine';

/** How a trigger is set. */
export interface TriggerRun {
	parameters?: INodeParameters;
	credential: CredentialData;
	/** Of the credential; another one is another user. */
	credentialId?: string;
	/** What n8n has stored of an earlier activation. */
	staticData?: IDataObject;
	/** How long n8n says that a poll may take. */
	budgetMs?: number;
}

/** A workflow with the trigger alone, as long as it is active. */
export interface ActiveTrigger {
	/** Has the poll time come, and resolves when no poll goes on any more. */
	poll: () => Promise<void>;
	/** Has the poll time come while an earlier poll may still go on. */
	beginPoll: () => void;
	deactivate: () => Promise<void>;
	/** The items of each execution it has started. */
	started: INodeExecutionData[][];
	/** Those of all executions. */
	items: () => IDataObject[];
	/** What polls have failed with. */
	errors: Error[];
	/** What n8n has stored: it does so on activation and when an execution is started. */
	stored: () => IDataObject;
	/** What the node remembers now. */
	memory: () => IDataObject;
}

/** n8n's own activation and polling, with the built trigger in it. */
export interface PollEngine {
	activate: (run: TriggerRun) => Promise<ActiveTrigger>;
	/** "Fetch Test Event" in the editor. */
	test: (run: TriggerRun) => Promise<NodeResult>;
}

/** Sets up n8n's polling, which takes a while, so share one a test file. */
export async function createPollEngine(): Promise<PollEngine> {
	expectFreshBuild(projectRoot);
	configureGlobalAxiosDefaults();
	Container.get(InstanceSettings).markAsLeader();
	const own = await loaded(new PackageDirectoryLoader(projectRoot));
	const nodeType = NodeHelpers.getVersionedNodeType(own.getNode('xpertAiTrigger').type);
	const credentialType = own.getCredential('xpertAiApi').type;
	const nodeTypes = {
		getByName: () => nodeType,
		getByNameAndVersion: () => nodeType,
		getKnownTypes: () => ({}),
	};

	const workflowOf = ({ parameters = {}, credentialId = '1', staticData }: TriggerRun) => {
		const pollTimes = { item: [{ mode: 'everyMinute' }] };
		const type = `${own.packageName}.xpertAiTrigger`;
		const node: INode = {
			...nodeOf(type, nodeType, { parameters: { pollTimes, ...parameters } }),
			credentials: { xpertAiApi: { id: credentialId, name: 'Xpert AI' } },
		};
		const workflow = new Workflow({
			id: 'workflow',
			nodes: [node],
			connections: {},
			active: false,
			nodeTypes,
			staticData,
			settings: { executionOrder: 'v1' },
		});
		return { node, workflow };
	};
	const dataFor = (workflow: Workflow, { credential }: TriggerRun) =>
		additionalDataOf(workflow, credentialsHelper(credentialType, credential, nodeTypes));

	return {
		activate: async (run) => {
			const { node, workflow } = workflowOf(run);
			const started: INodeExecutionData[][] = [];
			const errors: Error[] = [];
			let stored: IDataObject = {};
			const store = () => {
				stored = JSON.parse(JSON.stringify(workflow.staticData)) as IDataObject;
			};
			const emit = (data: INodeExecutionData[][]) => {
				store();
				started.push(data[0] ?? []);
			};
			const triggers = Container.get(ActiveWorkflowTriggers);
			const ticks: Array<(time: Date) => void> = [];
			const cron = jest.spyOn(Container.get(ScheduledTaskManager), 'register');
			// Minutes do not pass in a test: it says itself when one has.
			cron.mockImplementation((_, onTick) => ticks.push(onTick) > 0);
			try {
				await triggers.addAllTriggers(
					workflow.id,
					workflow,
					dataFor(workflow, run),
					'trigger',
					'activate',
					() => {
						throw new Error('the trigger polls');
					},
					(...[of, polling, data, mode, activation]) => {
						const fail = (error: Error) => void errors.push(error);
						const { budgetMs } = run;
						const budget = budgetMs === undefined ? undefined : () => budgetMs;
						const own = [of, polling, data, mode, activation, emit, fail] as const;
						const context = new PollContext(...own, undefined, undefined, undefined, budget);
						// The n8n-core of the oldest host limits no poll.
						if (budget)
							Object.assign(context, { getPollBudgetMs: context.getPollBudgetMs ?? budget });
						return context;
					},
				);
			} finally {
				cron.mockRestore();
			}
			store();
			const { events } = Container.get(TriggersAndPollers);
			let underWay = 0;
			const ended = () => {
				underWay -= 1;
			};
			events.on('poll-tick-completed', ended);
			const beginPoll = () => {
				underWay += ticks.length;
				for (const tick of ticks) tick(new Date());
			};
			return {
				beginPoll,
				poll: async () => {
					beginPoll();
					while (underWay > 0) await once(events, 'poll-tick-completed');
					await nextTurn();
				},
				deactivate: async () => {
					events.off('poll-tick-completed', ended);
					await triggers.remove(workflow.id);
				},
				started,
				items: () => started.flat().map(({ json }) => json),
				errors,
				stored: () => stored,
				memory: () => workflow.getStaticData('node', node),
			};
		},
		test: async (run) => {
			const { node, workflow } = workflowOf(run);
			const stack = [{ node, data: { main: [[]] }, source: null }];
			const runData = createRunExecutionData({ executionData: { nodeExecutionStack: stack } });
			const execution = new WorkflowExecute(dataFor(workflow, run), 'manual', runData);
			return resultOf(await execution.processRunExecutionData(workflow), node.name);
		},
	};
}
