import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

import { night, setup, source } from './keepingInStep';
import { KEYS, Nights, isWhole } from './nights';

/** What a run does with a document that the dry run before it had planned so. */
const DONE: Record<string, string[]> = {
	new: ['found', 'stored'],
	changed: ['found', 'stored'],
	back: ['found', 'stored'],
	unchanged: ['unchanged'],
	gone: ['disabled'],
};

/**
 * Lets so many histories of nights pass, each with documents that somebody deletes, a dry run and a night. The dry
 * run changes nothing, and the night does with each document what it has told.
 */
export async function planNights(histories: number): Promise<void> {
	const nights = await Nights.start();
	try {
		await fc.assert(
			fc.asyncProperty(
				fc.array(night, { maxLength: 4 }),
				fc.subarray(KEYS, { maxLength: 2 }),
				source,
				setup,
				async (before, lost, last, how) => {
					const knowledgebaseId = await nights.knowledgebase();
					for (const one of before) await nights.night(knowledgebaseId, { ...one, ...how });
					for (const key of lost) nights.lose(knowledgebaseId, key);
					const isCalm = !before.some((one) => !isWhole({ ...one, ...how }));
					const found = await nights.found(knowledgebaseId);
					const stored = nights.stored(knowledgebaseId);
					const tonight = { source: last, turns: [0], ...how };
					const plan = await nights.night(knowledgebaseId, { ...tonight, dryRun: true });
					expect(plan.writes).toBe(0);
					expect(await nights.found(knowledgebaseId)).toEqual(found);
					const done = await nights.night(knowledgebaseId, tonight);
					const of = (item: IDataObject) => nights.keyOf(knowledgebaseId, item.id);
					const sorted = (items: IDataObject[]) =>
						items.sort((one, other) => String(of(one)).localeCompare(String(of(other))));
					const [plans, outcomes] = [sorted(plan.items), sorted(done.items)];
					expect(plans.map(of)).toEqual(outcomes.map(of));
					plans.forEach((planned, at) => {
						expect(DONE[String(planned.plan)]).toContain(outcomes[at]?.outcome);
						const key = of(planned) ?? '';
						expect(planned.plan === 'new').toBe(!stored.includes(key));
						// A night that went wrong may leave what is found without a status: servers tell no more.
						if (planned.plan === 'back' && isCalm) expect(found).not.toHaveProperty(key);
						if (planned.plan === 'changed') expect(stored).toContain(key);
					});
					nights.remove(knowledgebaseId);
				},
			),
			{ numRuns: histories },
		);
	} finally {
		await nights.close();
	}
}
