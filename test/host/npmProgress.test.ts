import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { NpmProgress, rebuildLine } from '../../host/npmProgress';

describe('the progress of an installation', () => {
	const folder = mkdtempSync(join(tmpdir(), 'xpertai-progress-'));
	afterAll(() => rmSync(folder, { recursive: true }));

	it('moves while npm thinks, fetches and unpacks', () => {
		const progress = new NpmProgress(folder, ['node_modules/a', 'node_modules/b']);
		expect(progress.line(15)).toBe('  npm looks through the list of 2 packages, 15 s');
		progress.read('npm http fetch GET 200 https://registry.example.com/a 20ms (cache miss)\n');
		expect(progress.line(30)).toContain('30 s');
		progress.read('npm http fetch GET 200 https://registry.example.com/a/-/a-1.0.0.tgz 20ms');
		progress.read(' (cache miss)\nnpm http fetch GET 200 https://registry.example.com/b/-/b-1.');
		expect(progress.line(45)).toBe('  1 fetched and 0 unpacked, of 2 packages');
		progress.read('0.0.tgz 20ms (cache miss)\n');
		mkdirSync(join(folder, 'node_modules', 'a'), { recursive: true });
		writeFileSync(join(folder, 'node_modules', 'a', 'package.json'), '{}');
		expect(progress.line(60)).toBe('  2 fetched and 1 unpacked, of 2 packages');
	});

	it('says whether a driver is looked for or compiled', () => {
		expect(rebuildLine('> prebuild-install -r napi || node-gyp rebuild\n', 15)).toBe(
			'  looking for a ready-made one, 15 s',
		);
	});

	it.each([
		'gyp info it worked if it ends with ok\n',
		"> prebuild-install -r napi || node-gyp rebuild\n\nmake: Entering directory '/somewhere'\n",
		'Building the projects in this solution one at a time.\n',
	])('says that a driver is compiled when it reads %j', (log) => {
		expect(rebuildLine(log, 30)).toMatch(/is compiled: part 1 of 2, which takes longest, 30 s$/);
	});

	it('says when the longest part of that is behind', () => {
		const log =
			'gyp info spawn make\n  CC(target) Release/obj.target/sqlite3/gen/sqlite3.o\n' +
			'  COPY Release/sqlite3.a\n  CXX(target) Release/obj.target/node_sqlite3/src/backup.o\n';
		expect(rebuildLine(log, 75)).toMatch(/is compiled: part 2 of 2, 75 s$/);
	});
});
