import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { HostError, reasonOf } from './messages';
import { defaultUserFolder } from './paths';

/** What `npm start` can be told. */
export interface StartOptions {
	port: number;
	sandboxPort: number;
	userFolder: string;
	link: boolean;
	help: boolean;
}

export const USAGE = `npm start [-- flags]
  Runs a pinned n8n 2: n8n 3 comes as an image for Docker only, which npm cannot install.
  --port <number>          port of n8n (5678; environment: XPERTAI_N8N_PORT)
  --sandbox-port <number>  port of the sandbox (4318; environment: XPERTAI_SANDBOX_PORT)
  --user-folder <folder>   where n8n keeps its data (.host/home)
  --link                   load the node from this folder instead of from its tarball
  --help                   show this`;

/**
 * Reads the command line, then the environment, then the defaults.
 *
 * @throws HostError that names the flag and says what would be right
 */
export function readOptions(args: string[], env: NodeJS.ProcessEnv): StartOptions {
	const { values } = parse(args);
	return {
		port: toPort('--port', values.port ?? env.XPERTAI_N8N_PORT ?? '5678'),
		sandboxPort: toPort(
			'--sandbox-port',
			values['sandbox-port'] ?? env.XPERTAI_SANDBOX_PORT ?? '4318',
		),
		userFolder: resolve(values['user-folder'] ?? defaultUserFolder),
		link: values.link ?? false,
		help: values.help ?? false,
	};
}

function parse(args: string[]) {
	try {
		return parseArgs({
			args,
			options: {
				port: { type: 'string' },
				'sandbox-port': { type: 'string' },
				'user-folder': { type: 'string' },
				link: { type: 'boolean' },
				help: { type: 'boolean' },
			},
		});
	} catch (error) {
		throw new HostError(`${reasonOf(error)}\n${USAGE}`);
	}
}

function toPort(flag: string, text: string): number {
	const port = Number(text);
	if (!Number.isInteger(port) || port < 1 || port > 65_535) {
		throw new HostError(`${flag} takes a port number from 1 to 65535, not "${text}".`);
	}
	return port;
}
