import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { json } from 'node:stream/consumers';

import type { IDataObject } from 'n8n-workflow';

import { sequence } from '../sandbox/support/recordings';
import type { SequenceExchange } from '../sandbox/support/recordings';
import { createEngine } from './support/engine';
import type { Engine, NodeResult } from './support/engine';
import { hintsOf } from './support/ingest';
import { listen } from './support/listen';
import { byId } from './support/locators';
import { detailsOf } from './support/runs';
import { useShortSleeps } from './support/shortSleeps';

type Recorded = IDataObject & { id: string; name?: string };

const EXCHANGES = sequence('searchable');

function labelled(label: string): SequenceExchange {
	const found = EXCHANGES.find((exchange) => exchange.label === label);
	if (!found) throw new Error(`nothing labelled "${label}" is recorded`);
	return found;
}

const sentIn = (label: string) => labelled(label).request.body as Recorded[];

/** The documents that a recorded server answered with. */
const answeredIn = ({ response }: SequenceExchange) =>
	('body' in response && Array.isArray(response.body) ? response.body : []) as Recorded[];

/** What the recorded server answers to a request; where it answered several times, the first or the last. */
function recordedAnswer(endpoint: string, ids: string[]): Recorded[] {
	const answers = EXCHANGES.filter((exchange) => exchange.endpoint === endpoint).flatMap(
		answeredIn,
	);
	return ids.flatMap((id) => {
		const ofId = answers.filter((answer) => answer.id === id);
		return ofId.slice(endpoint === 'status' ? -1 : 0)[0] ?? [];
	});
}

/** A server that answers as the recorded one did. */
function recordedServer(): Server {
	return createServer((request, response) => {
		const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
		const answer = async () => {
			if (pathname.endsWith('/status'))
				return recordedAnswer('status', searchParams.get('ids')?.split(',') ?? []);
			const body = (await json(request)) as Array<string | Recorded>;
			const ids = body.map((one) => (typeof one === 'string' ? one : one.id));
			return recordedAnswer(pathname.endsWith('/process') ? 'process' : 'E3', ids);
		};
		void answer().then((documents) =>
			response
				.writeHead(pathname.endsWith('/status') ? 200 : 201, {
					'Content-Type': 'application/json; charset=utf-8',
				})
				.end(JSON.stringify(documents)),
		);
	});
}

let engine: Engine;
let server: Server;
let baseUrl: string;
beforeAll(async () => {
	engine = await createEngine();
	server = recordedServer();
	baseUrl = `http://127.0.0.1:${await listen(server)}`;
});
afterAll(() => void server.close());
useShortSleeps();

/** Submits the documents of a recorded request to where they went. */
async function submitRecorded(label: string, parameters: IDataObject = {}): Promise<NodeResult> {
	const [, knowledgebaseId = ''] = /knowledges\/([^/]+)/.exec(labelled(label).request.path) ?? [];
	return await engine.run({
		parameters: {
			resource: 'document',
			operation: 'submit',
			knowledgebaseId: byId(knowledgebaseId),
			source: 'json',
			jsonBody: JSON.stringify(sentIn(label)),
			documentIdMode: 'field',
			...(parameters as object),
		},
		credential: { baseUrl, accessToken: 'token' },
		onError: 'continueErrorOutput',
	});
}

/** A document by its name and what else is sent of it. */
const kindOf = ({ id: _, name = 'no name', ...rest }: Recorded) =>
	`${name} with ${Object.keys(rest).join(', ') || 'nothing else'}`;

/** What comes out of a document: the field it comes out under, and what to do about it. */
interface Expected {
	processing: 'finish' | 'error';
	said?: string;
	advice?: RegExp;
}

const FOUND: Expected = { processing: 'finish' };
const WITHOUT_FILE: Expected = {
	processing: 'error',
	said: "Cannot read properties of undefined (reading 'Symbol(Symbol.asyncIterator)')",
	advice: /Servers read files and nothing else, and this document has none\. Send its text/,
};
const OUT_OF_REACH = /The server could not fetch the file from its address/;

