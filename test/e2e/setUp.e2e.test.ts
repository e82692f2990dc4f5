import { exampleFiles } from '../../host/examples';
import { SANDBOX_CREDENTIAL, setUpWorkspace } from '../../host/setUp';
import { useHarness } from './support/harness';

const harness = useHarness();
const lines: string[] = [];
const setUp = async (url: string) =>
	await setUpWorkspace(harness.host, { url, token: harness.sandbox.accessToken }, (line) =>
		lines.push(line),
	);
const list = async (path: string) =>
	(await harness.host.rest.request('GET', path)) as Array<{ id: string; name: string }>;

describe('what npm start sets up', () => {
	beforeEach(() => lines.splice(0));

	it('brings the credential and every example', async () => {
		await setUp(harness.sandbox.url);
		expect((await list('/rest/credentials')).map(({ name }) => name)).toEqual([SANDBOX_CREDENTIAL]);
		expect(await list('/rest/workflows')).toHaveLength(exampleFiles().length);
	});

	it('does nothing the second time, nor after a crash and a restart', async () => {
		await setUp(harness.sandbox.url);
		await harness.host.kill();
		await harness.host.restart();
		await setUp(harness.sandbox.url);
		expect(lines).toEqual([]);
		expect(await list('/rest/credentials')).toHaveLength(1);
		expect(await list('/rest/workflows')).toHaveLength(exampleFiles().length);
	});

	it('follows a sandbox that has moved, and leaves a credential alone that the user has pointed elsewhere', async () => {
		const { rest, state } = harness.host;
		const id = state.credential?.id ?? '';
		const baseUrl = async () => (await rest.findCredential(id))?.data.baseUrl;
		await setUp('http://127.0.0.1:4999');
		expect(await baseUrl()).toBe('http://127.0.0.1:4999');
		await rest.updateCredential(id, {
			name: SANDBOX_CREDENTIAL,
			type: 'xpertAiApi',
			data: { baseUrl: 'https://xpert.example.com', accessToken: 'my-own' },
		});
		await setUp('http://127.0.0.1:5000');
		expect(await baseUrl()).toBe('https://xpert.example.com');
	});
});
