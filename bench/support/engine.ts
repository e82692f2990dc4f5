import '../../test/engine/support/environment';

import { Container } from '@n8n/di';
import { configureGlobalAxiosDefaults } from '@n8n/backend-network';
import {
	BinaryDataService,
	ExecutionLifecycleHooks,
	LazyPackageDirectoryLoader,
	PackageDirectoryLoader,
	WorkflowExecute,
} from 'n8n-core';
import { NodeConnectionTypes, NodeHelpers, Workflow, createRunExecutionData } from 'n8n-workflow';
import type {
	IBinaryData,
	INode,
	INodeExecutionData,
	INodeParameters,
	INodeType,
	INodeTypes,
	IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import type { Readable } from 'node:stream';

import { credentialsHelper } from '../../test/engine/support/credentials';
import type { CredentialData } from '../../test/engine/support/credentials';
import { NODES_BASE, PROJECT_ROOT } from './paths';

const START = 'Start';
const NODE = 'Node';

/** The node under measurement: ours as it was built, or n8n's HTTP Request. */
export type Measured = 'xpertAi' | 'httpRequest';

/** Their names in n8n, by which it knows that HTTP Request may use the credentials of other nodes. */
const TYPES: Record<Measured, string> = {
	xpertAi: 'n8n-nodes-xpertai.xpertAi',
	httpRequest: 'n8n-nodes-base.httpRequest',
};

/** n8n's real engine, set up once, with one node in it. */
export interface Engine {
	/** Runs the node over the items and gives the items of its output. */
	run: (parameters: INodeParameters, items: INodeExecutionData[]) => Promise<INodeExecutionData[]>;
	/** Stores a file as n8n's file-system binary data. */
	storeFile: (content: Readable, fileName: string, mimeType: string) => Promise<IBinaryData>;
}

/** Sets up the engine. The engine of the tests runs one built node only; this one runs either. */
export async function createEngine(
	measured: Measured,
	credential: CredentialData,
): Promise<Engine> {
	configureGlobalAxiosDefaults();
	const binaryData = Container.get(BinaryDataService);
	await binaryData.init();
	const own = new PackageDirectoryLoader(PROJECT_ROOT);
	await own.loadAll();
	const { nodeType, typeVersion } = await loadNode(measured, own);
	const nodeTypes = nodeTypesOf(nodeType);
	const helper = credentialsHelper(own.getCredential('xpertAiApi').type, credential, nodeTypes);
	return {
		run: async (parameters, items) => {
			const node: INode = {
				id: 'node',
				name: NODE,
				type: TYPES[measured],
				typeVersion,
				position: [200, 0],
				parameters,
				credentials: { xpertAiApi: { id: '1', name: 'Xpert AI' } },
			};
			return await execute(workflowOf(node, nodeTypes), helper, items);
		},
		storeFile: async (content, fileName, mimeType) =>
			await binaryData.store(
				{ type: 'execution', workflowId: 'workflow', executionId: 'execution' },
				content,
				{ data: '', fileName, mimeType },
			),
	};
}

async function loadNode(
	measured: Measured,
	own: PackageDirectoryLoader,
): Promise<{ nodeType: INodeType; typeVersion: number }> {
	if (measured === 'xpertAi')
		return {
			nodeType: NodeHelpers.getVersionedNodeType(own.getNode('xpertAi').type),
			typeVersion: 1,
		};
	const loader = new LazyPackageDirectoryLoader(NODES_BASE);
	await loader.loadAll();
	const { type } = loader.getNode('httpRequest');
	const nodeType = NodeHelpers.getVersionedNodeType(type);
	const { version, defaultVersion } = nodeType.description;
	return { nodeType, typeVersion: defaultVersion ?? [version].flat().at(-1) ?? 1 };
}

const startNode: INode = {
	id: 'start',
	name: START,
	type: 'bench.start',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};

/** Hands on the items it is given. */
const startType: INodeType = {
	description: {
		displayName: START,
		name: 'start',
		group: ['trigger'],
		version: 1,
		description: 'Hands on the items of the benchmark',
		defaults: { name: START },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		properties: [],
	},
	async execute() {
		return [this.getInputData().map((item, index) => ({ ...item, pairedItem: { item: index } }))];
	},
};

function nodeTypesOf(nodeType: INodeType): INodeTypes {
	const get = (type: string) => (type === startNode.type ? startType : nodeType);
	return { getByName: get, getByNameAndVersion: get, getKnownTypes: () => ({}) };
}

function workflowOf(node: INode, nodeTypes: INodeTypes): Workflow {
	return new Workflow({
		id: 'workflow',
		nodes: [startNode, node],
		connections: {
			[START]: { main: [[{ node: NODE, type: NodeConnectionTypes.Main, index: 0 }]] },
		},
		active: false,
		nodeTypes,
		settings: { executionOrder: 'v1' },
	});
}

async function execute(
	workflow: Workflow,
	helper: IWorkflowExecuteAdditionalData['credentialsHelper'],
	items: INodeExecutionData[],
): Promise<INodeExecutionData[]> {
	const runData = createRunExecutionData({
		executionData: {
			nodeExecutionStack: [{ node: startNode, data: { main: [items] }, source: null }],
		},
	});
	const url = 'http://127.0.0.1:5678';
	const additional: Partial<IWorkflowExecuteAdditionalData> = {
		credentialsHelper: helper,
		executionId: 'execution',
		currentNodeExecutionIndex: 0,
		restApiUrl: url,
		instanceBaseUrl: url,
		formBaseUrl: url,
		formWaitingBaseUrl: url,
		webhookBaseUrl: url,
		webhookWaitingBaseUrl: url,
		webhookTestBaseUrl: url,
		variables: {},
		hooks: new ExecutionLifecycleHooks('trigger', 'execution', {
			id: 'workflow',
			name: 'Benchmark',
			active: false,
			activeVersionId: null,
			isArchived: false,
			createdAt: new Date(),
			updatedAt: new Date(),
			nodes: Object.values(workflow.nodes),
			connections: workflow.connectionsBySourceNode,
		}),
	};
	// The engine asks for nothing else when it runs a workflow of two nodes.
	const run = await new WorkflowExecute(
		additional as IWorkflowExecuteAdditionalData,
		'trigger',
		runData,
	).processRunExecutionData(workflow);
	const task = run.data.resultData.runData[NODE]?.[0];
	const error = task?.error ?? run.data.resultData.error;
	if (error) throw error;
	return task?.data?.main?.[0] ?? [];
}
