import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { difference, flatMap, pickBy, sum, uniq } from 'lodash';

import { projects } from '../../jest.config.js';
import { commandsOf, readWorkflows, type Job, type Workflow } from './support/workflows';

const ROOT = path.resolve(__dirname, '../..');
const PIN = /^[\w-]+\/[\w/-]+@[0-9a-f]{40}$/;

const workflows = readWorkflows();
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
	scripts: Record<string, string>;
};
const jobs = flatMap(workflows, (workflow) =>
	Object.entries(workflow.jobs).map(
		([id, job]) => [`${workflow.name}: ${id}`, job, workflow] as [string, Job, Workflow],
	),
);
const commands = jobs.flatMap(([, job]) => commandsOf(job));

/** The scripts of package.json that commands run. */
function scriptsOf(lines: string[]): string[] {
	const named = lines.map((line) => /^npm (?:run ([\w:]+)|(test))/.exec(line));
	return uniq(named.flatMap((match) => match?.[1] ?? match?.[2] ?? []));
}

/** The kinds of tests that a command runs, by a script or by itself: jest's projects. */
function kindsOf(line: string): string[] {
	const run = [line, ...scriptsOf([line]).map((name) => scripts[name])].join(' ');
	const selected = [...run.matchAll(/--selectProjects ((?:\w+ ?)+)/g)];
	return selected.flatMap(([, kinds = '']) => kinds.trim().split(' '));
}

describe('the workflows', () => {
	it('use actions by the commit that was looked at, and say which version that is', () => {
		const lines = workflows.flatMap(({ text }) => text.match(/uses: (?!\.\/).*/g) ?? []);
		expect(lines.length).toBeGreaterThan(10);
		for (const line of lines) {
			const [, action = '', version] = /uses: (\S+) # (v\d+\.\d+\.\d+)$/.exec(line) ?? [];
			expect([line, action, version]).toEqual([
				line,
				expect.stringMatching(PIN),
				expect.any(String),
			]);
		}
		const actions = uniq(lines.map((line) => line.split('@')[0]));
		expect(uniq(lines)).toHaveLength(actions.length);
	});

	it('may read the source, and write only what publishing needs', () => {
		for (const { permissions } of workflows) {
			expect(['{}', '{"contents":"read"}']).toContain(JSON.stringify(permissions));
		}
		const writing = jobs
			.map(([id, { permissions }]) => [id, pickBy(permissions, (level) => level === 'write')])
			.filter(([, may]) => Object.keys(may as object).length > 0);
		expect(writing).toEqual([
			['publish.yml: publish', { 'id-token': 'write' }],
			['publish.yml: release', { contents: 'write' }],
		]);
	});

	it('install nothing where they may publish', () => {
		const publishing = jobs.filter(([id]) => /publish.yml: (publish|release)$/.test(id));
		const run = publishing.map(([, job]) => commandsOf(job));
		expect(run).toEqual([
			['sh scripts/publish.sh ./*.tgz'],
			[expect.stringMatching(/^gh release create .* --notes-file release-notes.md$/)],
		]);
	});

	it('leave no token in the working copy', () => {
		const checkouts = jobs.flatMap(([, { steps }]) =>
			steps.filter(({ uses }) => uses?.startsWith('actions/checkout@')),
		);
		expect(checkouts.length).toBeGreaterThan(0);
		expect(checkouts.filter((step) => step.with['persist-credentials'] !== false)).toEqual([]);
	});

	it('put nothing that somebody else wrote into a command', () => {
		expect(commands.filter((command) => command.includes('${{'))).toEqual([]);
	});

	it('end by themselves', () => {
		const unlimited = jobs.filter(([, job]) => !job.uses && !job['timeout-minutes']);
		expect(unlimited.map(([id]) => id)).toEqual([]);
	});

	it('run what there is', () => {
		expect(scriptsOf(commands).filter((name) => !(name in scripts))).toEqual([]);
		const files = commands.flatMap((line) => /^(?:node|sh) (\S+)/.exec(line)?.[1] ?? []);
		expect(files.length).toBeGreaterThan(0);
		expect(files.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
	});

	it('run every kind of test there is', () => {
		const run = commands.flatMap(kindsOf);
		const byScript = ['hosts', 'oldestEngine'];
		expect(scriptsOf(commands)).toContain('test:hosts');
		const kinds = (projects ?? []).map((one) => (one as { displayName: string }).displayName);
		expect(difference(kinds, run, byScript)).toEqual([]);
	});

	it('take no longer than ten minutes for a change, and two hours a night', () => {
		const minutes = (of: RegExp) =>
			jobs
				.filter(([id]) => of.test(id))
				.flatMap(([, { strategy, ...job }]) => {
					const machines = [strategy?.matrix.os ?? strategy?.matrix.node ?? [1]].flat();
					return machines.map(() => job['timeout-minutes'] ?? 0);
				});
		expect(uniq(minutes(/^(ci|tools)\.yml/))).toEqual([10]);
		expect(sum(minutes(/^(nightly|audit)\.yml/))).toBeLessThanOrEqual(120);
	});

	it('name no registry: npm has one set', () => {
		const said = workflows.map(({ text }) => text).join('\n');
		expect(said).not.toMatch(/registry\.|registry-url/);
	});
});
