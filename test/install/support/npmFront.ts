import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { runCommand } from '../../../host/command';
import type { Registry } from './registry';

/**
 * n8n names its registry in every call of npm, and takes another one for money only. Here a script called
 * npm, which n8n alone finds first, leaves that out, so that npm asks the registry of its environment.
 *
 * @param folder an existing folder
 * @returns the variables of an n8n that installs from the registry
 */
export async function installsFrom(registry: Registry, folder: string): Promise<NodeJS.ProcessEnv> {
	const { output } = await runCommand('sh', ['-c', 'command -v npm'], { cwd: folder });
	const front = join(folder, 'npm-front');
	mkdirSync(front);
	writeFileSync(join(front, 'npm'), frontOf(output.trim()));
	chmodSync(join(front, 'npm'), 0o755);
	return {
		...registry.environment,
		PATH: [front, process.env.PATH].join(delimiter),
		// n8n itself asks nobody outside this machine whether the package is there or forbidden.
		...withoutWorldOutside(),
	};
}

function frontOf(npm: string): string {
	return [
		'#!/bin/sh',
		'for argument; do',
		'	shift',
		'	case $argument in --registry=*) ;; *) set -- "$@" "$argument" ;; esac',
		'done',
		`exec '${npm}' "$@"`,
		'',
	].join('\n');
}

/** A proxy that is not there: whatever leaves this machine is refused at once. */
function withoutWorldOutside(): NodeJS.ProcessEnv {
	const nobody = 'http://127.0.0.1:9';
	return { HTTPS_PROXY: nobody, https_proxy: nobody, HTTP_PROXY: nobody, http_proxy: nobody };
}
