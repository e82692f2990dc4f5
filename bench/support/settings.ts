import type { ServerKind } from './server';

/** The options every benchmark takes. */
export const SHARED_OPTIONS = {
	'batch-size': { type: 'string', default: '100' },
	server: { type: 'string', default: 'sandbox' },
} as const;

/** What they say. */
export interface SharedSettings {
	batchSize: number;
	server: ServerKind;
}

/** Reads the shared options; throws when one cannot be used. */
export function readShared(values: { 'batch-size': string; server: string }): SharedSettings {
	const { server } = values;
	if (server !== 'sandbox' && server !== 'bare') throw new Error('--server is sandbox or bare');
	return { batchSize: whole('--batch-size', values['batch-size']), server };
}

/** A whole number from 1; throws for anything else. */
export function whole(option: string, text: string): number {
	const number = Number(text);
	if (!Number.isInteger(number) || number < 1)
		throw new Error(`${option} takes whole numbers from 1`);
	return number;
}

/** Whole numbers from 1 with commas between them. */
export const wholes = (option: string, text: string): number[] =>
	text.split(',').map((part) => whole(option, part));

/** Runs a benchmark; what ends it early is told in one line. */
export function runBenchmark(main: () => Promise<void>): void {
	main().catch((error: unknown) => {
		console.error(error instanceof Error ? error.message : error);
		process.exitCode = 1;
	});
}
