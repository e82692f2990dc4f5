import { keepInStep } from './support/keepingInStep';
import { IS_NIGHTLY } from 'test/support/propertyRuns';

const HISTORIES = IS_NIGHTLY ? 300 : 100;

it('after a whole run, assistants find exactly what the source holds, in many histories', async () => {
	await keepInStep(HISTORIES);
}, 900_000);
