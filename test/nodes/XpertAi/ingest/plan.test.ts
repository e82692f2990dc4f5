import { planNights } from './support/dryRuns';

it('a dry run changes nothing, and tells exactly what the next run does, whatever happened before', async () => {
	await planNights(20);
}, 180_000);
