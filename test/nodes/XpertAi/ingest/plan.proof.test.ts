import { planNights } from './support/dryRuns';

it('a dry run tells exactly what the next run does, in two hundred histories', async () => {
	await planNights(200);
}, 900_000);
