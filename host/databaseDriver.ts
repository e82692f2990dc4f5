import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { requireSuccess, runCommand, runNpm, type CommandResult } from './command';
import { nodeForN8n, ownNodeRunsN8n, packagedNodeFolder, type Installation } from './installation';
import { HostError, withHeartbeat, type Say } from './messages';
import { TESTED_VERSIONS } from './versions';

const REBUILD_SQLITE = [
	'rebuild',
	'sqlite3',
	'--ignore-scripts=false',
	'--foreground-scripts',
	'--loglevel=error',
];

/**
 * Gives an n8n its database driver: that of another installation here, a prebuilt one, or one compiled.
 *
 * @throws HostError when a compiler is missing, or what it made does not load
 */
export async function prepareDatabaseDriver(say: Say, installation: Installation): Promise<void> {
	const others = TESTED_VERSIONS.map((version) => version.installation);
	const borrowed = borrowDriver(installation, others);
	if (borrowed && (await loadDriver(installation)).code === 0) return;
	await buildSqlite(say, installation);
	requireSuccess(
		await loadDriver(installation),
		'The database driver of n8n (sqlite3) does not load',
	);
}

async function loadDriver(installation: Installation): Promise<CommandResult> {
	const options = { cwd: installation.folder };
	return await runCommand(nodeForN8n(installation), ['-e', "require('sqlite3')"], options);
}

async function buildSqlite(say: Say, installation: Installation): Promise<void> {
	say('Preparing the database driver of n8n (first use only: seconds to two minutes)');
	let log = '';
	const onOutput = (text: string) => {
		log += text;
	};
	const env = { ...process.env, ...headersOfPackagedNode(installation), JOBS: 'max' };
	const result = await withHeartbeat(
		say,
		(seconds) => rebuildLine(log, seconds),
		async () => await runNpm(REBUILD_SQLITE, { cwd: installation.folder, env, onOutput }),
	);
	if (result.code !== 0) {
		const missing = missingBuildTools();
		if (missing.length > 0) throw new HostError(nativeBuildAdvice(missing));
	}
	requireSuccess(result, 'Compiling the database driver of n8n (sqlite3) did not work');
}

/** Compiling against the packaged Node's headers spares a download and an extra package. */
function headersOfPackagedNode(installation: Installation): NodeJS.ProcessEnv {
	const folder = packagedNodeFolder(installation);
	const headers = join(folder, 'include', 'node', 'node_api.h');
	const usable = !ownNodeRunsN8n(installation) && existsSync(headers);
	return usable ? { npm_config_nodedir: folder } : {};
}

const DRIVER = join('node_modules', 'sqlite3');
const BINARY = join(DRIVER, 'build', 'Release', 'node_sqlite3.node');

/**
 * Copies the database driver that was compiled for another n8n, where that has the same version of it. It
 * speaks Node-API, so that one compiled for an older Node loads in a newer one; the other way round it may
 * not, so it has to be tried.
 *
 * @returns whether there was one
 */
function borrowDriver({ folder }: Installation, others: readonly Installation[]): boolean {
	const lender = others.find(
		(other) =>
			other.folder !== folder &&
			existsSync(join(other.folder, BINARY)) &&
			driverVersion(other.folder) === driverVersion(folder),
	);
	if (lender === undefined) return false;
	mkdirSync(dirname(join(folder, BINARY)), { recursive: true });
	copyFileSync(join(lender.folder, BINARY), join(folder, BINARY));
	return true;
}

function driverVersion(folder: string): string {
	return (
		readFileSync(join(folder, DRIVER, 'package.json'), 'utf8').match(/"version": "(.+)"/)?.[1] ?? ''
	);
}

const BUILD_TOOLS = [
	{ name: 'Python 3', commands: ['python3', 'python'] },
	{ name: 'make', commands: ['make', 'gmake'] },
	{ name: 'a C++ compiler', commands: ['c++', 'g++', 'clang++'] },
];

/** The names of the tools for compiling a native module that this machine lacks. */
function missingBuildTools(): string[] {
	if (process.platform === 'win32') return ['the Visual Studio Build Tools or Python 3'];
	return BUILD_TOOLS.filter(({ commands }) => !commands.some(answers)).map(({ name }) => name);
}

function nativeBuildAdvice(missing: string[]): string {
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

/** What node-gyp and the tools that it calls print; npm shows nothing of node-gyp's own at some log levels. */
const COMPILING = /gyp info|^make(\[\d+\])?: |building the projects in this solution/im;

/** What make prints once SQLite itself is compiled, which is one file and four fifths of the time. */
const SECOND_PART = /^ *CXX\(target\)/m;

/** What `npm rebuild` of n8n's database driver does at the moment, by what it has printed. */
function rebuildLine(log: string, seconds: number): string {
	if (!COMPILING.test(log)) return `  looking for a ready-made one, ${seconds} s`;
	const part = SECOND_PART.test(log) ? 'part 2 of 2' : 'part 1 of 2, which takes longest';
	return `  there is no ready-made one for this machine, so it is compiled: ${part}, ${seconds} s`;
}
