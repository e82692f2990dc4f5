import { z } from 'zod';

/** The path of the parameter Runs at Once. */
export const CONCURRENCY_PARAMETER = 'tuning.concurrency';

/** A duration in minutes. The maximum is the longest timer of Node.js. */
const deadlineMinutesSchema = z.number().positive().min(0.001).max(35_791);

/** Settings of the operations on runs. Hidden options have their default values (see `valueIfAbsent`). */
export const runSettingsSchema = z.object({
	options: z.object({
		citations: z.enum(['numbers', 'asWritten', 'none']),
		deadlineMinutes: deadlineMinutesSchema,
		include: z.array(z.enum(['sources', 'passages', 'steps'])),
		showInChat: z.enum(['asWritten', 'whole', 'hidden']),
		title: z.string().trim().optional(),
		whenGivenUp: z.enum(['leave', 'cancel']),
	}),
	tuning: z.object({
		cancelSilentMinutes: z.number().min(0).max(35_791),
		inOneRequest: z.boolean(),
		whenBusy: z.enum(['wait', 'fail', 'run']),
	}),
});

export type RunOptions = z.infer<typeof runSettingsSchema>['options'];