const TABLE: Record<string, Expected> = {
	'animals.md with storageFileId, fileUrl': FOUND,
	'zebras.txt with fileUrl': FOUND,
	'table.csv with storageFileId, fileUrl': {
		processing: 'error',
		said: 'EISDIR: illegal operation on a directory, read',
		advice: /Type set to txt and MIME Type to text\/plain/,
	},
	'table.csv with storageFileId, fileUrl, type, mimeType': FOUND,
	'page.html with storageFileId, fileUrl': FOUND,
	'naïve ünïcode 文件.md with storageFileId, fileUrl': FOUND,
	'no name with storageFileId, fileUrl': FOUND,
	'both.md with filePath, fileUrl': FOUND,
	'mixed.md with fileUrl, pages': FOUND,
	'animals.md with fileUrl, parserConfig': FOUND,
	'animals.md with storageFileId': WITHOUT_FILE,
	'pages.md with type, pages': WITHOUT_FILE,
	'chunks.md with type, chunks': WITHOUT_FILE,
	'path.md with filePath, pages': {
		processing: 'error',
		said: "Unable to resolve a readable file for document 'path.md'.",
		advice: /The server looks for File Path on its own disk\. Leave it out, and send the file/,
	},
	'dead.md with fileUrl': {
		processing: 'error',
		said: 'connect ECONNREFUSED 127.0.0.1:9',
		advice: OUT_OF_REACH,
	},
	'gone.md with fileUrl': {
		processing: 'error',
		said: "Failed to get '{base_url}/public/files/none.md' (404)",
		advice: OUT_OF_REACH,
	},
	'empty with nothing else': WITHOUT_FILE,
};

describe('what the recorded server makes of documents, as Submit reports it', () => {
	const documents = sentIn('store documents of every kind');
	let result: NodeResult;
	beforeAll(async () => {
		result = await submitRecorded('store documents of every kind');
	});

	it('is expected of every kind that was recorded', () => {
		expect(Object.keys(TABLE).sort()).toEqual(documents.map(kindOf).sort());
	});

	it.each(Object.entries(TABLE))('%s', (kind, { processing, said, advice }) => {
		const id = documents.find((document) => kindOf(document) === kind)?.id;
		const [found, failed] = result.outputs;
		const onMain = found?.filter(({ json: { id: own } }) => own === id) ?? [];
		const onError = failed?.filter((item) => detailsOf(item).id === id) ?? [];
		expect([onMain.length, onError.length]).toEqual(processing === 'finish' ? [1, 0] : [0, 1]);
		if (processing === 'finish') {
			expect(onMain[0]?.json).toMatchObject({ outcome: 'found', processing, status: 201 });
			return;
		}
		expect(onError[0]?.json.error).toBe(`The document could not be processed: ${said}`);
		expect(detailsOf(onError[0])).toMatchObject({
			outcome: 'stored',
			processing,
			processMsg: said,
			description: expect.stringMatching(advice ?? ''),
		});
	});

	it('tells of parts that do nothing, and how many are not found', () => {
		expect(hintsOf(result)).toEqual(
			expect.arrayContaining([
				'Documents: 9 found, 8 stored (2 batches).',
				'8 documents are stored but not found: not processed.',
				expect.stringContaining('the pages are not read'),
				expect.stringContaining('File Path'),
			]),
		);
	});
});

describe('of other recorded requests, Submit reports', () => {
	it('a knowledgebase without an embedding model, and what to do about it', async () => {
		const { outputs } = await submitRecorded('store there');
		const [failed] = outputs[1] ?? [];
		expect(outputs.map((items) => items.length)).toEqual([0, 1]);
		expect(failed?.json.error).toMatch(
			/^The document could not be processed: Embedding model not set for knowledgebase 'No model/,
		);
		expect(detailsOf(failed).description).toMatch(
			/Give it one with Knowledgebase: Create or Update, field Embedding Model/,
		);
	});

	it('a document sent again as found', async () => {
		const { items } = await submitRecorded('same document again');
		expect(items.map(({ json: { processing } }) => processing)).toEqual(['finish']);
	});

	it.each(['disable, all else left out', 'enable by sending it whole'])(
		'"%s" as stored, when nothing is to be processed',
		async (label) => {
			const { items } = await submitRecorded(label, { options: { afterStoring: 'nothing' } });
			expect(
				items.map(({ json: { id, outcome, processing } }) => [id, outcome, processing]),
			).toEqual(sentIn(label).map(({ id }) => [id, 'stored', 'none']));
		},
	);
});
