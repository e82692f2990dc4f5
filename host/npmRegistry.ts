import { requireSuccess, runNpm } from './command';

/**
 * The registry that npm uses in a folder.
 *
 * @throws HostError when npm does not say
 */
export async function npmRegistry(folder: string): Promise<string> {
	const args = ['config', 'get', 'registry', '--loglevel=error'];
	const result = await runNpm(args, { cwd: folder });
	requireSuccess(result, 'npm does not say which registry it uses');
	return result.output.trim();
}
