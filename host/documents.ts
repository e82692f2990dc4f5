import { cpSync, existsSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot, userFolderPaths } from './paths';

/**
 * Copies the project's own Markdown (the files at its root and everything below `docs`) into the
 * user folder, as real documents for the example workflows. Workflows read them as
 * `documents/**\/*.md`, since n8n runs inside the user folder.
 *
 * @returns the real path of the documents folder, which n8n has to be allowed to read
 */
export function copyDocuments(userFolder: string): string {
	const target = userFolderPaths(userFolder).documents;
	mkdirSync(target, { recursive: true });
	for (const name of readdirSync(projectRoot).filter((entry) => entry.endsWith('.md'))) {
		cpSync(join(projectRoot, name), join(target, name));
	}
	const docs = join(projectRoot, 'docs');
	if (existsSync(docs)) cpSync(docs, join(target, 'docs'), { recursive: true });
	return realpathSync(target);
}
