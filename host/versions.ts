import { join } from 'node:path';
import { PINNED, type Installation } from './installation';
import { projectRoot, workFolder } from './paths';
import { withoutLockFile } from './withoutLockFile';

/** An n8n that the node is tried in. */
export interface TestedVersion {
	readonly n8n: string;
	/** Why this one, in a few words for users. */
	readonly reason: string;
	readonly installation: Installation;
	/** What it needs in its environment to run from such an installation. */
	readonly env?: NodeJS.ProcessEnv;
	/** Nodes of the examples that it has in an older version only, or not at all, and what n8n calls them. */
	readonly lacks?: ReadonlyArray<{ name: string; version: number; displayName: string }>;
	/** Where it is known to differ from the newest. */
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
