import { range } from 'lodash';

import { batches, unchanged } from '../growth/storing';
import { conversations } from '../growth/conversations';
import type { Growing } from '../growth/growing';
import { items } from '../growth/items';
import { runs } from '../growth/runs';
import { median } from '../run/figures';
import { serveTask } from '../support/processes';
import type { Target } from '../support/server';

/** Whose growth can be measured. */
export type Kind = 'items' | 'batches' | 'unchanged' | 'conversations' | 'runs';

/** Work of several sizes, the smallest first. */
export interface GrowthTask {
	kind: Kind;
	sizes: number[];
	target: Target;
}

/** What each size took and sent. */
export interface GrowthMeasurement {
	cpuCurve: number[];
	requestCurve: number[];
	byteCurve: number[];
}

/** Small sizes are measured more often than large ones, and the middle counts. */
const MOST_TIMES = 7;

const GROWING: Record<Exclude<Kind, 'items'>, Growing> = {
	batches,
	unchanged,
	conversations,
	runs,
};

serveTask<GrowthTask>(async ({ kind, sizes, target }): Promise<GrowthMeasurement> => {
	const growing = kind === 'items' ? await items(target) : GROWING[kind];
	const measured: GrowthMeasurement = { cpuCurve: [], requestCurve: [], byteCurve: [] };
	const [smallest = 0] = sizes;
	const largest = sizes.at(-1) ?? 0;
	// So that all code is compiled.
	for (const _ of range(MOST_TIMES)) await growing(smallest)();
	for (const size of sizes) {
		const times = range(size === largest ? 1 : size === smallest ? MOST_TIMES : 3);
		const cpu: number[] = [];
		let sent = { requests: 0, bytes: 0 };
		for (const _ of times) {
			const work = growing(size);
			const before = process.cpuUsage();
			sent = await work();
			const { user, system } = process.cpuUsage(before);
			cpu.push((user + system) / 1e6);
		}
		measured.cpuCurve.push(median(cpu));
		measured.requestCurve.push(sent.requests);
		measured.byteCurve.push(sent.bytes);
	}
	return measured;
});
