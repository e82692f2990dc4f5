import { readFileSync } from 'node:fs';
import path from 'node:path';

import { projectRoot } from 'host/paths';
import { TESTED_VERSIONS } from 'host/versions';
import { engines } from '../../package.json';
import results from '../hosts/results.json';
import { expectGenerated, markdownTable, withPart } from '../support/generated';

const [oldest] = results;

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
		const lacks = results.flatMap(({ n8n, lacks: names = [] }) =>
			names.length > 0 ? `In n8n ${n8n}, add ${names.join(' and ')} of the examples anew.` : [],
		);
		const least = `**At least n8n ${oldest?.n8n} and Node.js ${node}.** ${lacks.join(' ')}`.trim();
		const table = markdownTable(['n8n', 'Node.js'], rows);
		const readme = path.join(projectRoot, 'README.md');
		const page = withPart(readFileSync(readme, 'utf8'), 'versions', `${table}\n\n${least}`);
		expectGenerated(readme, page);
		const file = path.join(projectRoot, 'package.json');
		const text = readFileSync(file, 'utf8').replace(/(?<="n8n": ">=)[^"]*/, oldest?.n8n ?? '');
		expectGenerated(file, text);
	});
});
