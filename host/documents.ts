import { cpSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot, userFolderPaths } from './paths';

/**
 * Copies the documents of the examples, the handbook of a product that does not exist, into the user
 * folder. Workflows read them as `documents/**\/*.{md,pdf,csv}`, since n8n runs inside the user folder.
 *
 * @returns the real path of the documents folder, which n8n has to be allowed to read
 */
export function copyDocuments(userFolder: string): string {
	const target = userFolderPaths(userFolder).documents;
	cpSync(join(projectRoot, 'examples', 'documents'), target, { recursive: true });
	return realpathSync(target);
}
