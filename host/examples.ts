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

/** A workflow as n8n exports it. */
export type WorkflowFile = z.infer<typeof workflowFileSchema>;

/** The names of the example workflow files, in the order to open them, which the workflows' own names give. */
export function exampleFiles(): string[] {
	const folder = join(projectRoot, 'examples');
	if (!existsSync(folder)) return [];
	const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
	return sortBy(files, (file) => numberIn(readExample(file).name));
}

const numberIn = (name: string): number => Number(/\d+/.exec(name)?.[0] ?? Infinity);

/** Reads an example workflow; throws when it is not an exported workflow. */
export function readExample(fileName: string): WorkflowFile {
	return readWorkflowFile(join(projectRoot, 'examples', fileName));
}

/** Reads an exported workflow from any file; throws when it is none. */
export function readWorkflowFile(path: string): WorkflowFile {
	return workflowFileSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
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
	const byName = new Map(credentials.map((credential) => [credential.name, credential]));
	const nodes = file.nodes.map((node) => ({
		...node,
		...(node.webhookId !== undefined && { webhookId: randomUUID() }),
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

/** Whether a workflow is of use only when it is active: it was exported so, or has a webhook. */
export function wantsActivation(file: WorkflowFile): boolean {
	return file.active === true || file.nodes.some(({ type }) => type === 'n8n-nodes-base.webhook');
}
