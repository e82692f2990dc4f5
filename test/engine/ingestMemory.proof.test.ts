import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { inChild } from './support/hostileChild';
import type { InChild } from './support/hostileChild';
import type { LoadTarget } from './support/hostileLoad';
import type { RecordsReport, UploadLoad, UploadReport } from './support/uploadLoad';

let server: InChild<LoadTarget>;
let userFolder: string;

/** Submits loads in an n8n of its own, whose files are on disk. */
async function upload(...loads: UploadLoad[]): Promise<UploadReport[]> {
	return await inOwnN8n('runUploads', { target: await server.result, loads });
}

/** Submits records from a file in an n8n of its own, whose heap may hold so many megabytes. */
async function records(
	target: LoadTarget,
	count: number,
	heapMegabytes: number,
): Promise<RecordsReport> {
	const flags = [`--max-old-space-size=${heapMegabytes}`];
	return await inOwnN8n('runRecords', { target, count }, flags);
}

async function inOwnN8n<Result>(work: string, task: object, flags: string[] = []): Promise<Result> {
	const env = {
		...process.env,
		N8N_USER_FOLDER: userFolder,
		N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
	};
	const options = { flags: ['--expose-gc', ...flags], env };
	const { child, result } = inChild<Result>('uploadLoad.ts', work, task, options);
	try {
		const report = await result;
		if (process.env.SHOW_MEMORY) process.stderr.write(`${JSON.stringify(report)}\n`);
		return report;
	} finally {
		child.kill();
	}
}

beforeAll(() => {
	userFolder = mkdtempSync(path.join(tmpdir(), 'xpertai-uploads-'));
});
afterAll(() => rmSync(userFolder, { recursive: true, force: true }));

describe('Document: Submit, uploading, storing, processing and waiting', () => {
	beforeAll(() => {
		server = inChild<LoadTarget>('hostileLoad.ts', 'serveSandbox', null);
	});
	afterAll(() => server.child.kill());

	it.each<[string, UploadLoad[], number[]]>([
		['a file of 500 MB', [{ megabytes: 5 }, { megabytes: 500 }], [1, 1]],
		['2,000 texts', [{ texts: 200 }, { texts: 2000 }], [200, 2000]],
	])('takes %s in flat memory', async (_, loads, finished) => {
		const reports = await upload(...loads);
		expect(reports).toMatchObject(finished.map((finish) => ({ processing: { finish } })));
		expect(reports[1]?.rssGrowth).toBeLessThan(150);
		// The items that come out are held, a kilobyte or two each.
		expect(reports[1]?.heapGrowth).toBeLessThan(20);
	});
});

it('takes 100,000 records from a file in a heap of 128 MB, and in hardly more than 10,000', async () => {
	const light = inChild<LoadTarget>('lightServer.ts', 'serveLightly', null);
	try {
		const target = await light.result;
		const few = await records(target, 10_000, 128);
		const many = await records(target, 100_000, 128);
		expect(few).toMatchObject({ found: 10_000, failed: 0 });
		expect(many).toMatchObject({ found: 100_000, failed: 0 });
		expect([few.notes, many.notes]).toEqual([undefined, undefined]);
		expect(many.live).toBeLessThan(1.2 * few.live);
	} finally {
		light.child.kill();
	}
}, 900_000);
