import { planNights } from './support/dryRuns';

const NIGHTS = Math.ceil(Number(process.env.PROPERTY_RUNS ?? 200) / 10);

it('a dry run changes nothing, and tells exactly what the next run does, whatever happened before', async () => {
	await planNights(NIGHTS);
}, 180_000);
