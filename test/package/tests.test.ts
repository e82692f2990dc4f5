import { readFileSync } from 'node:fs';

/** Stands above the test of lines, as it takes lines away from what is run. */
interface Place {
	line: string;
}

describe('a red test', () => {
	it('points at its own line', () => {
		const error = new Error('Points here');
		const { line }: Place = /tests\.test\.ts:(?<line>\d+)/.exec(error.stack ?? '')?.groups as never;
		const source = readFileSync(__filename, 'utf8').split('\n');
		expect(source[Number(line) - 1]).toContain("new Error('Points here')");
	});
});
