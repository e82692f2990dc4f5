import { keepInStep } from './support/keepingInStep';

it('after a whole run, assistants find exactly what the source holds, in 300 histories', async () => {
	await keepInStep(300);
}, 600_000);
