import { keepInStep } from './support/keepingInStep';

it('after a whole run, assistants find exactly what the source holds, whatever happened before', async () => {
	await keepInStep(40);
}, 60_000);
