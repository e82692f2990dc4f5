import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { attempt, isError } from 'lodash';
import { format, resolveConfig } from 'prettier';
import { z } from 'zod';

import { buildIfStale } from '../host/nodePackage';
import { n8nFolder, projectRoot } from '../host/paths';
import { changesPart } from './parts/changes';
import { filesPart } from './parts/files';
import { heapPart } from './parts/heap';
import { loadPart } from './parts/load';
import { n8nPart } from './parts/n8n';
import { questionsPart } from './parts/questions';
import { sourcesPart } from './parts/sources';
import { turnsPart } from './parts/turns';
import { unchangedPart } from './parts/unchanged';
import { keepRows, keptRows } from './support/keptRows';
import { type Row, figure, pageOf, tableOf } from './report';

const PARTS = [
	n8nPart,
	questionsPart,
	unchangedPart,
	filesPart,
	turnsPart,
	sourcesPart,
	heapPart,
	changesPart,
	loadPart,
];

const PAGE = path.join(projectRoot, 'docs', 'benchmarks.md');

function readOptions() {
	const names = PARTS.map(({ name }) => name);
	const { values } = parseArgs({
		options: {
			quick: { type: 'boolean', default: false },
			million: { type: 'boolean', default: false },
			only: { type: 'string' },
		},
	});
	const wanted = values.only?.split(',') ?? names;
	if (wanted.some((name) => !names.includes(name)))
		throw new Error(`--only takes ${names.join(', ')}, separated by commas`);
	const { quick, million } = values;
	return { quick, million, parts: PARTS.filter(({ name }) => wanted.includes(name)) };
}

const packageSchema = z.object({ version: z.string() });

/** The version of the n8n that was measured. */
function n8nVersion(): string {
	const about = path.join(n8nFolder, 'node_modules', 'n8n', 'package.json');
	if (!existsSync(about)) return 'not installed';
	return packageSchema.parse(JSON.parse(readFileSync(about, 'utf8'))).version;
}

async function main(): Promise<void> {
	const options = attempt(readOptions);
	if (isError(options)) {
		console.error(`npm run bench: ${options.message}`);
		process.exitCode = 1;
		return;
	}
	const { parts, ...size } = options;
	const { quick, million } = size;
	// What is measured is what users install, so it has to be what the sources say.
	await buildIfStale(console.log);
	const started = performance.now();
	const rows: Row[] = [];
	for (const part of parts) {
		console.log(`Measuring ${part.name}`);
		const measured = await part.measure(size);
		rows.push(...measured);
		if (!quick && !million) keepRows(part.name, measured);
	}
	const style = { ...(await resolveConfig(PAGE)), filepath: PAGE };
	// A small trial shows how it runs, not how it stands.
	const shown = quick ? rows.map(({ met: _, ...row }) => row) : rows;
	console.log(await format(tableOf(shown), style));
	console.log(`This took ${figure((performance.now() - started) / 60_000, 1)} minutes.`);
	const all = keptRows(PARTS.map(({ name }) => name));
	if (quick || million || !all) return;
	writeFileSync(PAGE, await format(pageOf(all, n8nVersion()), style));
	console.log(`${path.relative(projectRoot, PAGE)} is written.`);
}

main().catch((error: unknown) => {
	console.error(error);
	process.exitCode = 1;
});
