import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { BodyFiles, Measurement, Task } from '../contenders/contender';
import { figure } from '../page/words';
import { numberIn } from '../run/figures';
import type { Entry, Figures } from '../run/part';
import { runInChild } from './processes';
import { onServer } from './server';
import type { Arrived } from './server';

type Work = Omit<Task, 'target' | 'bodies'>;

/** Contenders that store documents, each measured in a process of its own against a server of its own. */
export function ingestion() {
	let folder: string | undefined;
	const recorded = new Map<string, Promise<BodyFiles>>();

	/** What Submit sends for the documents of a task; recorded once. */
	const bodiesOf = async (work: Work): Promise<BodyFiles> => {
		const { documents, warmUp, documentBytes, batchSize } = work;
		const key = [documents, warmUp, documentBytes, batchSize].join('-');
		folder ??= mkdtempSync(path.join(tmpdir(), 'xpertai-bench-'));
		const files = {
			warmUp: path.join(folder, `${key}-warm-up`),
			rest: path.join(folder, key),
			warmUpBytes: 0,
			restBytes: 0,
		};
		const known =
			recorded.get(key) ??
			runInChild<BodyFiles>('contenders/captureChild.js', { ...work, bodies: files });
		recorded.set(key, known);
		return await known;
	};

	const measure = async (work: Work): Promise<Figures> => {
		const bodies = await bodiesOf(work);
		return await onServer({ bare: true }, async (server) => {
			const task: Task = { ...work, target: server.target, bodies };
			const measured = await runInChild<Measurement>('contenders/child.js', task, {
				env: server.env,
			});
			const arrived = await server.ask('arrived');
			check(task, measured, arrived);
			return { ...measured, requests: arrived.requests };
		});
	};

	return {
		measuring: (work: Work): Pick<Entry, 'measure' | 'say'> => ({
			measure: async () => await measure(work),
			say: (figures) =>
				`${figure(numberIn(figures, 'documents') / numberIn(figures, 'seconds'))} documents a second`,
		}),
		close: async () => {
			if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
		},
	};
}

function check(task: Task, measured: Measurement, arrived: Arrived): void {
	if (measured.documents !== task.documents || arrived.documents < task.documents) {
		throw new Error(
			`Of ${task.documents} documents, ${measured.documents} were confirmed and ${arrived.documents} are there`,
		);
	}
	const bytes = task.bodies.restBytes + task.bodies.warmUpBytes;
	if (arrived.bytes !== bytes)
		throw new Error(`Submit sends ${bytes} bytes for these documents, and ${arrived.bytes} came`);
}
