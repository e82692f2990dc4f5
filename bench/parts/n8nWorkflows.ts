import type { INodeParameters } from 'n8n-workflow';

import type { CredentialReference } from '../../host/n8nRestClient';
import { byId } from '../../test/engine/support/locators';
import type { Target } from '../support/server';

/** Documents that are sent in n8n. */
export interface Load {
	documents: number;
	batchSize: number;
	concurrency: number;
	/** Whether the documents bring an id, so that one that is sent again replaces itself. */
	withIds: boolean;
	/** Whether something is done about requests that go wrong. */
	careful: boolean;
}

/** A node of a workflow, with what it leads to. */
interface Node {
	name: string;
	type: string;
	typeVersion: number;
	parameters: INodeParameters;
	/** The next nodes, by output. */
	to?: string[][];
	more?: Record<string, unknown>;
}

/** The node that makes the documents; what comes after it is measured. */
export const SOURCE = 'Documents';
/** Where the outcome of Submit is. */
export const SUBMIT = 'Submit';
/** Where the answers to the requests are: in the first output, and what went wrong in the second. */
export const SENT = 'HTTP Request';
/** Where the batches are. */
export const BATCHES = 'Batches';

const TRIGGER: Node = {
	name: 'Start',
	type: 'n8n-nodes-base.manualTrigger',
	typeVersion: 1,
	parameters: {},
	to: [[SOURCE]],
};

/** Runs in n8n's task runner, as every Code node does. */
const code = (name: string, jsCode: string, to: string): Node => ({
	name,
	type: 'n8n-nodes-base.code',
	typeVersion: 2,
	parameters: { jsCode },
	to: [[to]],
});

const makeDocuments = ({ documents, withIds }: Load) => `
const text = ${JSON.stringify('The quick brown fox jumps over the lazy dog. '.repeat(18))};
const documents = Array.from({ length: ${documents} }, (_, index) => ({
	${withIds ? "id: '00000000-0000-4000-8000-' + String(index).padStart(12, '0')," : ''}
	name: 'document-' + index + '.md',
	filePath: 'manuals/document-' + index + '.md',
	pages: [{ pageContent: text }],
}));`;

const documentsCode = (load: Load) =>
	`${makeDocuments(load)}\nreturn documents.map((json) => ({ json }));`;

const inBatches = (size: number) => `
const batches = [];
for (let from = 0; from < documents.length; from += ${size})
	batches.push({ json: { documents: documents.slice(from, from + ${size}) } });
return batches;`;

const batchesCode = (size: number) => `
const documents = $input.all().map((item) => item.json);${inBatches(size)}`;

/** Document: Submit after a node that makes documents. */
export function submitWorkflow(
	load: Load,
	{ knowledgebaseId }: Target,
	credential: CredentialReference,
): Record<string, unknown> {
	const { batchSize, concurrency, withIds, careful } = load;
	return workflow('Submit', [
		TRIGGER,
		code(SOURCE, documentsCode(load), SUBMIT),
		{
			name: SUBMIT,
			type: 'n8n-nodes-xpertai.xpertAi',
			typeVersion: 1,
			parameters: {
				resource: 'document',
				operation: 'submit',
				source: 'fields',
				knowledgebaseId: byId(knowledgebaseId),
				documentFields: { mappingMode: 'autoMapInputData', value: null, schema: [] },
				...(withIds ? {} : { documentKey: '={{ $json.filePath }}' }),
				options: { afterStoring: 'nothing' },
				tuning: { batchSize, concurrency },
			},
			more: {
				credentials: { xpertAiApi: credential },
				...(careful ? { onError: 'continueRegularOutput' } : {}),
			},
		},
	]);
}

/** HTTP Request, which sends the documents of an item. It sends those of all items it is given at once. */
const httpRequest = (
	{ url }: Target,
	credential: CredentialReference,
	to: string[][],
	more: Record<string, unknown> = {},
): Node => ({
	name: SENT,
	type: 'n8n-nodes-base.httpRequest',
	typeVersion: 4.2,
	parameters: {
		method: 'POST',
		url,
		authentication: 'predefinedCredentialType',
		nodeCredentialType: 'xpertAiApi',
		sendBody: true,
		specifyBody: 'json',
		jsonBody: '={{ $json.documents }}',
		options: {},
	},
	to,
	more: { credentials: { xpertAiApi: credential }, ...more },
});

/** The best by hand: the documents come as batches, and one HTTP Request sends them. */
export function readyWorkflow(
	load: Load,
	target: Target,
	credential: CredentialReference,
): Record<string, unknown> {
	const batches = makeDocuments(load) + inBatches(load.batchSize);
	return workflow('Ready Batches', [
		TRIGGER,
		code(SOURCE, batches, SENT),
		httpRequest(target, credential, []),
	]);
}

/** A second Code node that makes batches, and HTTP Request in a loop that sends so many at once. */
export function requestWorkflow(
	load: Load,
	target: Target,
	credential: CredentialReference,
): Record<string, unknown> {
	const loop = 'Loop Over Items';
	const { careful } = load;
	const patience = {
		onError: 'continueErrorOutput',
		retryOnFail: true,
		maxTries: 3,
		waitBetweenTries: 1000,
	};
	return workflow('Code, Loop and HTTP Request', [
		TRIGGER,
		code(SOURCE, documentsCode(load), BATCHES),
		code(BATCHES, batchesCode(load.batchSize), loop),
		{
			name: loop,
			type: 'n8n-nodes-base.splitInBatches',
			typeVersion: 3,
			parameters: { batchSize: load.concurrency, options: {} },
			to: [[], [SENT]],
		},
		httpRequest(target, credential, careful ? [[loop], [loop]] : [[loop]], careful ? patience : {}),
	]);
}

function workflow(name: string, nodes: Node[]): Record<string, unknown> {
	return {
		name: `Benchmark: ${name}`,
		settings: { executionOrder: 'v1' },
		pinData: {},
		nodes: nodes.map(({ to: _to, more, ...node }, index) => ({
			id: `node-${index}`,
			position: [index * 200, 0],
			...node,
			...more,
		})),
		connections: Object.fromEntries(
			nodes.flatMap(({ name: from, to }) =>
				to === undefined
					? []
					: [
							[
								from,
								{
									main: to.map((names) => names.map((node) => ({ node, type: 'main', index: 0 }))),
								},
							],
						],
			),
		),
	};
}
