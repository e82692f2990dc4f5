import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { sum } from 'lodash';

import { projectRoot } from 'host/paths';

/** n8n verifies only packages that speak English, in their documentation too. */
const OTHER_SCRIPTS =
	/[\p{Script=Arabic}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hangul}\p{Script=Kana}]/u;

const docs = readdirSync(path.join(projectRoot, 'docs'))
	.filter((file) => file.endsWith('.md'))
	.map((file) => `docs/${file}`);
const others = readdirSync(projectRoot).filter((file) => file.endsWith('.md'));
const shipped = readdirSync(path.join(projectRoot, 'nodes'), { recursive: true }).map(String);
const textOf = (page: string) => readFileSync(path.join(projectRoot, page), 'utf8');

/** Parts that `npm run generate` writes, and the page that `npm run bench` writes. */
const GENERATED = /<!-- (\w+) -->[^]*?<!-- \/\1 -->|<!-- Made by [^]*/g;

/** How many words of a page somebody has written. */
const wordsOf = (page: string) =>
	textOf(page).replaceAll(GENERATED, '').split(/\s+/).filter(Boolean).length;

/** The heading that a link inside of a page leads to, as GitHub names it. */
const anchorsOf = (text: string) =>
	[...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
		title
			.toLowerCase()
			.replace(/[^\p{L}\p{N}_ -]/gu, '')
			.replaceAll(' ', '-'),
	);

describe.each([...docs, ...others])('%s', (page) => {
	const text = textOf(page);

	it('leads to files that are there, and to headings in them', () => {
		const targets = [...text.matchAll(/\]\(([^)]*)\)/g)].map(([, target = '']) => target);
		const missing = targets.filter((target) => {
			const [file = '', anchor] = target.split('#');
			if (/^[a-z]+:/.test(target)) return false;
			const place = file === '' ? page : path.join(path.dirname(page), file);
			if (!existsSync(path.join(projectRoot, place))) return true;
			return anchor !== undefined && !anchorsOf(textOf(place)).includes(anchor);
		});
		expect(missing).toEqual([]);
	});

	it('is in English', () => expect(text).not.toMatch(OTHER_SCRIPTS));

	it('names files that are there', () => {
		const named = [...text.matchAll(/`([\w./-]+\/[\w./-]+\.(?:ts|js|json|sh|mjs|cjs|yml))`/g)];
		const missing = named
			.map(([, file = '']) => file)
			.filter((file) => !existsSync(path.join(projectRoot, file)))
			.filter((file) => !shipped.some((one) => one.endsWith(`/${file}`)));
		expect(missing).toEqual([]);
	});
});

describe.each(docs)('%s', (page) => {
	it('is headed by the question that brings its reader', () => {
		expect(textOf(page).split('\n')[0]).toMatch(/^# .*\?$/);
	});
});

it('what the nodes and the credential say is in English', () => {
	const files = ['nodes', 'credentials'].flatMap((folder) =>
		readdirSync(path.join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
			.filter((file) => /\.(?:ts|json)$/.test(file))
			.map((file) => path.join(folder, file)),
	);
	expect(files.filter((file) => OTHER_SCRIPTS.test(textOf(file)))).toEqual([]);
});

describe('what there is to read', () => {
	const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs];

	it.each([
		['the README', ['README.md'], 1_300],
		['all pages together', pages, 15_500],
	])('%s has no more words than its readers have time for', (_name, read, most) => {
		const words = sum(read.map(wordsOf));
		const advice = `${words - most} words of ${read.join(', ')} are too many: say each thing once`;
		expect(words > most ? advice : '').toBe('');
	});

	it('does not count what is generated', () => {
		expect(wordsOf('docs/benchmarks.md')).toBeLessThan(10);
		expect(textOf('docs/endpoints.md').match(GENERATED)).toHaveLength(1);
	});
});
