import type { FoundMeasurement, FoundTask } from '../children/foundChild';
import { figure, judged, table, withSpread } from '../page/words';
import { numberIn, numbers, ratios } from '../run/figures';
import type { Entry, Figures, Part, PartResults, Section } from '../run/part';
import { runInChild } from '../support/processes';
import { onServer } from '../support/server';

const MODEL_MS = 50;
const FILE_BYTES = 10 * 1024;
const DISTANCE = { roundTripMs: 30, documentMs: 12, uploadMs: 20 };

const AIMS = [
	{
		what: 'files to found, 10 KB each, a model that takes 50 ms a document',
		against: 'the same steps as separate nodes, one after another',
		aim: '≥ 3 times as fast',
	},
];

const NAMES = { submit: 'Document: Submit', steps: 'separate nodes' };

/** How long it takes until files can be found. */
export const foundPart: Part = {
	name: 'found',
	title: 'From files until they are found',
	aims: AIMS,
	plan: ({ quick }) => {
		const files = quick ? 40 : 200;
		const entry = (contender: FoundTask['contender'], seconds: number): Entry => ({
			name: NAMES[contender],
			seconds,
			measure: async () => await measure(contender, files),
			say: (figures) => `found after ${figure(numberIn(figures, 'seconds'), 1)} s`,
		});
		return {
			sizes: { files },
			rounds: 1,
			entries: [entry('submit', 4 + files * 0.025), entry('steps', 4 + files * 0.13)],
		};
	},
	report,
};

async function measure(contender: FoundTask['contender'], files: number): Promise<Figures> {
	return await onServer(
		{
			distance: DISTANCE,
			processMs: MODEL_MS,
			keepContents: true,
		},
		async (server) => {
			const task: FoundTask = { contender, files, fileBytes: FILE_BYTES, target: server.target };
			const env = { ...server.env, N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' };
			const measured = await runInChild<FoundMeasurement>('children/foundChild.js', task, { env });
			if (measured.found !== files)
				throw new Error(`Of ${files} files, ${measured.found} can be found`);
			return { ...measured };
		},
	);
}

function report(results: PartResults): Section {
	const seconds = (name: string) => numbers(results, name, 'seconds');
	const { files = 0 } = results.sizes;
	return {
		aims: [
			judged(AIMS[0], ratios(seconds(NAMES.steps), seconds(NAMES.submit)), (times) => times >= 3, {
				digits: 1,
				unit: ' times',
			}),
		],
		text: `
${figure(files)} files of 10 KB lie in n8n's file-system binary data. The server lies behind TLS and 30 ms of round trip, and is as slow as a real one was: storing a document is set to 12 ms of its work, which requests share; taking a file is set to 20 ms of its work (17 to 24 were measured), and processing a document to 50 ms, documents of one request one after another and five requests at once.

_Document: Submit_ is as it is when it is added to a workflow, with Documents From = Files: it uploads, stores, has the server process, and waits. _Separate nodes_ are File: Upload, Document: Submit (After Storing = Nothing), Document: Start Processing, and Document: Get Processing Status once a second, each with its defaults and each begun when the one before has ended.

${table(
	['', 'seconds until all are found', 'processor time, s'],
	Object.values(NAMES).map((name) => [
		name,
		withSpread(seconds(name), 1),
		withSpread(numbers(results, name, 'cpuSeconds'), 1),
	]),
)}
`,
	};
}
