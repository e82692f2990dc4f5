import { spawnSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { projectRoot } from '../../host/paths';
import { placeholders } from '../../scripts/verifyReady';

const REAL = {
	author: { name: 'Ada', email: 'ada@analytical.org' },
	homepage: 'https://github.com/ada/n8n-nodes-xpertai',
	repository: { type: 'git', url: 'git+https://github.com/ada/n8n-nodes-xpertai.git' },
	bugs: { url: 'https://github.com/ada/n8n-nodes-xpertai/issues' },
};

describe('npm run verify:ready', () => {
	it('takes what an owner has filled in', () => {
		expect(placeholders(REAL)).toEqual([]);
	});

	it.each<[string, object]>([
		['author', { author: { name: 'Ada', email: 'authors@n8n-nodes-xpertai.example' } }],
		['homepage', { homepage: 'https://github.com/n8n-nodes-xpertai/n8n-nodes-xpertai' }],
		['bugs', { bugs: undefined }],
	])('names a placeholder: %s', (field, changes) => {
		const open = placeholders({ ...REAL, ...changes });
		expect(open).toEqual([expect.stringMatching(`^${field}: `)]);
	});
});

it('a tarball without the built node is not published, and what to run is said', () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'xpertai-empty-'));
	mkdirSync(path.join(folder, 'package'));
	writeFileSync(path.join(folder, 'package', 'package.json'), '{"version":"0.1.0"}');
	spawnSync('tar', ['-czf', 'empty.tgz', 'package'], { cwd: folder });
	const script = path.join(projectRoot, 'scripts', 'publish.sh');
	const { status, stderr } = spawnSync('sh', [script, 'empty.tgz'], { cwd: folder });
	expect([status, String(stderr)]).toEqual([1, expect.stringContaining('run npm run build')]);
	rmSync(folder, { recursive: true });
});
