import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';

/** Lets a process of its own load the TypeScript of the tests, then calls a function of a module. */
const LOADER = `
const ts = require('typescript');
const fs = require('node:fs');
const options = { module: 'commonjs', target: 'es2022', esModuleInterop: true };
require.extensions['.ts'] = (module, file) => {
	const { outputText } = ts.transpileModule(fs.readFileSync(file, 'utf8'), { compilerOptions: options });
	module._compile(outputText, file);
};
const [file, name, input] = process.argv.slice(1);
require(file)[name](JSON.parse(input)).then(
	(result) => process.send({ result }),
	(error) => process.send({ error: String(error && error.stack || error) }),
);
process.on('disconnect', () => process.exit());
`;

/** A function that runs in a process of its own, and its process. */
export interface InChild<Result> {
	child: ChildProcess;
	result: Promise<Result>;
}

/** How the process is started. */
export interface ChildOptions {
	/** Flags of Node. */
	flags?: string[];
	env?: NodeJS.ProcessEnv;
}

/** Calls a function of a module beside this one in a new process, which lives until it is killed. */
export function inChild<Result>(
	module: string,
	name: string,
	input: unknown,
	{ flags = [], env }: ChildOptions = {},
): InChild<Result> {
	const file = path.join(__dirname, module);
	const child = spawn(
		process.execPath,
		[...flags, '-e', LOADER, file, name, JSON.stringify(input)],
		{ stdio: ['ignore', 'ignore', 'pipe', 'ipc'], cwd: path.resolve(__dirname, '../../..'), env },
	);
	let complaints = '';
	child.stderr?.on('data', (text: Buffer) => (complaints += String(text)));
	const result = new Promise<Result>((resolve, reject) => {
		child.once('message', (message: { result: Result } | { error: string }) => {
			if ('error' in message) reject(new Error(message.error));
			else resolve(message.result);
		});
		child.once('exit', (code, signal) =>
			reject(new Error(`the process ended (${signal ?? code}): ${complaints.slice(-2000)}`)),
		);
	});
	return { child, result };
}
