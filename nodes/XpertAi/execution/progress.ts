import type { IExecuteFunctions } from 'n8n-workflow';

import { systemClock } from '../transport/clock';
import type { Clock } from '../transport/clock';

/** The time between two lines, in milliseconds. */
const EVERY_MS = 30_000;

/**
 * Does long work, and writes a line to n8n's log every half minute meanwhile: the editor shows nothing of a node that
 * runs.
 *
 * @param progress how far the work is after this time, such as `3,000 of 10,000 stored`
 */
export async function withProgress<Result>(
	context: Pick<IExecuteFunctions, 'getNode' | 'logger'>,
	progress: (minutes: number) => string,
	work: () => Promise<Result>,
	clock: Pick<Clock, 'later'> = systemClock,
): Promise<Result> {
	const { logger } = context;
	const { name } = context.getNode();
	/** Given up when the work has ended, as a timer cannot be: it must not hold what the work held, nor the context. */
	let line: typeof progress | undefined = progress;
	const later = (minutes: number) =>
		clock.later(EVERY_MS, () => {
			if (!line) return;
			logger.info(`${name}: ${line(minutes)}`);
			later(minutes + 0.5);
		});
	later(0.5);
	try {
		return await work();
	} finally {
		line = undefined;
	}
}
