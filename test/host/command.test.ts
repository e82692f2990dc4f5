import { endRunningCommands, runCommand } from '../../host/command';
import { projectRoot } from '../../host/paths';

/** Goes on after every polite signal, as npm does in an installation, and so does what it starts. */
const STUBBORN = `
	process.on('SIGTERM', () => {});
	const { spawn } = require('node:child_process');
	if (process.argv[1] === 'parent')
		spawn(process.execPath, ['-e', process.env.SCRIPT, 'child'], { stdio: 'inherit' });
	console.log('runs');
	setInterval(() => {}, 1000);
`;

describe('A Ctrl-C while a command runs', () => {
	it('ends it and what it has started, also when they do not listen', async () => {
		let output = '';
		const onOutput = (text: string) => {
			output += text;
			if (output.match(/runs/g)?.length === 2) endRunningCommands();
		};
		const env = { ...process.env, SCRIPT: STUBBORN };
		const options = { cwd: projectRoot, env, onOutput };
		const { code } = await runCommand(process.execPath, ['-e', STUBBORN, 'parent'], options);
		expect(code).not.toBe(0); // it resolves when nobody holds the output any more
		expect(output.match(/runs/g)).toHaveLength(2);
	});
});
