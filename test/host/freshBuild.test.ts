import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expectFreshBuild } from 'host/freshBuild';
import { projectRoot } from 'host/paths';

describe('the build that engine tests run, and that is packed', () => {
	let root: string;
	const write = (file: string, text: string, seconds: number) => {
		const name = path.join(root, file);
		mkdirSync(path.dirname(name), { recursive: true });
		writeFileSync(name, text);
		utimesSync(name, seconds, seconds);
	};

	beforeEach(() => {
		root = mkdtempSync(path.join(tmpdir(), 'xpertai-build-'));
		write('nodes/a/one.ts', 'source', 100);
		write('dist/nodes/a/one.js', 'built', 200);
		write('nodes/icon.svg', '<svg/>', 300);
		write('dist/nodes/icon.svg', '<svg/>', 100);
	});
	afterEach(() => rmSync(root, { recursive: true, force: true }));

	it('is taken when it is younger than its sources', () => {
		expect(() => expectFreshBuild(root)).not.toThrow();
	});

	it.each<[string, () => void]>([
		['a source changed', () => write('nodes/a/one.ts', 'other', 201)],
		['a source came', () => write('credentials/two.ts', 'new', 100)],
		['a source went', () => write('dist/nodes/gone.js', 'built', 200)],
		['a picture changed', () => write('nodes/icon.svg', '<svg></svg>', 50)],
		['it is to be made in another way', () => write('gulpfile.js', 'steps', 250)],
		['nothing was built', () => rmSync(path.join(root, 'dist'), { recursive: true })],
	])('is refused when %s', (_, change) => {
		change();
		expect(() => expectFreshBuild(root)).toThrow('run npm run build');
	});

	it('is fresh here', () => {
		expect(() => expectFreshBuild(projectRoot)).not.toThrow();
	});
});
