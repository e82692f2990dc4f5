import { outermostMode } from '../../../execution/n8nExecution';
import type { Submission } from './submission';

/**
 * n8n execution modes in which the node disables missing documents. In a manual execution or a retry, items may be
 * incomplete or outdated.
 */
const DISABLING_EXECUTION_MODES: unknown[] = [
	'trigger',
	'webhook',
	'chat',
	'cli',
	'error',
	'integrated',
];

/** Whether the mode of this execution lets the node disable missing documents. */
export function mayDisableInExecution({ first, settings }: Submission): boolean {
	const mode = outermostMode(first.context);
	return (
		DISABLING_EXECUTION_MODES.includes(mode) || (mode === 'manual' && settings.disableInManualRuns)
	);
}

/** Fewer missing documents than this are always allowed, with the exceptions in `exceedsShare`. */
const ALWAYS_ALLOWED_BELOW = 10;

/**
 * Whether more documents are missing than `maxPercent` allows. Ignores the limit if only a few are missing. Even then,
 * the limit applies if at least half of the documents are missing, or if `maxPercent` is 0.
 */
export function exceedsShare(missing: number, before: number, maxPercent: number): boolean {
	const isFew = missing < ALWAYS_ALLOWED_BELOW && missing * 2 < before && maxPercent > 0;
	return !isFew && percentRoundedUp(missing, before) > maxPercent;
}

/** Returns a share in percent. Rounds up, because messages suggest this number as a sufficient limit. */
export function percentRoundedUp(part: number, whole: number): number {
	return whole === 0 ? 0 : Math.ceil((part * 100) / whole);
}
