import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { NpmProgress } from '../../host/modules';

it('says each time how far npm has come, and what it waits for where nothing has moved', () => {
	const folder = mkdtempSync(join(tmpdir(), 'xpertai-progress-'));
	const progress = new NpmProgress(folder, ['one', 'two']);
	const unpack = (name: string) => {
		mkdirSync(join(folder, name));
		writeFileSync(join(folder, name, 'package.json'), '{}');
	};
	expect(progress.line(15)).toMatch(/looks through the list of 2 packages, 15 s$/);
	progress.read('npm http fetch GET 200 https://registry.example/one-1.0.0.tgz 12ms\n');
	expect(progress.line(30)).toMatch(/1 fetched and 0 unpacked, of 2 packages, 30 s$/);
	expect(progress.line(45)).toMatch(/45 s: npm waits for a large package$/);
	for (const name of ['one', 'two']) unpack(name);
	expect(progress.line(60)).toMatch(/1 fetched and 2 unpacked, of 2 packages, 60 s$/);
	expect(progress.line(75)).toMatch(/75 s: npm links the commands$/);
	rmSync(folder, { recursive: true });
});
