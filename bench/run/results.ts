import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type as system } from 'node:os';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { z } from 'zod';

import { NODES_BASE } from '../support/paths';

const figures = z.record(z.union([z.number(), z.array(z.number())]));

const resultsSchema = z.object({
	machine: z.object({
		processor: z.string(),
		cores: z.number(),
		memoryGigabytes: z.number(),
		system: z.string(),
		node: z.string(),
		n8n: z.string().optional(),
	}),
	quick: z.boolean(),
	/** How long the last run of all parts took. */
	minutes: z.number(),
	parts: z.record(
		z.object({
			measuredAt: z.string(),
			sizes: z.record(z.number()),
			missing: z.string().optional(),
			entries: z.record(z.array(figures)),
		}),
	),
});

/** All that was measured; the page is made of nothing else. */
export type Results = z.infer<typeof resultsSchema>;

/** Reads results, if there are any. */
export function readResults(file: string): Results | undefined {
	if (!existsSync(file)) return undefined;
	return resultsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
}

/** Writes results. */
export async function writeResults(file: string, results: Results): Promise<void> {
	mkdirSync(path.dirname(file), { recursive: true });
	writeFileSync(file, await formatted(file, JSON.stringify(results, rounded)));
}

/** A text in the style of this project's files. */
export async function formatted(file: string, text: string): Promise<string> {
	return await format(text, { ...(await resolveConfig(file)), filepath: file });
}

const DIGITS = 6;

/** More digits than were measured only fill the file. */
function rounded(_key: string, value: unknown): unknown {
	return typeof value === 'number' && !Number.isInteger(value)
		? Number(value.toPrecision(DIGITS))
		: value;
}

const packageSchema = z.object({ version: z.string() });

/** This machine, and what runs on it. */
export function thisMachine(): Results['machine'] {
	const [processor] = cpus();
	const about = path.join(NODES_BASE, '..', 'n8n', 'package.json');
	return {
		processor: processor?.model.trim() ?? 'unknown',
		cores: cpus().length,
		memoryGigabytes: Math.round(totalmem() / 2 ** 30),
		system: `${system()} ${release().split('-')[0]}`,
		node: process.version,
		...(existsSync(about)
			? { n8n: packageSchema.parse(JSON.parse(readFileSync(about, 'utf8'))).version }
			: {}),
	};
}
