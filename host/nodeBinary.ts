import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { HostError } from './messages';
import { n8nFolder } from './paths';

/** The Node major version that the pinned n8n needs. */
const N8N_NODE_MAJOR = 24;

/** The folder of the packaged Node binary for this platform, whether or not it is there. */
export function packagedNodeFolder(): string {
	const platform = process.platform === 'win32' ? 'win' : process.platform;
	return join(n8nFolder, 'node_modules', `node-${platform}-${process.arch}`);
}

/** Whether the Node that runs this process can run n8n itself. */
export function ownNodeRunsN8n(): boolean {
	return Number(process.versions.node.split('.')[0]) >= N8N_NODE_MAJOR;
}

/**
 * The Node binary that runs n8n: this process's own when it is new enough, else the one that came
 * with the installation.
 *
 * @throws HostError when this platform has neither
 */
export function nodeForN8n(): string {
	if (ownNodeRunsN8n()) return process.execPath;
	const binary = join(
		packagedNodeFolder(),
		'bin',
		process.platform === 'win32' ? 'node.exe' : 'node',
	);
	if (existsSync(binary)) return binary;
	throw new HostError(
		`n8n needs Node ${N8N_NODE_MAJOR}; this is Node ${process.versions.node}, and there is no packaged ` +
			`Node ${N8N_NODE_MAJOR} for ${process.platform} on ${process.arch}.\n` +
			`Install Node ${N8N_NODE_MAJOR}, open a new terminal and run npm start again.`,
	);
}
