import { TESTED_VERSIONS } from '../../host/versions';
import { engines } from '../../package.json';
import { compatibilityTexts, partsOf, readResults } from '../../scripts/compatibility';

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

	it.each(Object.entries(compatibilityTexts(results)))('stand in %s as written', (page, text) => {
		expect(words(partsOf(page).part)).toBe(words(text));
	});

	it('begin with the oldest that package.json allows', () => {
		expect(engines.n8n).toBe(`>=${results[0]?.n8n}`);
	});
});
