import { prepareN8n } from './prepareN8n';
import { startSharedN8n } from './sharedN8n';

/** Does the slow things once, before any test's clock runs. */
export default async function globalSetup(): Promise<void> {
	await prepareN8n();
	await startSharedN8n();
}
