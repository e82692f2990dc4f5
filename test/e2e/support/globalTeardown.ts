import { endSharedN8n } from './sharedN8n';

export default async function globalTeardown(): Promise<void> {
	await endSharedN8n();
}
