import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { inChild } from './support/hostileChild';
import type { InChild } from './support/hostileChild';
import type { LoadTarget } from './support/hostileLoad';
import type { UploadLoad, UploadReport } from './support/uploadLoad';

let server: InChild<LoadTarget>;
let userFolder: string;

/** Submits loads in an n8n of its own, whose files are on disk. */
async function upload(...loads: UploadLoad[]): Promise<UploadReport[]> {
	const target = await server.result;
	const { child, result } = inChild<UploadReport[]>(
		'uploadLoad.ts',
		'runUploads',
		{ target, loads },
		{
			flags: ['--expose-gc'],
			env: {
				...process.env,
				N8N_USER_FOLDER: userFolder,
				N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
			},
		},
	);
	try {
		const reports = await result;
		if (process.env.SHOW_MEMORY) process.stderr.write(`${JSON.stringify(reports)}\n`);
		return reports;
	} finally {
		child.kill();
	}
}

describe('Document: Submit, uploading, storing, processing and waiting', () => {
	beforeAll(() => {
		userFolder = mkdtempSync(path.join(tmpdir(), 'xpertai-uploads-'));
		server = inChild<LoadTarget>('hostileLoad.ts', 'serveSandbox', null);
	});
	afterAll(() => {
		server.child.kill();
		rmSync(userFolder, { recursive: true, force: true });
	});

	it('takes a file of 500 MB in flat memory', async () => {
		const [small, large] = await upload({ megabytes: 5 }, { megabytes: 500 });
		expect(small?.processing).toEqual({ finish: 1 });
		expect(large?.processing).toEqual({ finish: 1 });
		expect(large?.rssGrowth).toBeLessThan(150);
		expect(large?.heapGrowth).toBeLessThan(20);
	});

	it('takes 2,000 texts in flat memory', async () => {
		const [few, many] = await upload({ texts: 200 }, { texts: 2000 });
		expect(few?.processing).toEqual({ finish: 200 });
		expect(many?.processing).toEqual({ finish: 2000 });
		expect(many?.rssGrowth).toBeLessThan(150);
		// The items that come out are held, a kilobyte or two each.
		expect(many?.heapGrowth).toBeLessThan(20);
	});
});
