import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { Container } from '@n8n/di';
import axios from 'axios';
import { mapValues, range } from 'lodash';
import { BinaryDataService } from 'n8n-core';
import type { IBinaryData, INodeParameters } from 'n8n-workflow';

import { projectRoot } from '../../host/paths';
import { byId } from '../../test/engine/support/locators';
import { type NodeEngine, createNodeEngine } from '../../test/engine/support/nodeEngine';
import { type Part, bounded, compared, figure } from '../report';
import { runInChild, serveTask, timed } from '../support/processes';
import { type Target, onServer } from '../support/server';

/** Rounds over so many files that n8n keeps on disk. */
interface FilesTask {
	rounds: number;
	files: number;
}

/** What one file took in each round. */
interface FileCost {
	cpuSeconds: number[];
	opened: number[];
}

const WORKS = ['sent', 'unchanged', 'uploaded', 'hashed'] as const;

type Work = (typeof WORKS)[number];

const KILOBYTES = 100;

/** What the node does with a file, the same by hand, and how often the file may be opened. */
const ROWS = {
	unchanged: {
		title: `an unchanged file of ${KILOBYTES} kB`,
		byHand: ['hashed', 'by hand: opened once and its SHA-256 taken'],
		opened: 1,
		most: 6,
	},
	sent: {
		title: `a changed file of ${KILOBYTES} kB that is sent`,
		byHand: ['uploaded', 'by hand: opened once and uploaded in a request of its own'],
		opened: 2,
		most: 3,
	},
} as const;

/** What a stored file takes: of the processor, and how often n8n opens it. */
export const filesPart: Part = {
	name: 'files',
	measure: async ({ quick }) => {
		const task: FilesTask = { rounds: quick ? 2 : 5, files: quick ? 20 : 200 };
		const costs = await runInChild<Record<Work, FileCost>>(__filename, task);
		return (['unchanged', 'sent'] as const).flatMap((work) => {
			const { title, byHand, opened, most } = ROWS[work];
			const of = `${title}, Send New and Changed`;
			const theirs = costs[byHand[0]];
			return [
				compared(
					`processor time of ${of}`,
					costs[work].cpuSeconds,
					[byHand[1], theirs.cpuSeconds],
					{ most },
				),
				bounded(
					`how often n8n opens ${of}`,
					costs[work].opened,
					{ most: opened },
					{ beside: `by hand: ${figure(theirs.opened[0] ?? 0)}` },
				),
			];
		});
	},
};

/** In a process of its own: each round has new files. */
async function runInProcess({ rounds, files }: FilesTask): Promise<Record<Work, FileCost>> {
	const engine = await createNodeEngine(projectRoot);
	const opened = countOpened();
	return await onServer('sandbox', async ({ target }) => {
		const costs = mapValues(
			{ sent: 0, unchanged: 0, uploaded: 0, hashed: 0 },
			(): FileCost => ({ cpuSeconds: [], opened: [] }),
		);
		// The first round has all code compiled.
		for (const round of range(rounds + 1)) {
			const stored = await storedFiles(engine, round, files);
			for (const work of WORKS) {
				const before = opened.count;
				const { cpuSeconds } = await timed(async () => await doWork(work, engine, target, stored));
				if (round === 0) continue;
				costs[work].cpuSeconds.push(cpuSeconds / files);
				costs[work].opened.push((opened.count - before) / files);
			}
		}
		return costs;
	});
}

/** Counts how often n8n opens a file of binary data from now on. */
function countOpened() {
	const opened = { count: 0 };
	const service = Container.get(BinaryDataService);
	const open = service.getAsStream.bind(service);
	service.getAsStream = async (id, chunkSize) => {
		opened.count += 1;
		return await open(id, chunkSize);
	};
	return opened;
}

async function storedFiles(engine: NodeEngine, round: number, count: number) {
	const stored: IBinaryData[] = [];
	for (const at of range(count)) {
		const text = `File ${at} of round ${round}. `.repeat(KILOBYTES * 50).slice(0, KILOBYTES * 1000);
		stored.push(await engine.binary(Buffer.from(text), `file-${at}.md`, 'text/markdown'));
	}
	return stored;
}

async function doWork(work: Work, engine: NodeEngine, target: Target, files: IBinaryData[]) {
	if (work === 'hashed') for (const file of files) await hash(file);
	else if (work === 'uploaded') for (const file of files) await upload(target, file);
	else await submit(engine, target, files, work === 'sent' ? 'stored' : 'unchanged');
}

const streamOf = async ({ id = '' }: IBinaryData) =>
	await Container.get(BinaryDataService).getAsStream(id);

async function hash(file: IBinaryData): Promise<string> {
	const sum = createHash('sha256');
	for await (const piece of await streamOf(file)) sum.update(piece as Buffer);
	return sum.digest('hex');
}

async function upload({ credential }: Target, file: IBinaryData): Promise<void> {
	const content = await buffer(await streamOf(file));
	const form = new FormData();
	form.append('file', new Blob([content], { type: file.mimeType }), file.fileName);
	const headers = { Authorization: `Bearer ${credential.accessToken}` };
	await axios.post(`${credential.baseUrl}/api/ai/v1/file`, form, { headers, proxy: false });
}

async function submit(
	engine: NodeEngine,
	{ credential, knowledgebaseId }: Target,
	files: IBinaryData[],
	outcome: 'stored' | 'unchanged',
): Promise<void> {
	const parameters: INodeParameters = {
		resource: 'document',
		operation: 'submit',
		source: 'files',
		mode: 'changed',
		sourceName: 'Benchmark',
		knowledgebaseId: byId(knowledgebaseId),
		options: { output: 'summary', afterStoring: 'nothing' },
	};
	const items = files.map((data) => ({ json: {}, binary: { data } }));
	const result = await engine.run({ parameters, credential, items });
	if (result.error) throw result.error;
	const json = result.items[0]?.json;
	if (json?.[outcome] !== files.length) throw new Error(`Not ${outcome}: ${JSON.stringify(json)}`);
}

if (require.main === module) serveTask(runInProcess);
