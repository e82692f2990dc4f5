import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { exampleFiles } from '../../host/examples';
import { projectRoot } from '../../host/paths';
import { engines } from '../../package.json';

const README = readFileSync(path.join(projectRoot, 'README.md'), 'utf8');

describe('the README', () => {
	it('names every example', () => {
		for (const file of exampleFiles()) expect(README).toContain(`](examples/${file})`);
	});

	it('says on the first screen how to install what is not published yet', () => {
		const [start = ''] = README.split('## Your first workflow');
		expect(start).toMatch(/not published yet[^]*npm pack/);
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

	it('has badges that are true', () => {
		const [oldest] = /\d[\d.]*/.exec(engines.n8n) ?? [];
		expect(README).toContain(`![n8n ${oldest} or newer](`);
		expect(README).toContain(`n8n-%E2%89%A5%20${oldest}-`);
	});
});
