import type { AxiosInstance } from 'axios';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../sandbox';
import { clientFor } from './client';

/** A sandbox and a client with its token; neither is ready before the tests around it run. */
export interface InTests {
	sandbox: Sandbox;
	client: AxiosInstance;
}

/** One sandbox for all the tests, each of which finds it as it was at the start. */
export function useSandbox(options?: SandboxOptions): InTests {
	const inTests = notStarted();
	beforeAll(async () => await start(inTests, options));
	beforeEach(() => inTests.sandbox.reset());
	afterAll(() => inTests.sandbox.close());
	return inTests;
}

/** The tests take these two apart before anything is started, so they are filled in later. */
const notStarted = (): InTests => ({
	sandbox: {} as Sandbox,
	client: clientFor({ url: '', accessToken: '' }),
});

async function start({ sandbox, client }: InTests, options?: SandboxOptions): Promise<void> {
	Object.assign(sandbox, await startSandbox(options));
	client.defaults.baseURL = sandbox.url;
	client.defaults.headers.authorization = `Bearer ${sandbox.accessToken}`;
}
