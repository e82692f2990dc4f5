import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** npm says so, at the log level `http`, of every tarball that has arrived. */
const FETCHED = /http fetch GET 200 \S+\.tgz /g;

/** How far an `npm ci` has come, by what npm logs and by what lies in its folder. */
export class NpmProgress {
	private log = '';

	/**
	 * @param folder that of the lock file
	 * @param packages the folders below it that packages are unpacked to
	 */
	constructor(
		private readonly folder: string,
		private readonly packages: string[],
	) {}

	/** Takes what npm prints. */
	readonly read = (text: string): void => {
		this.log += text;
	};

	/** A line of progress. npm fetches nothing that it has from an earlier time. */
	line(seconds: number): string {
		const fetched = this.log.match(FETCHED)?.length ?? 0;
		const unpacked = this.packages.filter((path) => this.isUnpacked(path)).length;
		const all = this.packages.length;
		if (fetched + unpacked === 0)
			return `  npm looks through the list of ${all} packages, ${seconds} s`;
		return `  ${fetched} fetched and ${unpacked} unpacked, of ${all} packages`;
	}

	private isUnpacked(path: string): boolean {
		return existsSync(join(this.folder, path, 'package.json'));
	}
}

/** What node-gyp and the tools that it calls print; npm shows nothing of node-gyp's own at some log levels. */
const COMPILING = /gyp info|^make(\[\d+\])?: |building the projects in this solution/im;

/** What make prints once SQLite itself is compiled, which is one file and four fifths of the time. */
const SECOND_PART = /^ *CXX\(target\)/m;

/** What `npm rebuild` of n8n's database driver does at the moment, by what it has printed. */
export function rebuildLine(log: string, seconds: number): string {
	if (!COMPILING.test(log)) return `  looking for a ready-made one, ${seconds} s`;
	const part = SECOND_PART.test(log) ? 'part 2 of 2' : 'part 1 of 2, which takes longest';
	return `  there is no ready-made one for this machine, so it is compiled: ${part}, ${seconds} s`;
}
