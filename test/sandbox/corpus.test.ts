import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { upload } from './support/client';
import { ask, newKnowledgebase, process, store } from './support/knowledge';
import { useSandboxForAll } from './support/useSandbox';

const DOCUMENTS = join(__dirname, '../../examples/documents');
const SHEET = { type: 'txt', mimeType: 'text/plain' };

const files = readdirSync(DOCUMENTS, { recursive: true, encoding: 'utf8' }).filter(
	(path) => extname(path) !== '',
);

const { client } = useSandboxForAll({ processMs: 1 });

/** Uploads a file and gives the document that points to it, by the way an ingestion goes. */
async function documentOf(path: string) {
	const { id: storageFileId, url: fileUrl } = await upload(
		client,
		readFileSync(join(DOCUMENTS, path)),
		basename(path),
	);
	const id = randomUUID();
	return { id, name: path, storageFileId, fileUrl, ...(path.endsWith('.csv') && SHEET) };
}

beforeAll(async () => {
	const knowledgebase = await newKnowledgebase(client);
	const documents = await Promise.all(files.map(documentOf));
	await store(client, knowledgebase, documents);
	const ids = documents.map(({ id }) => id);
	const states = await process(client, knowledgebase, ids);
	expect(new Set(states.map(({ status }) => status))).toEqual(new Set(['finish']));
});

describe('the corpus of the examples', () => {
	it.each<[question: string, file: string, sentence: string]>([
		[
			'How long does the warranty last?',
			'service/warranty.pdf',
			'The warranty for the Hobnell 250 lasts three years from the day the roaster was delivered to you.',
		],
		[
			'How long does the burn-in last?',
			'handbook/quick-start.pdf',
			'A new roaster needs one burn-in without beans, which lasts 18 minutes and removes the oil that protected the drum in the factory.',
		],
		[
			'What is the price of the drive belt for the drum?',
			'service/spare-parts.csv',
			'HB-101,Drive belt for the drum,12.50 EUR,Hobnell 250',
		],
		[
			'What does code E2 mean?',
			'service/troubleshooting.md',
			'Code E2 means that the drum is blocked, usually by more than 250 grams of beans or by a bean stuck at the rim.',
		],
	])('answers "%s" from %s with a sentence', async (question, file, sentence) => {
		expect(await ask(client, question)).toBe(`According to "${file}": "${sentence}"`);
	});
});
