import { exampleFiles } from '../../host/examples';
import { welcome } from '../../host/welcome';

const [folder = '', question = ''] = exampleFiles();
const HOST = {
	url: 'http://127.0.0.1:5678',
	login: { email: 'owner@example.com', password: 'Try-1' },
	loggedIn: true,
	userFolder: '/home/user',
	state: { examples: { [folder]: 'one', [question]: 'two' } },
};
const SANDBOX = { url: 'http://127.0.0.1:4318', token: 'sandbox-token' };

describe('what npm start says when all is ready', () => {
	it('begins with the two clicks to do, each with the address to open', () => {
		const [clicks] = welcome(HOST, SANDBOX).split('  Sandbox');
		expect(clicks).toMatch(/1\. Open +http:\/\/127\.0\.0\.1:5678\/workflow\/one\n/);
		expect(clicks).toMatch(/Login +owner@example\.com {2}\/ {2}Try-1\n.*Click "Execute workflow"/);
		expect(clicks).toMatch(
			/2\. Open +http:\/\/127\.0\.0\.1:5678\/workflow\/two\n.*Click "Open chat"/,
		);
	});

	it('names an example that the user has deleted', () => {
		const text = welcome({ ...HOST, state: { examples: {} } }, SANDBOX);
		expect(text).toContain('http://127.0.0.1:5678, "Xpert AI 1: ');
	});

	it('says whose password to use where it was changed', () => {
		const text = welcome({ ...HOST, loggedIn: false }, SANDBOX);
		expect(text).toMatch(/Login +your own/);
		expect(text).not.toContain('Try-1');
	});

	it('tells where the sandbox is, and its token', () => {
		expect(welcome(HOST, SANDBOX)).toContain('http://127.0.0.1:4318  (token sandbox-token)');
	});
});
