import './environment';

import { Container } from '@n8n/di';
import { configureGlobalAxiosDefaults } from '@n8n/backend-network';
import {
	BinaryDataService,
	ExecutionLifecycleHooks,
	LoadOptionsContext,
	PackageDirectoryLoader,
	WorkflowExecute,
} from 'n8n-core';
import { NodeConnectionTypes, Workflow, createRunExecutionData } from 'n8n-workflow';
import type {
	IBinaryData,
	INode,
	INodeExecutionData,
	INodeListSearchResult,
	INodeParameters,
	INodeType,
	INodeTypes,
	IRun,
	ITaskData,
	IWorkflowBase,
	IWorkflowExecuteAdditionalData,
	NodeExecutionHint,
} from 'n8n-workflow';
import path from 'node:path';

import { credentialsHelper } from './credentials';
import type { CredentialData } from './credentials';

const PROJECT_ROOT = path.resolve(__dirname, '../../..');
const START = 'Start';
const NODE = 'Xpert AI';

/** How a test runs the node. */
export interface NodeRun {
	parameters: INodeParameters;
	credential: CredentialData;
	/** Items that reach the node; one empty item without them. */
	items?: INodeExecutionData[];
	onError?: INode['onError'];
	/** Called with the running execution, to cancel it. */
	onStart?: (execution: { cancel: () => void }) => void;
}

/** What came out of the node. */
export interface NodeResult {
	/** Items of the main output, then of the error output if On Error has one. */
	outputs: INodeExecutionData[][];
	/** Items of the first output. */
	items: INodeExecutionData[];
	error?: ITaskData['error'];
	hints: NodeExecutionHint[];
	run: IRun;
}

/** n8n's real execution engine with the built node in it. */
export interface Engine {
	run: (nodeRun: NodeRun) => Promise<NodeResult>;
	/** Stores a file as binary data, as a previous node would have. */
	binary: (content: Buffer, fileName: string, mimeType: string) => Promise<IBinaryData>;
	nodeType: INodeType;
	/** Asks a picker for a page of its list, as the editor does. */
	listSearch: (
		method: string,
		credential: CredentialData,
		filter?: string,
		paginationToken?: string,
	) => Promise<INodeListSearchResult>;
}

/** Loads the built package (`dist/`) the way n8n does. Takes about 1.5 s, so share one a test file. */
export async function createEngine(): Promise<Engine> {
	configureGlobalAxiosDefaults();
	await Container.get(BinaryDataService).init();
	const loader = new PackageDirectoryLoader(PROJECT_ROOT);
	await loader.loadAll();
	const node = loader.getNode('xpertAi').type as INodeType;
	const nodeTypes = nodeTypesOf(node);

	return {
		nodeType: node,
		binary: async (content, fileName, mimeType) =>
			await Container.get(BinaryDataService).store(
				{ type: 'execution', workflowId: 'workflow', executionId: 'execution' },
				content,
				{ data: '', fileName, mimeType },
			),
		listSearch: async (method, credential, filter, paginationToken) => {
			const workflow = workflowOf({ parameters: {}, credential }, nodeTypes);
			const search = node.methods?.listSearch?.[method];
			const workflowNode = workflow.getNode(NODE);
			if (!search || !workflowNode) throw new Error(`the node has no list search ${method}`);
			const additionalData = additionalDataOf(workflow, {
				credentialsHelper: credentialsHelper(
					loader.getCredential('xpertAiApi').type,
					credential,
					nodeTypes,
				),
			});
			const context = new LoadOptionsContext(workflow, workflowNode, additionalData, '');
			return await search.call(context, filter, paginationToken);
		},
		run: async (nodeRun) => {
			const workflow = workflowOf(nodeRun, nodeTypes);
			const credentialType = loader.getCredential('xpertAiApi').type;
			const additionalData = additionalDataOf(workflow, {
				credentialsHelper: credentialsHelper(credentialType, nodeRun.credential, nodeTypes),
			});
			const startItems = nodeRun.items ?? [{ json: {} }];
			const runData = createRunExecutionData({
				executionData: {
					nodeExecutionStack: [{ node: startNode, data: { main: [startItems] }, source: null }],
				},
			});
			const execution = new WorkflowExecute(
				additionalData,
				'trigger',
				runData,
			).processRunExecutionData(workflow);
			nodeRun.onStart?.({ cancel: () => execution.cancel() });
			return resultOf(await execution);
		},
	};
}

const startNode: INode = {
	id: 'start',
	name: START,
	type: 'engine.start',
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
		description: 'Hands on the items of the test',
		defaults: { name: START },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		properties: [],
	},
	async execute() {
		return [this.getInputData().map((item, index) => ({ ...item, pairedItem: { item: index } }))];
	},
};

function nodeTypesOf(node: INodeType): INodeTypes {
	const get = (type: string) => (type === 'engine.start' ? startType : node);
	return { getByName: get, getByNameAndVersion: get, getKnownTypes: () => ({}) };
}

function workflowOf({ parameters, onError }: NodeRun, nodeTypes: INodeTypes): Workflow {
	const node: INode = {
		id: 'node',
		name: NODE,
		type: 'n8n-nodes-xpertai.xpertAi',
		typeVersion: 1,
		position: [200, 0],
		parameters,
		credentials: { xpertAiApi: { id: '1', name: 'Xpert AI' } },
		...(onError ? { onError } : {}),
	};
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

function additionalDataOf(
	workflow: Workflow,
	parts: Pick<IWorkflowExecuteAdditionalData, 'credentialsHelper'>,
): IWorkflowExecuteAdditionalData {
	const url = 'http://127.0.0.1:5678';
	const data: IWorkflowBase = {
		id: 'workflow',
		name: 'Engine test',
		active: false,
		activeVersionId: null,
		isArchived: false,
		createdAt: new Date(),
		updatedAt: new Date(),
		nodes: Object.values(workflow.nodes),
		connections: workflow.connectionsBySourceNode,
	};
	const additional: Partial<IWorkflowExecuteAdditionalData> = {
		...parts,
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
		hooks: new ExecutionLifecycleHooks('trigger', 'execution', data),
	};
	// The engine asks for nothing else when it runs a workflow of two nodes.
	return additional as IWorkflowExecuteAdditionalData;
}

function resultOf(run: IRun): NodeResult {
	const task = run.data.resultData.runData[NODE]?.[0];
	const outputs = (task?.data?.main ?? []).map((items) => items ?? []);
	return {
		outputs,
		items: outputs[0] ?? [],
		error: task?.error ?? run.data.resultData.error,
		hints: task?.hints ?? [],
		run,
	};
}
