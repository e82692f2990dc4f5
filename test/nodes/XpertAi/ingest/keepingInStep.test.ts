import { keepInStep } from './support/keepingInStep';

it('after a whole run, assistants find exactly what the source holds, whatever happened before', async () => {
	await keepInStep(25);
}, 180_000);
