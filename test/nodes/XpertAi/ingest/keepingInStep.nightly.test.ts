import { keepInStep } from './support/keepingInStep';

it('after a whole run, assistants find exactly what the source holds, in 2,000 histories', async () => {
	await keepInStep(2_000);
}, 1_800_000);
