import { TESTED_VERSIONS } from '../../host/versions';
import {
	compatibilityText,
	readPackage,
	readResults,
	readmeParts,
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
