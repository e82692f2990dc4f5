import { execFile } from 'node:child_process';
import { appendFile, cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const projectRoot = path.resolve(__dirname, '../..');

/** An import each that no room may have, and the rule it breaks. */
const MUTANTS: Array<[file: string, statement: string, rule: string]> = [
	['XpertAi/catalogue.ts', "import '../XpertAi/XpertAi.node'", 'the catalogue: downwards only'],
	['XpertAi/operations/file/create.ts', "import '../../catalogue'", 'operations: downwards only'],
	['XpertAi/pickers/locators.ts', "import '../operations/file/create'", 'pickers: downwards only'],
	['XpertAi/execution/ids.ts', "import '../pickers/locators'", 'execution: downwards only'],
	['XpertAi/ingest/folders.ts', "import '../execution/ids'", 'ingest and runs: downwards only'],
	['XpertAi/threads/messages.ts', "import '../runs/input'", 'threads: downwards only'],
	['XpertAi/transport/api.ts', "import '../ingest/folders'", 'transport: downwards only'],
	['XpertAi/payloads/bodies.ts', "import '../transport/api'", 'payloads: downwards only'],
	[
		'XpertAi/ingest/circuitBreaker.ts',
		"import '../runs/input'",
		'documents and runs are independent',
	],
	['XpertAi/operations/file/create.ts', "import '../store/fields'", 'a resource imports no other'],
	['XpertAiTrigger/fields.ts', "import '../XpertAi/catalogue'", 'the trigger imports what both'],
	[
		'XpertAi/runs/runThread.ts',
		"import '../../XpertAiTrigger/fields'",
		'nothing imports the trigger',
	],
	['XpertAi/runs/input.ts', "import { sleep } from 'n8n-workflow'; void sleep", 'only its types'],
	['XpertAi/execution/unused.ts', 'export const unused = 1', 'no unused file'],
	['XpertAi/execution/ids.ts', "export type { Item } from './item'", 'no cycles, of types either'],
];

/** What the linter of the rooms says of a folder with the sources in it. */
async function cruised(folder: string): Promise<string> {
	const linter = path.join(
		projectRoot,
		'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
	);
	const config = path.join(projectRoot, '.dependency-cruiser.cjs');
	return await promisify(execFile)(
		process.execPath,
		[linter, 'nodes', 'credentials', '--config', config],
		{ cwd: folder },
	).then(
		({ stdout }) => stdout,
		(error: { stdout: string }) => error.stdout,
	);
}

describe('the rooms of the house', () => {
	let folder = '';

	beforeAll(async () => {
		folder = await mkdtemp(path.join(tmpdir(), 'rooms-'));
		for (const name of ['nodes', 'credentials', 'tsconfig.json'])
			await cp(path.join(projectRoot, name), path.join(folder, name), { recursive: true });
		await symlink(path.join(projectRoot, 'node_modules'), path.join(folder, 'node_modules'));
	});

	afterAll(async () => await rm(folder, { recursive: true }));

	it('lean downwards only, and each import that does not is told by its rule', async () => {
		expect(await cruised(folder)).toContain('no dependency violations found');
		for (const [file, statement] of MUTANTS)
			await appendFile(path.join(folder, 'nodes', file), `\n${statement};\n`);
		const said = await cruised(folder);
		const untold = MUTANTS.filter(([file, , rule]) => !saysOf(said, file, rule));
		expect(untold).toEqual([]);
	});
});

/** Whether a line of the linter names the rule and the file that breaks it. */
function saysOf(said: string, file: string, rule: string): boolean {
	return said.split('\n').some((line) => line.includes(rule) && line.includes(`nodes/${file}`));
}
