import { spawnSync } from 'node:child_process';

interface BuildTool {
	name: string;
	commands: string[];
}

const BUILD_TOOLS: BuildTool[] = [
	{ name: 'Python 3', commands: ['python3', 'python'] },
	{ name: 'make', commands: ['make', 'gmake'] },
	{ name: 'a C++ compiler', commands: ['c++', 'g++', 'clang++'] },
];

/** The names of the tools for compiling a native module that this machine lacks. */
export function missingBuildTools(tools = BUILD_TOOLS): string[] {
	if (process.platform === 'win32') return ['the Visual Studio Build Tools or Python 3'];
	return tools.filter(({ commands }) => !commands.some(answers)).map(({ name }) => name);
}

/** What to tell a user whose machine lacks the tools named. */
export function nativeBuildAdvice(missing: string[]): string {
	return [
		'n8n keeps its data in SQLite. No ready-made driver (sqlite3) could be downloaded for this',
		`machine, so it has to be compiled here, and this is missing: ${missing.join(', ')}.`,
		'  Debian, Ubuntu:  apt-get install python3 make g++',
		'  Fedora:          dnf install python3 make gcc-c++',
		'  macOS:           xcode-select --install',
		'  Windows:         install Python 3 and the Visual Studio Build Tools (C++ workload)',
		'Then run npm start again; what is installed already stays.',
	].join('\n');
}

function answers(command: string): boolean {
	return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;
}
