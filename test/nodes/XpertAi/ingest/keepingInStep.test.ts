import { keepInStep } from './support/keepingInStep';
import { PROPERTY_RUNS } from 'test/support/propertyRuns';

const NIGHTS = Math.ceil(PROPERTY_RUNS / 5);

it('after a whole run, assistants find exactly what the source holds, whatever happened before', async () => {
	await keepInStep(NIGHTS);
}, 180_000);
