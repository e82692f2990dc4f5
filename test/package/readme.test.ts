import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { exampleFiles } from 'host/examples';
import { projectRoot } from 'host/paths';
import { engines } from '../../package.json';

const README = readFileSync(path.join(projectRoot, 'README.md'), 'utf8');

describe('the README', () => {
	it('names every example', () => {
		for (const file of exampleFiles()) expect(README).toContain(`](examples/${file})`);
	});

	it('shows on the first screen an answer, and the two commands to begin with', () => {
		const screen = README.split('\n').slice(0, 60).join('\n');
		for (const part of ['](docs/images/chat.png)', 'npm ci && npm start', 'npm ci && npm test'])
			expect(screen).toContain(part);
	});

	it('has the headings that the nodes and the credential lead to', () => {
		const shipped = ['nodes', 'credentials'].flatMap((folder) =>
			readdirSync(path.join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
				.filter((file) => /\.(node\.json|credentials\.ts)$/.test(file))
				.map((file) => readFileSync(path.join(projectRoot, folder, file), 'utf8')),
		);
		const anchors = [...shipped.join().matchAll(/n8n-nodes-xpertai#(\w+)/g)].map(
			([, name]) => name,
		);
		expect(anchors).toContain('credentials');
		const headings = README.toLowerCase().match(/(?<=^#+ ).*$/gm) ?? [];
		for (const anchor of anchors) expect(['readme', ...headings]).toContain(anchor);
	});

	it('names the oldest n8n at its top, and needs no network for its pictures', () => {
		const [oldest] = /\d[\d.]*/.exec(engines.n8n) ?? [];
		expect(README.split('\n## ')[0]).toContain(`n8n ${oldest} or newer`);
		expect(README).not.toMatch(/!\[[^\]]*\]\(http/);
	});
});
