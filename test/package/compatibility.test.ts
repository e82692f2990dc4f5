import { TESTED_VERSIONS } from '../../host/versions';
import {
	compatibilityText,
	readPackage,
	readResults,
	readmeParts,
	requirePassed,
	withTried,
} from '../../scripts/compatibility';

const results = readResults();

/** Prettier sets the columns of a table. */
const words = (text: string) => text.replace(/[\s-]+/g, ' ').trim();

describe('the n8n versions that the package is said to run in', () => {
	it('are those in which everything passed', () => {
		expect(results.map(({ n8n, reason }) => [n8n, reason])).toEqual(
			TESTED_VERSIONS.map(({ n8n, reason }) => [n8n, reason]),
		);
	});

	it('ran on the Node.js they are meant for', () => {
		expect(results.map(({ nodejs }) => Number(nodejs.split('.')[0]))).toEqual(
			TESTED_VERSIONS.map(({ installation }) => installation.nodeMajor),
		);
	});

	it('all passed the same steps, the oldest the engine tests as well', () => {
		const [oldest] = results;
		expect(oldest?.steps.length).toBeGreaterThan(7);
		for (const { steps } of results) expect(steps).toEqual(oldest?.steps);
		expect(oldest?.engineTests).toBeGreaterThan(500);
	});

	it('stand in the README as they were written by the run', () => {
		expect(words(readmeParts().part)).toBe(words(compatibilityText(results)));
	});

	it('begin with the oldest that package.json allows', () => {
		expect(readPackage().engines.n8n).toBe(`>=${results[0]?.n8n}`);
	});
});

describe('a run of npm run test:hosts', () => {
	const result = (n8n: string, nodejs = '24.0.0') => ({ n8n, reason: '', nodejs, steps: [] });
	const versions = ['1.0.0', '2.0.0'];

	it('puts what it has found in place of what was known, in the order of the versions', () => {
		const known = [result('1.0.0', '20.0.0'), result('0.9.0')];
		const tried = new Map([
			['2.0.0', result('2.0.0')],
			['3.0.0', result('3.0.0')],
		]);
		expect(withTried(versions, known, tried)).toEqual([known[0], result('2.0.0')]);
	});

	it('says of no version that it passes which passed only earlier', () => {
		const known = versions.map((n8n) => result(n8n));
		expect(withTried(versions, known, new Map([['2.0.0', undefined]]))).toEqual([result('1.0.0')]);
	});

	it('fails, naming each version in which not everything passed', () => {
		const tried = new Map([
			['1.0.0', undefined],
			['2.0.0', result('2.0.0')],
			['2.1.0', undefined],
		]);
		expect(() => requirePassed(tried)).toThrow('did not pass in n8n 1.0.0, 2.1.0.');
		tried.set('1.0.0', result('1.0.0'));
		expect(() => requirePassed(tried)).toThrow('did not pass in n8n 2.1.0.');
		tried.set('2.1.0', result('2.1.0'));
		expect(() => requirePassed(tried)).not.toThrow();
	});
});
