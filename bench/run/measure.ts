import type { Figures, Part, PartResults } from './part';
import { Progress } from './progress';
import { scheduled } from './schedule';
import type { Planned } from './schedule';

/** What was measured of the parts, by their names; also of those that broke off. */
export async function measureAll(
	parts: Part[],
	options: { quick: boolean },
): Promise<Record<string, PartResults>> {
	const measured: Record<string, PartResults> = {};
	const planned: Planned[] = [];
	for (const part of parts) {
		const missing = part.unavailable?.();
		const plan = part.plan(options);
		const results = { measuredAt: new Date().toISOString(), sizes: plan.sizes, entries: {} };
		measured[part.name] = { ...results, ...(missing === undefined ? {} : { missing }) };
		if (missing === undefined) planned.push({ name: part.name, plan });
		else console.log(`${part.name} is left out: ${missing}`);
	}
	try {
		for (const { plan } of planned) await plan.prepare?.();
		await measureSteps(planned, measured);
	} finally {
		for (const { plan } of planned) await plan.close?.();
	}
	return measured;
}

async function measureSteps(
	planned: Planned[],
	measured: Record<string, PartResults>,
): Promise<void> {
	const steps = scheduled(planned);
	const progress = new Progress(steps);
	for (const [index, { part, entry, isLast }] of steps.entries()) {
		const results = measured[part];
		if (!results || results.missing !== undefined) continue;
		try {
			const figures: Figures = await progress.during(index, entry.measure, entry.say);
			(results.entries[entry.name] ??= []).push(figures);
		} catch (error) {
			const reason = error instanceof Error ? error.message : String(error);
			results.missing = `${entry.name}: ${reason}`;
			console.error(`        ${part} broke off. ${results.missing}`);
		}
		if (isLast || results.missing !== undefined) await closed(planned, part);
	}
}

/** What a part needs while it is measured is not to disturb the others. */
async function closed(planned: Planned[], name: string): Promise<void> {
	const part = planned.find((one) => one.name === name);
	const close = part?.plan.close;
	if (!part || !close) return;
	part.plan = { ...part.plan, close: undefined };
	await close();
}
