import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { times } from 'lodash';

import { inChild, type InChild } from './support/inChild';
import type { Load, LoadReport, LoadTarget } from './support/loads';

/** Only for what hangs. */
jest.setTimeout(900_000);

const userFolder = mkdtempSync(path.join(tmpdir(), 'xpertai-uploads-'));
afterAll(() => rmSync(userFolder, { recursive: true, force: true }));

/** A server in a process of its own; gives what runs loads on it in an n8n whose heap may hold so many megabytes. */
function useServer(name: 'serveSandbox' | 'serveLightly') {
	let served: InChild<LoadTarget>;
	beforeAll(() => void (served = inChild<LoadTarget>('loads.ts', name, null)));
	afterAll(() => void served.child.kill());
	return async (megabytes: number, ...loads: Load[]): Promise<LoadReport[]> => {
		const files = { N8N_USER_FOLDER: userFolder, N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' };
		const flags = ['--expose-gc', `--max-old-space-size=${megabytes}`];
		const env = { ...process.env, ...files };
		const task = { target: await served.result, loads };
		const { child, result } = inChild<LoadReport[]>('loads.ts', 'runLoads', task, { flags, env });
		const reports = await result.finally(() => child.kill());
		if (process.env.SHOW_MEMORY) process.stderr.write(`${JSON.stringify(reports)}\n`);
		return reports;
	};
}

describe('Document: Submit', () => {
	const run = useServer('serveSandbox');

	it('stores 100,000 items of 1 kB in a heap of 1 GB', async () => {
		const [report] = await run(1024, ['items', 100_000]);
		expect(report?.outcomes).toEqual({ stored: 100_000 });
	});

	it('keeps nothing of an execution that has ended', async () => {
		const reports = await run(1024, ...times(20, (): Load => ['items', 2000]));
		for (const { outcomes } of reports) expect(outcomes).toEqual({ stored: 2000 });
		// Ten executions that were kept would be 20 MB. What is collected a few executions later is no leak.
		const least = (some: LoadReport[]) => Math.min(...some.map(({ heap }) => heap));
		expect(least(reports.slice(10)) - least(reports.slice(0, 5))).toBeLessThan(10);
	});

	it.each<[string, Load, Load]>([
		['a file of 500 MB', ['file', 5], ['file', 500]],
		['2,000 texts', ['texts', 200], ['texts', 2000]],
	])('takes %s in flat memory', async (_, first, second) => {
		const reports = await run(4096, first, second);
		const documents = [first, second].map(([of, count]) => (of === 'file' ? 1 : count));
		expect(reports.map(({ outcomes }) => outcomes)).toEqual(documents.map((found) => ({ found })));
		expect(reports[1]?.rssGrowth).toBeLessThan(150);
		// The items that come out are held, a kilobyte or two each.
		expect(reports[1]?.heapGrowth).toBeLessThan(20);
	});
});

describe('Document: Submit of records from a file', () => {
	const run = useServer('serveLightly');

	it('takes 100,000 in a heap of 128 MB, and in hardly more than 10,000', async () => {
		const [few] = await run(128, ['records', 10_000]);
		const [many] = await run(128, ['records', 100_000]);
		expect(few?.summary).toMatchObject({ found: 10_000, failed: [] });
		expect(many?.summary).toMatchObject({ found: 100_000, failed: [] });
		expect([few?.summary.notes, many?.summary.notes]).toEqual([undefined, undefined]);
		expect(many?.live).toBeLessThan(1.2 * (few?.live ?? 0));
	});
});
