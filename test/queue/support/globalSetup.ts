import { join } from 'node:path';

import { runCommand } from '../../../host/command';
import { projectRoot } from '../../../host/paths';
import { prepareN8n } from '../../e2e/support/prepareN8n';

/** Has n8n, the packed node, Postgres and Redis installed before any test's clock runs. */
export default async function globalSetup(): Promise<void> {
	const script = join(projectRoot, 'test', 'queue', 'install.sh');
	const { code, output } = await runCommand('sh', [script], { cwd: projectRoot });
	if (code !== 0) throw new Error(`Postgres and Redis could not be installed:\n${output}`);
	await prepareN8n();
}
