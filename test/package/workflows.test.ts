import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { difference, uniq } from 'lodash';
import { parse } from 'yaml';
import { z } from 'zod';

import { projects } from '../../jest.config.js';
import { projectRoot } from 'host/paths';
import { engines, scripts } from '../../package.json';

const FOLDER = path.join(projectRoot, '.github', 'workflows');
const permissions = z.record(z.enum(['read', 'write', 'none'])).default({});
const step = z.object({
	uses: z.string().optional(),
	run: z.string().default(''),
	with: z.record(z.unknown()).default({}),
});
const job = z.object({
	uses: z.string().optional(),
	permissions,
	'timeout-minutes': z.number().optional(),
	strategy: z.object({ matrix: z.record(z.array(z.coerce.string())) }).optional(),
	steps: z.array(step).default([]),
});
const workflow = z.object({ permissions, jobs: z.record(job) });

const files = readdirSync(FOLDER);
const textOf = (file: string) => readFileSync(path.join(FOLDER, file), 'utf8');
const texts = files.map(textOf);
const jobs = files.flatMap((file) =>
	Object.entries(workflow.parse(parse(textOf(file))).jobs).map(([id, one]) => ({
		id: `${file}: ${id}`,
		...one,
	})),
);
const steps = jobs.flatMap((one) => one.steps);
const commands = steps.flatMap(({ run }) => run.split('\n')).filter(Boolean);

/** The scripts of package.json that commands run. */
const scriptsOf = (lines: string[]) =>
	uniq(lines.flatMap((line) => /^npm (?:run )?(test\b[\w:]*|\w+:\w+)/.exec(line)?.[1] ?? []));
/** The kinds of tests that a command runs, by a script or by itself: jest's projects. */
const kindsOf = (line: string) => {
	const run = [line, ...scriptsOf([line]).map((name) => scripts[name as keyof typeof scripts])];
	const selected = [...run.join(' ').matchAll(/--selectProjects ((?:\w+ ?)+)/g)];
	return selected.flatMap(([, kinds = '']) => kinds.trim().split(' '));
};

describe('the workflows', () => {
	it('use each action at one commit, beside its version', () => {
		const lines = uniq(texts.flatMap((text) => text.match(/uses: (?!\.\/).*/g) ?? []));
		expect(lines.length).toBeGreaterThan(3);
		for (const line of lines) expect(line).toMatch(/^uses: \S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
		expect(uniq(lines.map((line) => line.split('@')[0]))).toHaveLength(lines.length);
	});

	it('may read the source, and write only what publishing needs', () => {
		for (const text of texts) {
			const may = JSON.stringify(workflow.parse(parse(text)).permissions);
			expect(['{}', '{"contents":"read"}']).toContain(may);
		}
		const writing = jobs.filter((one) => Object.values(one.permissions).includes('write'));
		expect(writing.map((one) => [one.id, one.permissions, one.steps.at(-1)?.run])).toEqual([
			[
				'publish.yml: publish',
				{ contents: 'read', 'id-token': 'write' },
				'sh scripts/publish.sh ./*.tgz',
			],
			[
				'publish.yml: release',
				{ contents: 'write' },
				expect.stringMatching(/^gh release create .* --notes-file release-notes.md$/),
			],
		]);
		const others = writing.flatMap((one) => one.steps.slice(0, -1));
		expect(others.filter((one) => one.run !== '')).toEqual([]);
	});

	it('leave no token in the working copy, and put no foreign text into a command', () => {
		const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
		expect(checkouts.length).toBeGreaterThan(3);
		for (const { with: options } of checkouts) expect(options['persist-credentials']).toBe(false);
		expect(commands.filter((command) => command.includes('${{'))).toEqual([]);
	});

	it('end by themselves', () => {
		const unlimited = jobs.filter((one) => !one.uses && !one['timeout-minutes']);
		expect(unlimited.map(({ id }) => id)).toEqual([]);
	});

	it('test each change on the oldest Node.js that the package names, and on newer ones', () => {
		const tested = jobs.find(({ id }) => id === 'ci.yml: test')?.strategy?.matrix.node;
		expect(tested).toEqual([engines.node.replace('>=', ''), '22', '24']);
	});

	it('run what there is, and every kind of test', () => {
		const run = scriptsOf(commands);
		expect(difference(run, Object.keys(scripts))).toEqual([]);
		expect(run).toContain('test:hosts');
		const named = commands.flatMap((line) => /^(?:node|sh) ([\w./-]+)/.exec(line)?.[1] ?? []);
		expect(named.length).toBeGreaterThan(0);
		expect(named.filter((file) => !existsSync(path.join(projectRoot, file)))).toEqual([]);
		const kinds = (projects ?? []).map((one) => (one as { displayName: string }).displayName);
		const byScript = ['hosts', 'oldestEngine'];
		expect(difference(kinds, commands.flatMap(kindsOf), byScript)).toEqual([]);
	});
});
