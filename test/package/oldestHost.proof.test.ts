import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { uniq } from 'lodash';

import { projectRoot } from '../../host/paths';
import { exportedValues } from '../../scripts/oldestN8nWorkflow';
import oldestHosts from './support/oldestN8nWorkflow.json';

/** The values of n8n-workflow that the built code reads. */
const USED = uniq(
	['nodes', 'credentials']
		.map((folder) => path.join(projectRoot, 'dist', folder))
		.flatMap((folder) =>
			readdirSync(folder, { recursive: true }).map((file) => path.join(folder, String(file))),
		)
		.filter((file) => file.endsWith('.js'))
		.flatMap((file) => readFileSync(file, 'utf8').match(/(?<=\bn8n_workflow_\d+\.)\w+/g) ?? []),
).sort();

const compiledWith = exportedValues(
	path.join(projectRoot, 'node_modules/n8n-workflow/dist/esm/index.d.ts'),
	USED,
);

/** Parameters that came later, which shipped code does without: it passes `sleep` no signal. */
const DONE_WITHOUT: Record<string, string> = { sleep: ', abortSignal: AbortSignal' };

describe.each(oldestHosts)('n8n $n8n, with n8n-workflow $n8nWorkflow', ({ values }) => {
	const exported: Record<string, string | undefined> = values;

	it('has every value that shipped code imports', () => {
		expect(USED).toContain('NodeApiError');
		expect(USED.filter((name) => exported[name] === undefined)).toEqual([]);
	});

	it('takes the same parameters as the n8n-workflow the code was compiled with', () => {
		expect(USED.map((name) => [name, exported[name]])).toEqual(
			USED.map((name) => [name, compiledWith[name]?.replace(DONE_WITHOUT[name] ?? '', '')]),
		);
	});
});
