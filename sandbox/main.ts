import { parseArgs } from 'node:util';
import { COPILOT_ID, SANDBOX_ASSISTANT_ID, SANDBOX_KNOWLEDGEBASE_ID, startSandbox } from './index';

const DEFAULT_PORT = '3780';

/** Slow enough for a chat to show how an answer is written. */
const WORD_MS = 40;

/** Starts a sandbox from the command line: `--port`, `--host`, `--token`, or XPERT_SANDBOX_PORT … _TOKEN. */
async function main(): Promise<void> {
	const { env } = process;
	const { values } = parseArgs({
		options: {
			port: { type: 'string', default: env.XPERT_SANDBOX_PORT ?? DEFAULT_PORT },
			host: { type: 'string', default: env.XPERT_SANDBOX_HOST ?? '127.0.0.1' },
			token: { type: 'string', default: env.XPERT_SANDBOX_TOKEN ?? 'sandbox-token' },
		},
	});
	const sandbox = await startSandbox({
		host: values.host,
		port: Number(values.port),
		accessToken: values.token,
		wordMs: WORD_MS,
	});
	console.log(`Sandbox listening on ${sandbox.url}`);
	console.log(`Access token: ${sandbox.accessToken}`);
	console.log(`Assistant: ${SANDBOX_ASSISTANT_ID}`);
	console.log(`Knowledgebase with an embedding model: ${SANDBOX_KNOWLEDGEBASE_ID}`);
	console.log(`Copilot for embedding models: ${COPILOT_ID}`);
	console.log('Press Ctrl-C to stop.');
	const stop = () => void sandbox.close();
	process.once('SIGINT', stop);
	process.once('SIGTERM', stop);
}

main().catch((error: unknown) => {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
});
