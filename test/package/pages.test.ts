import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { sum } from 'lodash';

import { projectRoot } from '../../host/paths';

/** What a page is made of between its markers is looked up in, and grows with the code. */
const GENERATED = /<!-- (\w+) -->[^]*<!-- \/\1 -->/g;

/** n8n verifies only packages that speak English, in their documentation too. */
const OTHER_SCRIPTS =
	/[\p{Script=Arabic}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hangul}\p{Script=Kana}]/u;

const docs = readdirSync(path.join(projectRoot, 'docs'))
	.filter((file) => file.endsWith('.md'))
	.map((file) => `docs/${file}`);
const others = readdirSync(projectRoot).filter((file) => file.endsWith('.md'));
const shipped = readdirSync(path.join(projectRoot, 'nodes'), { recursive: true }).map(String);
const textOf = (page: string) => readFileSync(path.join(projectRoot, page), 'utf8');

/** How many words a reader reads: without what is generated, targets of links, and the figures of benchmarks. */
function wordsOf(page: string): number {
	const written = textOf(page)
		.replace(GENERATED, '')
		.replace(/\]\([^)]*\)/g, ']');
	const text = page.endsWith('benchmarks.md') ? written.replace(/^\|.*$/gm, '') : written;
	return text.split(/\s+/).filter((word) => /\w/.test(word)).length;
}

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

/** What to do about a page with too many words for its readers. */
const advice = (words: number, most: number) =>
	words <= most
		? ''
		: `${words} words are ${words - most} too many: leave out what a reader can do without, or raise the limit and say in the commit what for`;

describe('what there is to read', () => {
	it.each([
		['README.md', 1_300],
		['CONTRIBUTING.md', 900],
		['docs/architecture.md', 900],
	])('%s is no longer than its readers have time for', (page, most) => {
		expect(advice(wordsOf(page), most)).toBe('');
	});

	it('is at most 17,000 words, README and docs together', () => {
		expect(advice(sum(['README.md', ...docs].map(wordsOf)), 17_000)).toBe('');
	});
});
