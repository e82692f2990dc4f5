import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { BodyFiles, ContenderName, Measurement, Task } from '../contenders/contender';
import { figure } from '../page/words';
import { numberIn } from '../run/figures';
import type { Entry, Figures } from '../run/part';
import { runInChild } from './processes';
import { startServer } from './server';
import type { Arrived, ServerSettings } from './server';

type Work = Omit<Task, 'target' | 'bodies'>;

const CONTENDERS = path.join(__dirname, '..', 'contenders');

/** Who sends what was recorded of Submit, so that the bytes can be compared. */
const SAME_BODIES = ['submit', 'helper', 'axios'];

/** Whose bodies are recorded: its own, mapped by name, or mapped by hand. */
const RECORDED: Partial<Record<ContenderName, ContenderName>> = {
	submit: 'submit',
	helper: 'submit',
	axios: 'submit',
	resolving: 'submitByHand',
};

const NO_BODIES: BodyFiles = { warmUpBytes: 0, restBytes: 0 };

/** Contenders that store documents, each measured in a process of its own against a server of its own. */
export function ingestion(usualServer: ServerSettings = {}) {
	let folder: string | undefined;
	const recorded = new Map<string, Promise<BodyFiles>>();

	/** What Submit sends for the documents of a task; recorded once. */
	const bodiesOf = async (work: Work): Promise<BodyFiles> => {
		const contender = RECORDED[work.contender];
		if (contender === undefined) return NO_BODIES;
		const { documents, warmUp, documentBytes, batchSize } = work;
		const key = [contender, documents, warmUp, documentBytes, batchSize].join('-');
		folder ??= mkdtempSync(path.join(tmpdir(), 'xpertai-bench-'));
		const files = {
			warmUp: path.join(folder, `${key}-warm-up`),
			rest: path.join(folder, key),
			warmUpBytes: 0,
			restBytes: 0,
		};
		const known =
			recorded.get(key) ??
			runInChild<BodyFiles>(path.join(CONTENDERS, 'captureChild.js'), {
				...work,
				contender,
				bodies: files,
			});
		recorded.set(key, known);
		return await known;
	};

	const measure = async (work: Work, settings: ServerSettings): Promise<Figures> => {
		const bodies = await bodiesOf(work);
		const server = await startServer(settings);
		try {
			const task: Task = { ...work, target: server.target, bodies };
			const module = path.join(CONTENDERS, 'child.js');
			const measured = await runInChild<Measurement>(module, task, { env: server.env });
			const arrived = await server.ask('arrived');
			check(task, measured, arrived);
			return { ...measured, requests: arrived.requests };
		} finally {
			await server.stop();
		}
	};

	return {
		measuring: (work: Work, settings = usualServer): Pick<Entry, 'measure' | 'say'> => ({
			measure: async () => await measure(work, settings),
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
	if (SAME_BODIES.includes(task.contender) && arrived.bytes !== bytes)
		throw new Error(`Submit sends ${bytes} bytes for these documents, and ${arrived.bytes} came`);
}
