import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

import { dependencies } from 'host/package.json';
import { projectRoot } from 'host/paths';
import { version } from '../../package.json';

const FILES = ['docker-compose.yml', 'docker-compose.queue.yml'];
const OURS = /^n8n-with-xpertai:/;

const files = z.object({
	services: z.record(
		z.object({
			image: z.string(),
			environment: z.record(z.string().nullable()).default({}),
			volumes: z.array(z.string()).default([]),
		}),
	),
});

/** What n8n 2 reads, and what it reads beside @n8n/config: community-packages.config.js and commands/start.js of n8n 2.41.1. */
function settingsOfN8n2(): Set<string> {
	const config = require.resolve('@n8n/config', { paths: [require.resolve('n8n-core')] });
	const folder = path.dirname(config);
	const code = readdirSync(folder, { recursive: true })
		.map(String)
		.filter((file) => file.endsWith('.js'))
		.map((file) => readFileSync(path.join(folder, file), 'utf8'))
		.join('\n');
	const names = [...code.matchAll(/Env\)\('([A-Z0-9_]+)'/g)].map(([, name = '']) => name);
	return new Set([
		...names,
		'N8N_UNVERIFIED_PACKAGES_ENABLED',
		'OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS',
	]);
}

const dockerfile = readFileSync(path.join(projectRoot, 'docker', 'Dockerfile'), 'utf8');

describe.each(FILES)('docker/%s', (file) => {
	const text = readFileSync(path.join(projectRoot, 'docker', file), 'utf8');
	const services = files.parse(parse(text, { merge: true })).services;
	const n8ns = Object.values(services).filter(({ image }) => OURS.test(image));
	const settings = n8ns.flatMap(({ environment }) => Object.entries(environment));

	it('sets what n8n 2 reads', () => {
		const known = settingsOfN8n2();
		expect(known.size).toBeGreaterThan(300);
		expect(settings.length).toBeGreaterThan(1);
		expect(settings.map(([name]) => name).filter((name) => !known.has(name))).toEqual([]);
	});

	it('sets nothing that n8n 3 does not read any more, by its list of breaking changes', () => {
		const set = settings.filter(([, value]) => value !== null).map(([name]) => name);
		expect(set).not.toContain('OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS');
		expect(settings).not.toContainEqual(['N8N_DEFAULT_BINARY_DATA_MODE', 'default']);
	});

	it('has n8n 3 load a package that n8n has not verified, and says when that can go', () => {
		for (const { environment } of n8ns)
			expect(environment.N8N_UNVERIFIED_PACKAGES_ENABLED).toBe('true');
		expect(text).toMatch(/# .*Remove this once .* verified.*\n *N8N_UNVERIFIED_PACKAGES_ENABLED/);
	});

	it('names the n8n and the version of the node that are tested, in one image with the same settings', () => {
		const n8n = dependencies.n8n;
		expect(dockerfile).toContain(`ARG N8N_VERSION=${n8n}\n`);
		expect(dockerfile).toContain(`ARG XPERTAI_VERSION=${version}\n`);
		expect(text).toContain(`N8N_VERSION: \${N8N_VERSION:-${n8n}}`);
		for (const { image, environment } of n8ns) {
			expect([image, environment]).toEqual([
				`n8n-with-xpertai:${version}`,
				services.n8n?.environment,
			]);
		}
	});

	it('keeps all of the data folder, whose parts n8n 3 names otherwise', () => {
		expect(services.n8n?.volumes).toEqual(['n8n-data:/home/node/.n8n']);
	});
});
