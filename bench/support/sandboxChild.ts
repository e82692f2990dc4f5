import { startSandbox } from '../../sandbox';
import { serve, targetAt } from './server';

async function main(): Promise<void> {
	const sandbox = await startSandbox({ logBodies: false, keepContents: false });
	const { id } = sandbox.store.putKnowledgebase({ name: 'Benchmark' });
	serve(targetAt(sandbox.url, sandbox.accessToken, id), () => ({
		requests: sandbox.requests.all.length,
		documents: sandbox.store.documents.size,
	}));
}

void main();
