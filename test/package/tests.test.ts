import { readFileSync } from 'node:fs';

import { globSync } from 'fast-glob';
import { difference } from 'lodash';

import { projectRoot } from 'host/paths';
import { reasonsOfGoneCode } from '../mutation/reasons.js';
import rooms from '../mutation/rooms.js';

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

/** What has no room: what the editor shows, which test/package/surface holds, and a clock that the tests replace. */
const WITHOUT_ROOM =
	/\/(fields|fieldBuilders|optionFields|locators|catalogue|XpertAi\.node|XpertAiTrigger\.node|transport\/clock)\.ts$/;

describe('mutants', () => {
	it('are made of all code that is shipped', () => {
		const shipped = globSync(['nodes/**/*.ts', 'credentials/**/*.ts'], { cwd: projectRoot });
		const mutated = Object.values(rooms).flatMap(({ folder, files = [] }) =>
			globSync(
				files.map((file) => `${folder}/${file}.ts`),
				{ cwd: projectRoot },
			),
		);
		const free = difference(shipped, mutated).filter((file) => !WITHOUT_ROOM.test(file));
		const advice = 'give these files a room in test/mutation/rooms.js';
		expect({ [advice]: free }).toEqual({ [advice]: [] });
	});

	it('that may live are of code that is there', () => {
		const advice = 'take these out of test/mutation/survivors.json, as their code is gone';
		expect({ [advice]: reasonsOfGoneCode() }).toEqual({ [advice]: [] });
	});
});
