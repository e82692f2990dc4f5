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
import { get } from 'lodash';
import { NodeConnectionTypes, NodeHelpers, Workflow, createRunExecutionData } from 'n8n-workflow';
import type {
	IBinaryData,
	ICredentialTestRequest,
	ICredentialsHelper,
	INode,
	INodeExecutionData,
	INodeParameters,
	INodeProperties,
	INodeType,
	IRun,
	ITaskData,
	IWorkflowBase,
	IWorkflowExecuteAdditionalData,
	NodeExecutionHint,
	StructuredChunk,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import type { Readable } from 'node:stream';

import { type CredentialData, credentialsHelper } from './credentials';

/** How the node is run. */
export interface NodeRun {
	parameters: INodeParameters;
	credential: CredentialData;
	/** Items that reach the node; one empty item without them. */
	items?: INodeExecutionData[];
	onError?: INode['onError'];
	/** How the execution was started; as a schedule does without it. */
	mode?: WorkflowExecuteMode;
	/** What the node is called in its workflow; its usual name without it. */
	name?: string;
	/** How the executions were started that a sub-workflow (mode `integrated`) belongs to, as far as n8n tells. */
	calledFrom?: { outermost?: WorkflowExecuteMode; caller?: WorkflowExecuteMode };
	/** The type of a node by which what comes out of the node would go into it once more. */
	loops?: string;
	/** The parameters of a node of ours between the items and it. */
	behind?: INodeParameters;
	/**
	 * A node of ours that the node before both gives these items, by an output of its own if it branches; `first` gives
	 * what is before both its items, and this node as well if it is `alsoHere`.
	 */
	beside?: {
		parameters: INodeParameters;
		items?: INodeExecutionData[];
		branches?: boolean;
		first?: 'before' | 'alsoHere';
	};
	/** The type of the node before it, which hands on the items. */
	trigger?: string;
	/** Hears what the node shows in a chat while it works, as n8n does in a streaming response mode. */
	onChunk?: (chunk: StructuredChunk) => void;
	/** Whether it runs as AI Agent 3 runs its tools: as a node whose type ends in `Tool`, in the agent's execution. */
	isTool?: boolean;
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

/** n8n's real execution engine with one node in it. */
export interface NodeEngine {
	nodeType: INodeType;
	run: (nodeRun: NodeRun) => Promise<NodeResult>;
	/** Stores a file as binary data, as a previous node would have. */
	binary: (content: Buffer | Readable, fileName: string, mimeType: string) => Promise<IBinaryData>;
	/** What a list in the editor is asked with. */
	loadOptions: (credential: CredentialData) => LoadOptionsContext;
	/** Sends the request of the credential's test, as n8n does by a declarative node, and compares it with the rules. */
	testCredential: (
		credential: CredentialData,
	) => Promise<{ message?: string; error?: NodeResult['error'] }>;
}

/** Loads the built package (`dist/`) the way n8n does, which takes about 1.5 s. */
export async function createNodeEngine(projectRoot: string): Promise<NodeEngine> {
	configureGlobalAxiosDefaults();
	const binaryData = Container.get(BinaryDataService);
	await binaryData.init();
	const loader = await loaded(new PackageDirectoryLoader(projectRoot));
	const nodeType = NodeHelpers.getVersionedNodeType(loader.getNode('xpertAi').type);
	const type = `${loader.packageName}.xpertAi`;
	const helperFor = (credential: CredentialData, { nodeTypes }: Workflow) =>
		credentialsHelper(loader.getCredential('xpertAiApi').type, credential, nodeTypes);

	return {
		nodeType,
		binary: async (content, fileName, mimeType) =>
			await binaryData.store(
				{ type: 'execution', workflowId: 'workflow', executionId: 'execution' },
				content,
				{ data: '', fileName, mimeType },
			),
		loadOptions: (credential) => {
			const node = nodeOf(type, nodeType, { parameters: {} });
			const workflow = workflowOf(node, nodeType);
			const additionalData = additionalDataOf(workflow, helperFor(credential, workflow));
			return new LoadOptionsContext(workflow, node, additionalData, '');
		},
		testCredential: async (credential) => {
			const { test } = loader.getCredential('xpertAiApi').type;
			if (!test) throw new Error('the credential has no test');
			const tester = asTester(nodeType, test.request);
			const workflow = workflowOf(nodeOf(type, tester, { parameters: {} }), tester);
			const additionalData = additionalDataOf(workflow, helperFor(credential, workflow));
			const runData = runDataOf(startNode, [{ json: {} }]);
			const execution = new WorkflowExecute(additionalData, 'internal', runData);
			const run = await execution.processRunExecutionData(workflow);
			const { items, error } = resultOf(run, nodeOf(type, tester, { parameters: {} }).name);
			const broken = test.rules?.find(
				({ type: kind, properties }) =>
					kind === 'responseSuccessBody' &&
					get(items[0]?.json, properties.key) === properties.value,
			);
			return { message: broken?.properties.message, error };
		},
		run: async (nodeRun) => {
			const used = nodeRun.isTool ? asTool(nodeType) : nodeType;
			const own = nodeOf(nodeRun.isTool ? `${type}Tool` : type, used, nodeRun);
			const node = { ...own, name: nodeRun.name ?? own.name };
			const start = { ...startNode, type: nodeRun.trigger ?? startNode.type };
			const { loops, behind, beside } = nodeRun;
			const named = (name: string, parameters: INodeParameters) => ({
				...node,
				id: name.toLowerCase(),
				name,
				parameters,
			});
			const before = behind && named('Before', behind);
			const other = beside && { ...beside, node: named('Beside', beside.parameters) };
			const first = beside?.first && { ...FIRST, into: beside.first };
			const workflow = workflowOf(node, used, { loops, start, before, other, first });
			const additionalData = additionalDataOf(workflow, helperFor(nodeRun.credential, workflow));
			const { outermost, caller } = nodeRun.calledFrom ?? {};
			if (outermost) additionalData.rootExecutionMode = outermost;
			if (nodeRun.onChunk) stream(additionalData, nodeRun.onChunk);
			const execution = new WorkflowExecute(
				additionalData,
				nodeRun.mode ?? (nodeRun.onChunk ? 'webhook' : 'trigger'),
				runDataOf(first ? FIRST : start, nodeRun.items ?? [{ json: {} }], caller),
			).processRunExecutionData(workflow);
			nodeRun.onStart?.({ cancel: () => execution.cancel() });
			return resultOf(await execution, node.name);
		},
	};
}

/** The type of the node by which n8n tests a credential: it sends this request. */
function asTester(nodeType: INodeType, request: ICredentialTestRequest['request']): INodeType {
	const field = { displayName: 'Temp', name: 'temp', type: 'string', default: '' } as const;
	const properties: INodeProperties[] = [{ ...field, routing: { request } }];
	const description = { ...nodeType.description, properties };
	return Object.create(nodeType, {
		description: { value: description },
		execute: { value: undefined },
	}) as INodeType;
}

/** The type that n8n registers for a node that is usable as a tool. */
function asTool(nodeType: INodeType): INodeType {
	const { description } = nodeType;
	return Object.create(nodeType, {
		description: { value: { ...description, name: `${description.name}Tool` } },
	}) as INodeType;
}

/** Loads all there is in a package. */
export async function loaded(loader: PackageDirectoryLoader): Promise<PackageDirectoryLoader> {
	await loader.loadAll();
	return loader;
}

const startNode: INode = {
	id: 'start',
	name: 'Start',
	type: 'engine.start',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};

/** A node before the one that stands before ours. */
const FIRST: INode = { ...startNode, id: 'first', name: 'First', type: 'engine.first' };

/** Hands on the items it is given. */
const startType: INodeType = {
	description: {
		displayName: startNode.name,
		name: 'start',
		group: ['trigger'],
		version: 1,
		description: 'Hands on the items it is given',
		defaults: { name: startNode.name },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		properties: [],
	},
	async execute() {
		return [this.getInputData().map((item, index) => ({ ...item, pairedItem: { item: index } }))];
	},
};

/** Hands on the items it is given by one output, and others by a second one. */
const branching = (others: INodeExecutionData[] = []): INodeType => ({
	description: {
		...startType.description,
		outputs: [NodeConnectionTypes.Main, NodeConnectionTypes.Main],
	},
	async execute() {
		const items = this.getInputData().map((item, index) => ({
			...item,
			pairedItem: { item: index },
		}));
		return [items, others];
	},
});

/** Hands on nothing. */
const endType: INodeType = { ...startType, execute: async () => [[]] };

/** The node as the editor adds it: its usual name, its newest version. */
export function nodeOf(
	type: string,
	{ description }: INodeType,
	{ parameters, onError }: Pick<NodeRun, 'parameters' | 'onError'>,
): INode {
	const { version, defaultVersion, defaults, displayName } = description;
	return {
		id: 'node',
		name: String(defaults.name ?? displayName),
		type,
		typeVersion: defaultVersion ?? [version].flat().at(-1) ?? 1,
		position: [200, 0],
		parameters,
		credentials: { xpertAiApi: { id: '1', name: 'Xpert AI' } },
		...(onError ? { onError } : {}),
	};
}

/** Nodes around the one that is run; `loops`: the type of the one that closes a loop. */
interface WorkflowSetup {
	loops?: string;
	start?: INode;
	before?: INode;
	other?: { node: INode; items?: INodeExecutionData[]; branches?: boolean };
	first?: INode & { into: 'before' | 'alsoHere' };
}

function workflowOf(
	node: INode,
	nodeType: INodeType,
	{ loops, start = startNode, before, other, first: front }: WorkflowSetup = {},
): Workflow {
	const to = (name: string) => ({ node: name, type: NodeConnectionTypes.Main, index: 0 });
	const into = (name: string) => ({ main: [[to(name)]] });
	const types: Record<string, INodeType> = {
		[start.type]: other?.branches ? branching(other.items) : startType,
		[loops ?? '']: endType,
		...(front ? { [front.type]: startType } : {}),
	};
	const first = to(before?.name ?? node.name);
	const outputs = other?.branches
		? [[first], [to(other.node.name)]]
		: [[first, ...(other ? [to(other.node.name)] : [])]];
	const get = (type: string) => types[type] ?? nodeType;
	const back = loops ? [{ ...startNode, name: 'Back', type: loops }] : [];
	return new Workflow({
		id: 'workflow',
		nodes: [
			...(front ? [front] : []),
			start,
			...(before ? [before] : []),
			node,
			...(other ? [other.node] : []),
			...back,
		],
		connections: {
			[start.name]: { main: outputs },
			...(front
				? {
						[front.name]: {
							main: [[to(start.name), ...(front.into === 'alsoHere' ? [first] : [])]],
						},
					}
				: {}),
			...(before ? { [before.name]: into(node.name) } : {}),
			...(loops ? { [node.name]: into('Back'), Back: into(node.name) } : {}),
		},
		active: false,
		nodeTypes: { getByName: get, getByNameAndVersion: get, getKnownTypes: () => ({}) },
		settings: { executionOrder: 'v1' },
	});
}

function runDataOf(start: INode, items: INodeExecutionData[], caller?: WorkflowExecuteMode) {
	const executionContext = caller && { version: 1 as const, establishedAt: 0, source: caller };
	return createRunExecutionData({
		...(caller && {
			parentExecution: { executionId: 'caller', workflowId: 'caller', executionContext },
		}),
		executionData: {
			nodeExecutionStack: [{ node: start, data: { main: [items] }, source: null }],
		},
	});
}

/** What n8n gives a workflow besides its nodes. */
export function additionalDataOf(
	workflow: Workflow,
	helper: ICredentialsHelper,
): IWorkflowExecuteAdditionalData {
	const url = 'http://127.0.0.1:5678';
	const data: IWorkflowBase = {
		id: 'workflow',
		name: 'Engine',
		active: false,
		activeVersionId: null,
		isArchived: false,
		createdAt: new Date(),
		updatedAt: new Date(),
		nodes: Object.values(workflow.nodes),
		connections: workflow.connectionsBySourceNode,
	};
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
		hooks: new ExecutionLifecycleHooks('trigger', 'execution', data),
	};
	// The engine asks for nothing else when it runs a workflow of two nodes.
	return additional as IWorkflowExecuteAdditionalData;
}

/** Has an execution show what its nodes send to a chat. */
function stream(
	additionalData: IWorkflowExecuteAdditionalData,
	onChunk: (chunk: StructuredChunk) => void,
): void {
	additionalData.streamingEnabled = true;
	additionalData.hooks?.addHandler('sendChunk', async (chunk) => onChunk(chunk));
}

/** What a node has put out in a run. */
export function resultOf(run: IRun, name: string): NodeResult {
	const task = run.data.resultData.runData[name]?.[0];
	const outputs = (task?.data?.main ?? []).map((items) => items ?? []);
	return {
		outputs,
		items: outputs[0] ?? [],
		error: task?.error ?? run.data.resultData.error,
		hints: task?.hints ?? [],
		run,
	};
}
