import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireSuccess, runNpm } from './command';
import { DEFINITION, PINNED, type Installation } from './installation';
import type { Say } from './messages';
import { projectRoot, workFolder } from './paths';

export interface TestedVersion {
	readonly n8n: string;
	/** Why this one, in a few words for users. */
	readonly reason: string;
	readonly installation: Installation;
	/** What it needs in its environment to run from such an installation. */
	readonly env?: NodeJS.ProcessEnv;
	/** Nodes of the examples that it has in an older version only, or not at all, and what n8n calls them. */
	readonly lacks?: ReadonlyArray<{ name: string; version: number; displayName: string }>;
	readonly older?: typeof OLDER;
}

/** What the tested versions before the newest have in common. */
const OLDER = {
	/** What the test of a credential says of an address that is refused, in place of our own words. */
	refusedAddress: 'Method not allowed - please check you are using the right HTTP method',
	/** A tool that fails ends the execution of AI Agent 3, in place of telling its model why. */
	failedToolEndsAgent3: true,
} as const;

/** n8n does not start when it is told to leave out a module that it has not yet; these are in all versions. */
const KNOWN_MODULES = { N8N_DISABLED_MODULES: 'chat-hub,external-secrets,mcp' };

/** The n8n versions that `npm run test:hosts` tries the node in, the oldest first. */
export const TESTED_VERSIONS: readonly TestedVersion[] = [
	{
		n8n: '1.123.81',
		reason: 'the newest 1.x',
		installation: own('1.123.81', 20),
		// The other engine is compiled when n8n is installed, and nothing is compiled here but the database driver.
		env: { ...KNOWN_MODULES, N8N_EXPRESSION_ENGINE: 'legacy' },
		older: OLDER,
		lacks: [
			{
				name: 'n8n-nodes-base.readWriteFile',
				version: 1.1,
				displayName: 'Read/Write Files from Disk',
			},
			{ name: '@n8n/n8n-nodes-langchain.chat', version: 1.2, displayName: 'Chat' },
		],
	},
	{
		n8n: '2.8.4',
		reason: 'the newest for Node.js 20',
		installation: own('2.8.4', 20),
		env: KNOWN_MODULES,
		older: OLDER,
	},
	{
		n8n: '2.20.12',
		reason: 'one between',
		installation: own('2.20.12', 24),
		env: KNOWN_MODULES,
		older: OLDER,
	},
	{ n8n: '2.41.1', reason: 'the newest tried', installation: PINNED },
];

/**
 * Finds a version by its number. One that is not in the list is installed without a lock file of ours.
 *
 * @param n8n a number, or `pinned` for that of `npm start`
 */
export function testedVersion(n8n: string): TestedVersion {
	const isMeant = (version: TestedVersion) =>
		version.n8n === n8n || (n8n === 'pinned' && version.installation === PINNED);
	const listed = TESTED_VERSIONS.find(isMeant);
	return listed ?? { n8n, reason: 'not in the list yet', installation: withoutLockFile(n8n) };
}

function own(version: string, nodeMajor: number): Installation {
	return {
		sources: join(projectRoot, 'host', 'versions', version),
		folder: join(workFolder, 'versions', version),
		nodeMajor,
	};
}

/** Where an n8n is installed that this project has no lock file for. */
function withoutLockFile(n8n: string): Installation {
	return {
		sources: join(workFolder, 'without-lock-file', n8n),
		folder: join(workFolder, 'versions', n8n),
		nodeMajor: PINNED.nodeMajor,
	};
}

/**
 * Has npm make the lock file of such an n8n, beginning with that of the pinned one, so that nothing else moves.
 *
 * @throws HostError when npm knows no such n8n, or not all that it is made of
 */
export async function makeLockFile(say: Say, n8n: string): Promise<void> {
	const { sources } = withoutLockFile(n8n);
	mkdirSync(sources, { recursive: true });
	for (const name of DEFINITION) copyFileSync(join(PINNED.sources, name), join(sources, name));
	const definition = join(sources, 'package.json');
	writeFileSync(definition, withN8n(n8n, readFileSync(definition, 'utf8')));
	say(`Looking for what n8n ${n8n} is made of`);
	const result = await runNpm(['install', '--package-lock-only', '--loglevel=error'], {
		cwd: sources,
	});
	requireSuccess(result, `npm cannot install n8n ${n8n}`);
}

/**
 * The newest n8n 2: n8n 3 comes as an image for Docker only, and cannot be installed with npm.
 *
 * @throws HostError when npm does not say
 */
export async function newestN8n(): Promise<string> {
	const args = ['view', 'n8n@2', 'version', '--json', '--loglevel=error'];
	const result = await runNpm(args, { cwd: PINNED.sources });
	requireSuccess(result, 'npm does not say which n8n is the newest');
	return newestOf(JSON.parse(result.output) as string | string[]);
}

/** The newest of some versions, as npm lists them: one alone is no list. */
function newestOf(versions: string | string[]): string {
	const sorted = [versions].flat().sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
	return sorted.at(-1) ?? '';
}

/** The text of a package.json with another n8n in it. */
function withN8n(n8n: string, packageJson: string): string {
	return packageJson.replace(/("n8n": )"[^"]*"/, `$1"${n8n}"`);
}
