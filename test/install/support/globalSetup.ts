import { prepareN8n } from '../../e2e/support/prepareN8n';
import { ensureTools } from './tools';

/** Has n8n, the packed node, a registry and linters installed before any test's clock runs. */
export default async function globalSetup(): Promise<void> {
	await Promise.all([ensureTools(), prepareN8n()]);
}
