import { WORKSPACE_ID } from 'sandbox';
import { USER_KEY } from './support/caseOperations';
import { BY_NAME, TEXTS, column, useIngest, rows } from './support/ingest';
import { byId } from './support/locators';

const { fixture, submit } = useIngest();

const text = (name: string) => ({ json: { name, text: `The word is ${name}.` } });
const UNKNOWN = 'b7b0a3c8-5f0b-4c8f-9f0e-3d1f7c1c2a11';

describe('the key of a workspace and a new knowledgebase of it', () => {
	beforeEach(() => {
		const { store } = fixture.sandbox;
		Object.assign(store.knowledgebases.get(fixture.world.knowledgebaseId) ?? {}, {
			workspaceId: WORKSPACE_ID,
		});
	});
	const FIRST =
		"Either this is the first document of a new knowledgebase, which the key of a workspace cannot store: store one with a user's or an assistant's key; after that, this key works. Or the knowledgebase belongs to another workspace: check it, and the key.";

	it.each([
		['all', 'rejected'],
		['changed', 'not sent'],
	])(
		'are told why the first document is not stored, and what to do: %s, %s',
		async (mode, outcome) => {
			const { error } = await submit({ ...TEXTS, mode }, { items: [text('a')] });
			expect(error?.message).toBe(
				`This key may not do this: Access denied to workspace (HTTP 403). Documents: 1 ${outcome}`,
			);
			expect(error?.description).toContain(FIRST);
			expect(error?.description).not.toContain('creates and updates no knowledgebases');
		},
	);

	it.each(['all', 'changed'])('work together once a user has stored one (%s)', async (mode) => {
		const credential = { accessToken: USER_KEY };
		await submit({ ...TEXTS, mode }, { items: [text('a')], credential });
		const { items } = await submit({ ...TEXTS, mode }, { items: [text('b')] });
		expect(column(items, 'outcome')).toEqual(['found']);
	});
});

describe('a knowledgebase that the server does not have', () => {
	const knowledgebaseId = byId(UNKNOWN);

	it.each([
		['all', 'rejected'],
		['changed', 'not sent'],
		['mirror', 'not sent'],
	])('is named by its field: %s, %s', async (mode, outcome) => {
		const { error } = await submit(
			{ ...TEXTS, mode, knowledgebaseId },
			{ items: [text('a'), text('b')] },
		);
		expect(error?.message).toBe(`Knowledgebase ${UNKNOWN} was not found. Documents: 2 ${outcome}`);
		expect(error?.description).toContain('Check "Knowledgebase".');
		expect(error?.description).not.toContain('IDs and names');
	});

	it('may not be what is missing where a document names a file', async () => {
		const { error } = await submit(BY_NAME, { items: rows(1, () => ({ storageFileId: UNKNOWN })) });
		expect(error?.description).toContain('Check "Knowledgebase" and "Storage File ID".');
	});
});
