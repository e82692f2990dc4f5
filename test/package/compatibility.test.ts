import { readFileSync } from 'node:fs';
import path from 'node:path';

import { projectRoot } from '../../host/paths';
import { TESTED_VERSIONS } from '../../host/versions';
import { engines } from '../../package.json';
import results from '../hosts/results.json';
import { expectGenerated, markdownTable, withPart } from '../support/generated';

const [oldest] = results;

/** What a page says of the results, which `npm run test:hosts` writes. */
function expectPart(page: string, name: string, part: string): void {
	const file = path.join(projectRoot, page);
	expectGenerated(file, withPart(readFileSync(file, 'utf8'), name, part));
}

describe('the n8n versions that the package is said to run in', () => {
	it('are those in which everything passed, on the Node.js they are meant for', () => {
		expect(results.map(({ n8n, reason, nodejs }) => [n8n, reason, parseInt(nodejs)])).toEqual(
			TESTED_VERSIONS.map(({ n8n, reason, installation }) => [n8n, reason, installation.nodeMajor]),
		);
	});

	it('all passed the same steps, the oldest the engine tests as well', () => {
		expect(oldest?.steps.length).toBeGreaterThan(7);
		for (const { steps } of results) expect(steps).toEqual(oldest?.steps);
		expect(oldest?.engineTests).toBeGreaterThan(500);
	});

	it('stand in the README and in package.json, which allow none that is older', () => {
		const rows = results.map(({ n8n, reason, nodejs }) => [`${n8n}, ${reason}`, nodejs]);
		const node = engines.node.replace('>=', '');
		const least = `**At least n8n ${oldest?.n8n} and Node.js ${node}.**`;
		expectPart('README.md', 'versions', `${markdownTable(['n8n', 'Node.js'], rows)}\n\n${least}`);
		const file = path.join(projectRoot, 'package.json');
		const text = readFileSync(file, 'utf8').replace(/(?<="n8n": ">=)[^"]*/, oldest?.n8n ?? '');
		expectGenerated(file, text);
	});

	it('stand in docs/hosts.md with what passed in them', () => {
		const limits = results.flatMap(({ n8n, lacks = [] }) =>
			lacks.map(
				(name) =>
					`n8n ${n8n} has an older _${name}_ than the examples with that node: add it anew there.`,
			),
		);
		const steps = oldest?.steps.map((step) => `- ${step}`) ?? [];
		expectPart('docs/hosts.md', 'steps', [...steps, '', ...limits].join('\n'));
	});
});
