import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { uniq } from 'lodash';

import { buildIfStale } from '../host/nodePackage';
import { projectRoot } from '../host/paths';
import { aimsOf, pageOf } from './page/page';
import { PARTS } from './parts';
import { measureAll } from './run/measure';
import type { Part } from './run/part';
import { minutes } from './run/progress';
import { formatted, readResults, thisMachine, writeResults } from './run/results';
import type { Results } from './run/results';

/** Where results and the page go. */
interface Places {
	results: string;
	page: string;
}

const FULL: Places = {
	results: path.join(projectRoot, 'bench', 'results.json'),
	page: path.join(projectRoot, 'docs', 'benchmarks.md'),
};

const TRIAL_FOLDER = path.join(projectRoot, 'bench', 'dist', 'quick');

const TRIAL: Places = {
	results: path.join(TRIAL_FOLDER, 'results.json'),
	page: path.join(TRIAL_FOLDER, 'benchmarks.md'),
};

function readOptions() {
	const { values } = parseArgs({
		options: {
			quick: { type: 'boolean', default: false },
			only: { type: 'string', default: PARTS.map(({ name }) => name).join(',') },
			render: { type: 'boolean', default: false },
		},
	});
	const wanted = values.only.split(',').map((name) => {
		const part = PARTS.find((one) => one.name === name);
		if (part) return part;
		throw new Error(`--only takes ${PARTS.map((one) => one.name).join(', ')}`);
	});
	return { quick: values.quick, render: values.render, wanted };
}

/** Measures parts, and puts them in place of what was measured of them before. */
async function measured(wanted: Part[], quick: boolean, places: Places): Promise<Results> {
	// What is measured is what users install, so it has to be what the sources say.
	await buildIfStale((line) => console.log(line));
	const started = performance.now();
	const before = wanted.length < PARTS.length ? readResults(places.results) : undefined;
	const machine = oneOf(thisMachine(), before?.machine);
	const parts = await measureAll(wanted, { quick });
	const taken = (performance.now() - started) / 1000;
	console.log(`\nMeasured in ${minutes(taken)}.`);
	const wholeRun = before?.minutes ?? taken / 60;
	return { machine, quick, minutes: wholeRun, parts: { ...before?.parts, ...parts } };
}

/** This machine; where parts were measured on another, its processor is named as well. */
function oneOf(machine: Results['machine'], before?: Results['machine']): Results['machine'] {
	const processors = uniq([...(before?.processor.split(OR) ?? []), machine.processor]);
	return { ...machine, processor: processors.join(OR) };
}

const OR = ' or ';

async function write(results: Results, places: Places): Promise<void> {
	mkdirSync(path.dirname(places.page), { recursive: true });
	const markdown = pageOf(results, PARTS);
	writeFileSync(places.page, await formatted(places.page, markdown));
	console.log(`${path.relative(projectRoot, places.page)} is written.`);
}

function sayAims(results: Results, wanted: Part[]): void {
	for (const { what, against, aim, measured: said, met } of aimsOf(results, wanted)) {
		const standing = met === undefined ? '?' : met ? 'met' : 'NOT MET';
		console.log(`${standing.padEnd(8)} ${what}, against ${against}: ${said}, aim ${aim}`);
	}
}

async function main(): Promise<void> {
	const { quick, render, wanted } = readOptions();
	const places = quick ? TRIAL : FULL;
	const results = render ? readResults(places.results) : await measured(wanted, quick, places);
	if (!results) throw new Error(`There are no results at ${places.results}`);
	if (!render) await writeResults(places.results, results);
	await write(results, places);
	sayAims(results, wanted);
	if (wanted.some(({ name }) => results.parts[name]?.missing !== undefined)) process.exitCode = 1;
}

main().catch((error: unknown) => {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
});
