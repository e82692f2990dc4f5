import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { uniq } from 'lodash';

const ROOT = path.resolve(__dirname, '../..');

interface Scan {
	passed: boolean;
	details?: string;
}

/** Lints the source and the package with n8n's community scanner, an ES module of its own, in one process. */
function scan(unpacked: string): { source: Scan; tarball: Scan } {
	const script = `
		import { analyzePackage, SOURCE_FILE_PATTERNS } from '@n8n/scan-community-package/scanner/scanner.mjs';
		const scan = async (folder, patterns) => {
			const { passed, details } = await analyzePackage(folder, patterns);
			return { passed, details };
		};
		const source = await scan(${JSON.stringify(ROOT)}, SOURCE_FILE_PATTERNS);
		const tarball = await scan(${JSON.stringify(unpacked)}, ['**/*.js', 'package.json']);
		process.stdout.write(JSON.stringify({ source, tarball }));`;
	const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
		cwd: ROOT,
		encoding: 'utf8',
		// Under NODE_ENV=test, as jest sets it, the rules expect the file names of their own tests.
		env: { ...process.env, NODE_ENV: 'production' },
	});
	return JSON.parse(output) as { source: Scan; tarball: Scan };
}

describe('the package, as the scanner of n8n sees it', () => {
	let unpacked: string;
	let files: string[];
	let scans: ReturnType<typeof scan>;

	beforeAll(() => {
		unpacked = mkdtempSync(path.join(tmpdir(), 'xpertai-pack-'));
		const report = execFileSync('npm', ['pack', '--json', '--pack-destination', unpacked], {
			cwd: ROOT,
			encoding: 'utf8',
			stdio: ['ignore', 'pipe', 'ignore'],
		});
		const [pack] = JSON.parse(report) as Array<{
			filename: string;
			files: Array<{ path: string }>;
		}>;
		files = (pack?.files ?? []).map((file) => file.path);
		execFileSync('tar', ['-xzf', String(pack?.filename), '--strip-components=1'], {
			cwd: unpacked,
		});
		scans = scan(unpacked);
	});

	const texts = () =>
		files
			.filter((file) => file.endsWith('.js'))
			.map((file) => readFileSync(path.join(unpacked, file), 'utf8'));

	afterAll(() => rmSync(unpacked, { recursive: true, force: true }));

	it('passes on the source and on the packed tarball', () => {
		expect(scans).toEqual({ source: { passed: true }, tarball: { passed: true } });
	});

	it('holds the built node and its papers, and nothing else', () => {
		const built = ['credentials', 'nodes']
			.flatMap((folder) =>
				readdirSync(path.join(ROOT, folder), { recursive: true })
					.map(String)
					.map((file) => path.posix.join('dist', folder, file)),
			)
			.filter((file) => /\.(ts|svg|json)$/.test(file))
			.map((file) => file.replace(/\.ts$/, '.js'));
		expect(files.sort()).toEqual(['LICENSE', 'README.md', 'package.json', ...built].sort());
	});

	it('needs nothing but what n8n provides', () => {
		const manifest = JSON.parse(
			readFileSync(path.join(unpacked, 'package.json'), 'utf8'),
		) as Record<string, unknown>;
		expect(manifest.dependencies).toBeUndefined();
		expect(manifest.peerDependencies).toEqual({ 'n8n-workflow': '*' });
		const required = texts().flatMap(
			(text) => text.match(/(?<=\b(?:require|import)\()(?!["']\.)[^)/]+/g) ?? [],
		);
		const allowed = ['crypto', 'lodash', 'luxon', 'n8n-workflow', 'zod'];
		expect(uniq(required.map((name) => name.replace(/["']/g, ''))).sort()).toEqual(allowed);
	});
});
