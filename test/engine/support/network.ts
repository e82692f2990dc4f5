import { escapeRegExp, merge, pickBy } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import type { Sandbox } from '../../../sandbox';
import { startCaseSandbox } from './caseOperations';
import { ALL_CASES } from './cases';
import type { CredentialData } from './credentials';
import { inChild } from './inChild';
import type { CallReport, NetworkRun } from './networkRun';
import { createWorld } from './records';

/** Variables of this process that would steer what is tested. */
const STEERING = /_proxy$|^N8N_|^NODE_/i;

/** Parameters that make a lasting fault end soon. */
const SOON: Record<string, INodeParameters> = { E3: { tuning: { retryMinutes: 0.02 } } };

/** Servers answer Copy with 400, "not yet implemented". */
const REFUSED_BY_SERVER = 'E10';

/** What all calls are made with. */
export interface Surroundings {
	/** Variables the process is started with. */
	env: Record<string, string>;
	/** What differs from the sandbox's credential. */
	credential?: Partial<CredentialData>;
	/** Texts besides the token that may come out nowhere. */
	secrets?: string[];
}

/** A server, and n8n's engine in a process of its own. */
export interface Network {
	sandbox: Sandbox;
	/** Calls every operation of the node and every list of its pickers, in one process. */
	callAll: (surroundings: Surroundings) => Promise<CallReport[]>;
}

/** Sets up a server for the tests of a file, with the records the operations need, fresh for every test. */
export function useNetwork(): Network {
	const network = {} as Network;
	beforeAll(async () => {
		network.sandbox = await startCaseSandbox();
	});
	beforeEach(async () => {
		const { sandbox } = network;
		sandbox.reset();
		const world = await createWorld(sandbox);
		const operations = ALL_CASES.map(({ endpoint, good }) => ({
			name: endpoint,
			parameters: merge({}, SOON[endpoint], good(world)),
		}));
		const { url: baseUrl, accessToken } = sandbox;
		network.callAll = async ({ env: variables, credential, secrets = [] }) => {
			const own = pickBy(process.env, (_value, name) => !STEERING.test(name));
			const run: NetworkRun = {
				credential: { baseUrl, accessToken, ...credential },
				operations,
				secrets: [accessToken, ...secrets],
			};
			const env = { ...own, ...variables };
			const { child, result } = inChild<CallReport[]>('networkRun.ts', 'runCalls', run, { env });
			return await result.finally(() => child.kill());
		};
	});
	afterAll(async () => await network.sandbox?.close());
	return network;
}

/** Checks that every call has succeeded and has reached the server. */
export function expectAllToSucceed(reports: CallReport[], { requests }: Sandbox): void {
	const failed = reports.filter(({ error }) => error !== undefined);
	expect(failed.map(({ name, error }) => [name, error?.message])).toEqual([
		[REFUSED_BY_SERVER, expect.stringContaining('not yet implemented')],
	]);
	const empty = reports.filter(({ count }) => count === 0);
	expect(empty.map(({ name }) => name)).toEqual([REFUSED_BY_SERVER]);
	const reached = new Set(requests.all.map(({ endpoint }) => endpoint));
	expect(ALL_CASES.filter(({ endpoint }) => !reached.has(endpoint))).toEqual([]);
	expectNoSecrets(reports);
}

/** What every call is to come to. */
export interface ExpectedError {
	/** How the message begins. */
	words: string;
	/** A part of the description. */
	hint: string;
	httpCode?: string;
}

/** Checks that every call has failed in the same plain words. */
export function expectAllToFail(
	reports: CallReport[],
	{ words, hint, httpCode }: ExpectedError,
): void {
	expect(reports.map(({ name, error }) => ({ call: name, ...error }))).toEqual(
		reports.map(({ name }) => ({
			call: name,
			name: 'NodeApiError',
			message: expect.stringMatching(`^${escapeRegExp(words)}`) as string,
			description: expect.stringContaining(hint) as string,
			...(httpCode ? { httpCode } : {}),
		})),
	);
	expectNoSecrets(reports);
}

function expectNoSecrets(reports: CallReport[]): void {
	expect(reports.length).toBeGreaterThan(ALL_CASES.length);
	expect(reports.flatMap(({ name, leaks }) => leaks.map((place) => `${name}: ${place}`))).toEqual(
		[],
	);
}
