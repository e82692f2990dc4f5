import axios from 'axios';
import { parse } from 'flatted';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';

import { startHost } from '../../host/host';
import type { Host } from '../../host/host';
import { waitFor } from '../../host/waitFor';
import type { CredentialReference } from '../../host/n8nRestClient';
import { SOURCE } from './n8nWorkflows';
import { startServer } from './server';
import type { Server } from './server';

const taskSchema = z.object({
	startTime: z.number(),
	executionTime: z.number(),
	data: z
		.object({
			main: z.array(
				z.array(z.object({ json: z.record(z.unknown()), pairedItem: z.unknown() })).nullable(),
			),
		})
		.optional(),
});

const executionSchema = z.object({
	resultData: z.object({ runData: z.record(z.array(taskSchema)).default({}) }),
});

/** What n8n keeps of each run of a node. */
export type NodeTask = z.infer<typeof taskSchema>;

/** How an execution went. */
export interface N8nExecution {
	status: string;
	/** From the end of the node that makes the documents to the end of the last node. */
	seconds: number;
	tasks: Record<string, NodeTask[]>;
}

/** A real n8n with the node in it, and a sandbox. */
export interface RunningN8n {
	server: Server;
	credential: CredentialReference;
	/** Runs a workflow to its end. */
	run: (workflow: Record<string, unknown>) => Promise<N8nExecution>;
	/** Publishes a workflow that begins with a webhook; gives the address of a path. */
	publish: (workflow: Record<string, unknown>, path: string) => Promise<string>;
	stop: () => Promise<void>;
}

const FINISHED = ['success', 'error', 'canceled', 'crashed'];

/** Starts a sandbox and n8n in a user folder of its own. */
export async function startN8n(): Promise<RunningN8n> {
	const userFolder = mkdtempSync(path.join(tmpdir(), 'xpertai-bench-n8n-'));
	const host = await startHost({ userFolder });
	const server = await startServer();
	const credential = await host.rest.createCredential({
		name: 'Benchmark',
		type: 'xpertAiApi',
		data: { ...server.target.credential, allowInsecureHttp: false },
	});
	return {
		server,
		credential,
		run: async (workflow) => await run(host, workflow),
		publish: async (workflow, path) => {
			const { id } = await host.rest.createWorkflow(workflow);
			await host.rest.activateWorkflow(id);
			const url = `${host.url}/webhook/${path}`;
			// n8n answers there a moment after it has said so.
			await waitFor(`the webhook ${path}`, async () => {
				const { status } = await axios.post(url, {}, { proxy: false, validateStatus: () => true });
				return status === 404 ? undefined : status;
			});
			return url;
		},
		stop: async () => {
			await server.stop();
			await host.stop();
			rmSync(userFolder, { recursive: true, force: true });
		},
	};
}

async function run({ rest }: Host, workflow: Record<string, unknown>): Promise<N8nExecution> {
	const { id } = await rest.createWorkflow(workflow);
	const execution = await rest.runWorkflow(id, 'Start');
	const stored = await waitFor(
		`execution ${execution} to end`,
		async () => {
			const found = await rest.findExecution(execution);
			return FINISHED.includes(String(found?.status)) ? found : undefined;
		},
		{ timeoutMs: 300_000, everyMs: 500 },
	);
	const { runData } = executionSchema.parse(parse(String(stored.data))).resultData;
	const source = runData[SOURCE]?.[0];
	if (source === undefined) throw new Error('n8n made no documents');
	const endOf = ({ startTime, executionTime }: NodeTask) => startTime + executionTime;
	const last = Math.max(...Object.values(runData).flat().map(endOf));
	return {
		status: String(stored.status),
		seconds: (last - endOf(source)) / 1000,
		tasks: runData,
	};
}
