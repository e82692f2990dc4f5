import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sortBy } from 'lodash';
import { z } from 'zod';
import type { CredentialReference } from './n8nRestClient';
import { projectRoot } from './paths';

const nodeSchema = z
	.object({
		name: z.string(),
		type: z.string(),
		webhookId: z.string().optional(),
		credentials: z.record(z.object({ name: z.string() }).passthrough()).optional(),
	})
	.passthrough();

const workflowFileSchema = z
	.object({
		name: z.string(),
		nodes: z.array(nodeSchema),
		connections: z.record(z.unknown()),
		settings: z.record(z.unknown()).optional(),
		pinData: z.record(z.array(z.unknown())).optional(),
		active: z.boolean().optional(),
	})
	.passthrough();

export type WorkflowFile = z.infer<typeof workflowFileSchema>;

/** The names of the example workflow files, in the order to open them, which the workflows' own names give. */
export function exampleFiles(): string[] {
	const folder = join(projectRoot, 'examples');
	if (!existsSync(folder)) return [];
	const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
	return sortBy(files, (file) => numberIn(readExample(file).name) ?? Infinity);
}

function numberIn(name: string): number | undefined {
	const [digits] = /\d+/.exec(name) ?? [];
	return digits === undefined ? undefined : Number(digits);
}

/** Reads an example workflow; throws when it is not an exported workflow. */
export function readExample(fileName: string): WorkflowFile {
	const text = readFileSync(join(projectRoot, 'examples', fileName), 'utf8');
	return workflowFileSchema.parse(JSON.parse(text));
}

/**
 * What to send to n8n to create a workflow: the parts of the file that make up the workflow, with
 * every reference to a credential turned into one of those given, found by its name. Webhook ids are
 * new, as in the editor: n8n does not publish two workflows whose chats share one.
 */
export function toNewWorkflow(
	file: WorkflowFile,
	credentials: CredentialReference[],
): Record<string, unknown> {
	const webhookIds = new Map(
		file.nodes.flatMap(({ webhookId }) => (webhookId ? [[webhookId, randomUUID()] as const] : [])),
	);
	const byName = new Map(credentials.map((credential) => [credential.name, credential]));
	const nodes = file.nodes.map((node) => ({
		...node,
		...(node.webhookId !== undefined && { webhookId: webhookIds.get(node.webhookId) }),
		...(node.type === NOTE && { parameters: followed(node.parameters, webhookIds) }),
		...(node.credentials && {
			credentials: Object.fromEntries(
				Object.entries(node.credentials).map(([type, reference]) => [
					type,
					byName.get(reference.name) ?? reference,
				]),
			),
		}),
	}));
	// Without pinned data, be it none, n8n cannot execute a single step of the workflow.
	const { name, connections, settings = {}, pinData = {} } = file;
	return { name, nodes, connections, settings, pinData };
}

const NOTE = 'n8n-nodes-base.stickyNote';

/** What a note says, with the addresses of pages that have got another id. */
function followed(parameters: unknown, ids: Map<string, string>): unknown {
	const text = [...ids].reduce(
		(soFar, [before, now]) => soFar.replaceAll(before, now),
		JSON.stringify(parameters),
	);
	return JSON.parse(text) as unknown;
}

/** Whether a workflow is of use only when it is active: it was exported so, or has a webhook. */
export function wantsActivation(file: WorkflowFile): boolean {
	return file.active === true || file.nodes.some(({ type }) => type === 'n8n-nodes-base.webhook');
}

/** What the examples leave to whoever runs them. */
export interface ExampleValues {
	assistantId: string;
	/** The same, where it is chosen in the node itself. */
	chosenAssistantId: string;
	/** Of an assistant whose filter takes the department of a question. */
	departmentAssistantId: string;
	/** Of a knowledgebase that has an embedding model. */
	knowledgebaseId: string;
	folder: string;
	/** Where n8n may read files of one's own. */
	ownFolder: string;
	n8nUrl: string;
}

/** What stands in the examples in place of these: the node quotes it where it is left, so it says where to fill it in. */
export const PLACEHOLDERS: ExampleValues = {
	assistantId: 'set-your-assistant-id-in-Settings',
	chosenAssistantId: 'choose-your-assistant',
	departmentAssistantId: 'set-your-department-assistant-id-in-Settings',
	knowledgebaseId: 'set-your-knowledgebase-id-in-Settings',
	folder: '/home/node/.n8n-files/your-folder',
	// Begins like the one above, which is filled in first.
	ownFolder: '/home/node/.n8n-files',
	n8nUrl: 'http://localhost:5678',
};

/** The folders that n8n may read: the handbook, and documents of one's own. */
const FOLDERS = '{documents,my-documents}';

/**
 * What makes an example ready to run in an n8n that has the documents, beside a sandbox. Each example that fills a
 * knowledgebase has one of its own there, by its number; all others ask about that of the first.
 */
export const sandboxValues = (n8nUrl: string, name = ''): ExampleValues => ({
	assistantId: 'd0000000-0000-4000-8000-000000000001',
	chosenAssistantId: 'd0000000-0000-4000-8000-000000000001',
	departmentAssistantId: 'd0000000-0000-4000-8000-000000000006',
	knowledgebaseId: `e0000000-0000-4000-8000-${String(numberIn(name) ?? 1).padStart(12, '0')}`,
	folder: FOLDERS,
	ownFolder: 'my-documents',
	n8nUrl,
});

/** A workflow with values in place of the placeholders, in nodes and notes alike. */
export function filledIn(file: WorkflowFile, values: ExampleValues): WorkflowFile {
	const keys = Object.keys(PLACEHOLDERS) as Array<keyof ExampleValues>;
	const text = keys.reduce(
		(soFar, key) => soFar.replaceAll(PLACEHOLDERS[key], () => asInJson(values[key])),
		JSON.stringify(file),
	);
	return JSON.parse(text) as WorkflowFile;
}

const asInJson = (text: string): string => JSON.stringify(text).slice(1, -1);
