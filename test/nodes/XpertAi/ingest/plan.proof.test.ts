import { planNights } from './support/dryRuns';
import { IS_NIGHTLY } from '../../../support/propertyRuns';

const HISTORIES = IS_NIGHTLY ? 200 : 60;

it('a dry run tells exactly what the next run does, in many histories', async () => {
	await planNights(HISTORIES);
}, 900_000);
