import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { uniq } from 'lodash';

import { exampleFiles } from '../../host/examples';
import { projectRoot } from '../../host/paths';
import { readResults } from '../../scripts/compatibility';

const MOST_WORDS = 1_450;

/** Without the table of operations, which is looked up in and grows with the catalogue. */
const read = (file: string) =>
	readFileSync(path.join(projectRoot, file), 'utf8')
		.replace(/<!-- operations -->[^]*<!-- \/operations -->/, '')
		.replace(/<!--[^]*?-->/g, '');

const ENGLISH = read('README.md');
const CHINESE = read('README.zh-CN.md');

/** Where links and pictures lead; those inside of a page are named in its own language. */
const linksOf = (text: string) =>
	uniq([...text.matchAll(/\]\(([^)]*)\)/g)].map(([, target = '']) => target))
		.filter((target) => !/^#|^README/.test(target))
		.sort();

const headingsOf = (text: string) => [...text.matchAll(/^(#+) /gm)].map(([, marks]) => marks);
const commandsOf = (text: string) =>
	[...text.matchAll(/```bash\n([^]*?)```/g)].map(([, commands]) => commands);

/** The heading that a link inside of a page leads to, as GitHub names it. */
const anchorsOf = (text: string) =>
	[...text.matchAll(/^#+ (.*)$/gm)].map(
		([, title = '']) =>
			`#${title
				.toLowerCase()
				.replace(/[^\p{L}\p{N} -]/gu, '')
				.replaceAll(' ', '-')}`,
	);

describe('the README', () => {
	it(`is read in a few minutes: at most ${MOST_WORDS} words`, () => {
		const words = ENGLISH.replace(/\]\([^)]*\)/g, ']').split(/\s+/);
		expect(words.filter((word) => /\w/.test(word)).length).toBeLessThanOrEqual(MOST_WORDS);
	});

	it('names every example', () => {
		for (const file of exampleFiles()) expect(linksOf(ENGLISH)).toContain(`examples/${file}`);
	});

	it('says on the first screen how to install what is not published yet', () => {
		const [start = ''] = ENGLISH.split('## Your first workflow');
		expect(start).toMatch(/not published yet[^]*npm pack/);
	});
});

describe.each([
	['README.md', ENGLISH],
	['README.zh-CN.md', CHINESE],
])('%s', (_file, text) => {
	it('leads to files that are there, and to headings of its own', () => {
		const files = linksOf(text).filter((target) => !target.startsWith('http'));
		const missing = files.filter(
			(file) => !existsSync(path.join(projectRoot, file.split('#')[0] ?? '')),
		);
		expect(missing).toEqual([]);
		const inside = [...text.matchAll(/\]\((#[^)]*)\)/g)].map(([, anchor]) => anchor);
		expect(anchorsOf(text)).toEqual(expect.arrayContaining(inside));
	});

	it('names the n8n versions that were tried', () => {
		for (const { n8n, nodejs } of readResults()) {
			expect(text).toMatch(new RegExp(`\\| ${n8n.replaceAll('.', '\\.')}[^|]*\\| ${nodejs} \\|`));
		}
	});
});

describe('the README in Chinese', () => {
	it('has the same headings, links and commands', () => {
		expect(headingsOf(CHINESE)).toEqual(headingsOf(ENGLISH));
		expect(linksOf(CHINESE)).toEqual(linksOf(ENGLISH));
		expect(commandsOf(CHINESE)).toEqual(commandsOf(ENGLISH));
	});
});
