import type { INodeExecutionData } from 'n8n-workflow';

import { COPILOT_ID, startSandbox } from '../../../sandbox';
import { createEngine } from './engine';
import { BY_NAME } from './ingest';
import { byId } from './locators';

/** Where documents go. */
export interface LoadTarget {
	baseUrl: string;
	accessToken: string;
	knowledgebaseId: string;
}

/** So many executions of so many items of 1 KB. */
export interface Load {
	target: LoadTarget;
	executions: number;
	items: number;
}

/** The report of each execution: documents stored, and live heap in bytes. */
export interface LoadReport {
	stored: number;
	liveHeap: number;
}

const FILLER = 'x'.repeat(900);

function makeItems(count: number): INodeExecutionData[] {
	return Array.from({ length: count }, (_, index) => ({
		json: {
			name: `document ${index}`,
			filePath: `/documents/${index}`,
			// A text of its own for each, as rows of a database have.
			pages: [{ pageContent: `${index} ${FILLER}`.slice(0, FILLER.length) }],
		},
	}));
}

/** In a process of its own: the executions of a load, one after another, in n8n's engine. */
export async function runLoad({ target, executions, items }: Load): Promise<LoadReport[]> {
	const engine = await createEngine();
	const { baseUrl, accessToken, knowledgebaseId } = target;
	const reports: LoadReport[] = [];
	for (let execution = 0; execution < executions; execution++) {
		const result = await engine.run({
			parameters: {
				resource: 'document',
				operation: 'submit',
				source: 'fields',
				knowledgebaseId: byId(knowledgebaseId),
				...BY_NAME,
				options: { afterStoring: 'nothing', batchSize: 500 },
			},
			credential: { baseUrl, accessToken },
			items: makeItems(items),
		});
		if (result.error) throw result.error;
		const stored = result.items.filter(({ json }) => json.outcome === 'stored').length;
		reports.push({ stored, liveHeap: 0 });
		// The last result is let go of first.
		await new Promise((resolve) => setImmediate(resolve));
		global.gc?.();
		for (const report of reports.slice(-1)) report.liveHeap = process.memoryUsage().heapUsed;
	}
	return reports;
}

/** In a process of its own: a sandbox that keeps next to nothing. */
export async function serveSandbox(): Promise<LoadTarget> {
	const sandbox = await startSandbox({ logBodies: false, keepContents: false, processMs: 0 });
	const { id } = sandbox.store.putKnowledgebase({ name: 'Load', copilotModelId: COPILOT_ID });
	return { baseUrl: sandbox.url, accessToken: sandbox.accessToken, knowledgebaseId: id };
}
