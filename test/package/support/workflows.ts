import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';
import { z } from 'zod';

const FOLDER = path.resolve(__dirname, '../../../.github/workflows');

const permissionsSchema = z.record(z.enum(['read', 'write', 'none']));

const stepSchema = z.object({
	uses: z.string().optional(),
	run: z.string().optional(),
	with: z.record(z.unknown()).default({}),
});

const jobSchema = z.object({
	uses: z.string().optional(),
	permissions: permissionsSchema.default({}),
	'timeout-minutes': z.number().optional(),
	strategy: z.object({ matrix: z.record(z.unknown()) }).optional(),
	steps: z.array(stepSchema).default([]),
});

const workflowSchema = z.object({
	permissions: permissionsSchema,
	jobs: z.record(jobSchema),
});

export type Job = z.infer<typeof jobSchema>;

/** A workflow of the continuous integration, as text and as what it says. */
export interface Workflow extends z.infer<typeof workflowSchema> {
	name: string;
	text: string;
}

/** Every workflow in `.github/workflows`. */
export function readWorkflows(): Workflow[] {
	return readdirSync(FOLDER).map((name) => {
		const text = readFileSync(path.join(FOLDER, name), 'utf8');
		return { name, text, ...workflowSchema.parse(parse(text)) };
	});
}

/** The commands a job runs, those that its matrix names included. */
export function commandsOf({ steps, strategy }: Job): string[] {
	const included = strategy?.matrix.include;
	const entries = Array.isArray(included) ? (included as Array<Record<string, unknown>>) : [{}];
	const written = steps.flatMap(({ run }) => run?.split('\n') ?? []);
	return entries.flatMap(({ script, setup }) =>
		written
			.filter((command) => setup !== undefined || !command.includes('$SETUP'))
			.map((command) =>
				command.replace('"$SCRIPT"', String(script)).replace('"$SETUP"', String(setup)),
			),
	);
}
