import { createServer } from 'node:http';

import { useFixture } from './support/fixture';
import { whileListening } from './support/listen';

const fixture = useFixture();

const NO_SERVER =
	'There is no Xpert AI server at this Base URL: enter only the host, such as https://api.example.com';

describe('the test of a credential', () => {
	it('passes where the server counts, whatever the type of its answer', async () => {
		const { url: baseUrl, accessToken } = fixture.sandbox;
		for (const type of ['text/html', 'application/json']) {
			fixture.add({ do: 'contentType', value: type, nth: 1 });
			const result = await fixture.engine.testCredential({ baseUrl, accessToken });
			expect(result).toEqual({ message: undefined, error: undefined });
		}
		expect(fixture.sent('E9')).toHaveLength(2);
	});

	it('fails with a token that the server does not know', async () => {
		const { url: baseUrl } = fixture.sandbox;
		const { error } = await fixture.engine.testCredential({ baseUrl, accessToken: 'wrong' });
		expect(error).toBeDefined();
	});

	it.each([
		['a page', 'text/html', '<!doctype html><title>Sign in</title>'],
		['a page behind a line break', 'text/html', '\n<html></html>'],
		['a text', 'text/plain', 'OK'],
		['nothing', 'text/plain', ''],
		['a record of another service', 'application/json', '{"status":"ok"}'],
		['a failure', 'application/json', '{"statusCode":500}'],
	])('fails where a server answers 200 with %s', async (_, type, body) => {
		const server = createServer((_request, response) => {
			response.writeHead(200, { 'Content-Type': type }).end(body);
		});
		await whileListening(server, async (port) => {
			const baseUrl = `http://127.0.0.1:${port}`;
			const result = await fixture.engine.testCredential({ baseUrl, accessToken: 'token' });
			expect(result).toEqual({ message: NO_SERVER, error: undefined });
		});
	});
});
