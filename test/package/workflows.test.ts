import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { difference, uniq } from 'lodash';
import { parse } from 'yaml';
import { z } from 'zod';

import rooms from '../mutation/rooms.js';
import { projectRoot } from '../../host/paths';
import { scripts } from '../../package.json';

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
	strategy: z.object({ matrix: z.record(z.unknown()) }).optional(),
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
const nightly = jobs.find(({ id }) => id === 'nightly.yml: mutants')?.strategy?.matrix;

/** The scripts of package.json that the workflows run, those of a matrix included. */
const run = uniq(
	texts.flatMap((text) => text.match(/(?<=npm run |npm |- script: )(test\b[\w:]*|\w+:\w+)/g) ?? []),
);
/** The kinds of tests that a script runs: jest's projects, where it names some. */
const kindsOf = (script: string) =>
	/--selectProjects ([\w ]+?) --/
		.exec(scripts[script as keyof typeof scripts])?.[1]
		?.split(' ') ?? [script];

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

	it('run what there is, and every test there is', () => {
		expect(difference(run, Object.keys(scripts))).toEqual([]);
		const named = commands.flatMap((line) => /^(?:node|sh) ([\w./-]+)/.exec(line)?.[1] ?? []);
		expect(named.length).toBeGreaterThan(0);
		expect(named.filter((file) => !existsSync(path.join(projectRoot, file)))).toEqual([]);
		const tests = Object.keys(scripts).filter((name) => name.startsWith('test:'));
		expect(difference(tests.flatMap(kindsOf), [...run, ...run.flatMap(kindsOf)])).toEqual([]);
		expect(nightly?.room).toEqual(expect.arrayContaining(Object.keys(rooms)));
	});
});
