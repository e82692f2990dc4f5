import { startSandbox, type Sandbox, type SandboxOptions } from '../../../sandbox';
import { clientFor } from './client';

/**
 * One sandbox for all the tests, each of which finds it as it was at the start, and a client with its token. The tests
 * take these two apart before anything is started, so they are filled in later.
 */
export function useSandbox(options?: SandboxOptions) {
	const sandbox = {} as Sandbox;
	const client = clientFor({ url: '', accessToken: '' });
	beforeAll(async () => {
		Object.assign(sandbox, await startSandbox(options));
		client.defaults.baseURL = sandbox.url;
		client.defaults.headers.authorization = `Bearer ${sandbox.accessToken}`;
	});
	beforeEach(() => sandbox.reset());
	afterAll(() => sandbox.close());
	return { sandbox, client };
}
