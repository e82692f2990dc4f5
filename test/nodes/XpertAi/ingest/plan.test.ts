import { planNights } from './support/dryRuns';
import { PROPERTY_RUNS } from '../../../support/propertyRuns';

const NIGHTS = Math.ceil(PROPERTY_RUNS / 10);

it('a dry run changes nothing, and tells exactly what the next run does, whatever happened before', async () => {
	await planNights(NIGHTS);
}, 180_000);
