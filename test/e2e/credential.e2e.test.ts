import { freePort } from '../../host/ports';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

describe('the credential test in n8n', () => {
	it('passes with the right token', async () => {
		expect(await harness.testCredential()).toEqual({
			status: 'OK',
			message: 'Connection successful!',
		});
	});

	it('says that the token was not accepted', async () => {
		const result = await harness.testCredential({ accessToken: 'wrong-token' });
		expect(result.status).toBe('Error');
		expect(result.message).toMatch(/unauthorized|authorization failed|token/i);
		expect(result.message).not.toContain('wrong-token');
	});

	it('says that nothing listens at the address', async () => {
		const result = await harness.testCredential({
			baseUrl: `http://127.0.0.1:${await freePort()}`,
		});
		expect(result.status).toBe('Error');
		expect(result.message).toMatch(/refused|offline|not reach|ECONNREFUSED/i);
	});

	it.each(['http://xpert.example.com', 'xpert.example.com', 'ftp://127.0.0.1'])(
		'sends nothing to %s, which is no HTTPS address',
		async (baseUrl) => {
			const result = await harness.testCredential({ baseUrl });
			expect(result.status).toBe('Error');
			expect(result.message).toContain('must start with https://');
		},
	);

	it.each(['/', '/api', '/api/ai/'])('passes with %s behind the Base URL', async (ending) => {
		const baseUrl = `${harness.sandbox.url}${ending}`;
		expect((await harness.testCredential({ baseUrl })).status).toBe('OK');
	});

	it('changes nothing on the server: it counts assistants', async () => {
		harness.sandbox.requests.clear();
		await harness.testCredential();
		expect(harness.sandbox.requests.all.map(({ endpoint }) => endpoint)).toEqual(['E9']);
	});
});
