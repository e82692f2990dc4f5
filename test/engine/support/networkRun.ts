import { SsrfProtectionService } from '@n8n/backend-network';
import { Container } from '@n8n/di';
import type { INodeParameters } from 'n8n-workflow';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { builtModule } from './builtModule';
import type { CredentialData } from './credentials';
import { createEngine } from './engine';
import { placesOf } from './faultMatrixSecrets';

/** What a process of its own is to do in the environment it was given. */
export interface NetworkRun {
	credential: CredentialData;
	operations: Array<{ name: string; parameters: INodeParameters }>;
	/** Texts that may stand in nothing that comes out. */
	secrets: string[];
}

export interface CallReport {
	name: string;
	count: number;
	error?: { name: string; message: string; description: string; httpCode?: string };
	/** Requests that n8n's SSRF protection has held back. */
	blocked: number;
	/** Places in all that came out where a secret stands. */
	leaks: string[];
}

interface CallOutcome {
	count: number;
	error?: unknown;
	all: unknown;
}

type ClockModule = typeof import('../../../nodes/XpertAi/transport/clock');

/** Has time pass at once wherever the built node sleeps. */
function skipSleeps(): void {
	const { systemClock } = builtModule<ClockModule>('nodes/XpertAi/transport/clock.js');
	let skippedMs = 0;
	Object.assign(systemClock, {
		now: () => Date.now() + skippedMs,
		later: () => undefined,
		sleep: async (ms) => {
			skippedMs += ms;
			await nextTurn();
		},
	} satisfies Partial<typeof systemClock>);
}

/** In a process of its own: every list of the pickers, then the operations, in n8n's engine. */
export async function runCalls(run: NetworkRun): Promise<CallReport[]> {
	const { credential, operations, secrets } = run;
	const engine = await createEngine();
	skipSleeps();
	const data = await engine.binary(Buffer.from('hello world'), 'hello.txt', 'text/plain');
	const items = [{ json: {}, binary: { data } }];
	let blocked = 0;
	Container.get(SsrfProtectionService).events.on('ssrf.blocked', () => (blocked += 1));

	const reports: CallReport[] = [];
	const report = async (name: string, call: () => Promise<CallOutcome>) => {
		blocked = 0;
		const { count, error, all } = await call();
		const leaks = secrets.flatMap((secret) => placesOf(secret, all));
		reports.push({ name, count, error: plain(error), blocked, leaks });
	};
	for (const list of Object.keys(engine.nodeType.methods?.listSearch ?? {})) {
		await report(
			list,
			async () =>
				await engine.listSearch(list, credential).then(
					(page) => ({ count: page.results.length, all: page }),
					(error: unknown) => ({ count: 0, error, all: error }),
				),
		);
	}
	for (const { name, parameters } of operations) {
		await report(name, async () => {
			const result = await engine.run({ parameters, credential, items });
			return { count: result.items.length, error: result.error, all: result };
		});
	}
	return reports;
}

function plain(error: unknown): CallReport['error'] {
	if (error === undefined) return undefined;
	const { name, message, description, httpCode } = error as Record<string, unknown>;
	return {
		name: String(name),
		message: String(message),
		description: String(description),
		httpCode: typeof httpCode === 'string' ? httpCode : undefined,
	};
}
