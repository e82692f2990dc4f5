import { keepInStep } from './support/keepingInStep';

const NIGHTS = Math.ceil(Number(process.env.PROPERTY_RUNS ?? 200) / 8);

it('after a whole run, assistants find exactly what the source holds, whatever happened before', async () => {
	await keepInStep(NIGHTS);
}, 180_000);
