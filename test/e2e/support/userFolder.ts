import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { workFolder } from '../../../host/paths';

export const USER_FOLDER_PREFIX = 'e2e-';

/** A user folder that nobody else has; its name tells when it was made. */
export function freshUserFolder(): string {
	return join(workFolder, `${USER_FOLDER_PREFIX}${Date.now()}-${randomBytes(3).toString('hex')}`);
}
