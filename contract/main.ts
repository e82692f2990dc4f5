import { checkServer } from './checkServer';
import type { Checked } from './checkServer';

const USAGE: Checked = { text: 'Usage: npm run check:server -- <openapi.json>', code: 2 };

const [file] = process.argv.slice(2);

void (file === undefined ? Promise.resolve(USAGE) : checkServer(file)).then(({ text, code }) => {
	console.log(text);
	process.exitCode = code;
});
