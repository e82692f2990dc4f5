import { optionalKnowledgebaseFields } from '../../nodes/XpertAi/operations/knowledgebase/fields';
import { bodyOf } from '../nodes/support/operations';
import { EMPTY_WORDS } from '../nodes/support/thrown';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';

const fixture = useFixture();

const UNKNOWN = '11111111-1111-4111-8111-111111111111';

/** What a user reads when a run of the node fails. */
async function wordsOf(parameters: Parameters<typeof fixture.run>[0], credential = {}) {
	const { error } = await fixture.run(parameters, { credential });
	const message = error?.message ?? '';
	const description = error?.description ?? '';
	expect(description).not.toMatch(EMPTY_WORDS);
	return { message, description };
}

const answers = (status: number, body: unknown, contentType?: string) =>
	fixture.sandbox.faults.add({ do: 'status', status, body, contentType });

const BROKEN = { statusCode: 500, message: 'Internal server error' };
const update = (id: string, more = {}) => ({
	resource: 'knowledgebase',
	operation: 'update',
	knowledgebaseId: byId(id),
	updateFields: { description: 'new', ...more },
});
const createNamed = (name: string, more = {}) => ({
	resource: 'knowledgebase',
	operation: 'create',
	name,
	additionalFields: more,
});

describe('500 of the store', () => {
	it.each([
		['searchItems', '"Namespace Prefix"', 'They take no Filter.'],
		['createNamespace', '"Prefix"', ''],
	])('says for %s what Xpert needs', async (operation, field, more) => {
		answers(500, BROKEN);
		const { description } = await wordsOf({ resource: 'store', operation });
		expect(description).toContain(
			`On Xpert AI servers the first element of ${field} is the ID of an assistant, and this assistant has an embedding model.`,
		);
		expect(description).toContain(more);
	});
});

describe('403', () => {
	const forbidden = { message: 'Forbidden', statusCode: 403 };

	it('says which key can do what', async () => {
		answers(403, forbidden);
		const { description } = await wordsOf({ resource: 'assistant', operation: 'count' });
		expect(description).toContain(
			"A user's key runs no threads in private workspaces, an assistant's key only those of its assistant; a workspace's key creates and updates no knowledgebases.",
		);
	});

	it('of a knowledgebase says that it may be the key of a workspace', async () => {
		answers(403, forbidden);
		for (const parameters of [createNamed('New'), update(UNKNOWN)]) {
			const { description } = await wordsOf(parameters);
			expect(description).toContain("A workspace's key creates and updates no knowledgebases");
		}
	});

	it('of a file context says what else it may be', async () => {
		const { description } = await wordsOf({
			resource: 'fileContext',
			operation: 'delete',
			fileId: byId(UNKNOWN),
		});
		expect(description).toContain(
			"is no storageFileId, to a file that is gone, and to a workspace's",
		);
	});
});

describe('404', () => {
	it('of an unknown record names its parameter', async () => {
		const { message, description } = await wordsOf(update(UNKNOWN));
		expect(message).toBe('The server answered 404: The requested record was not found');
		expect(description).toContain('Check "Knowledgebase".');
		expect(description).not.toContain('Base URL');
	});

	it('of an unknown record in the body names its field', async () => {
		answers(404, { message: 'The requested record was not found', statusCode: 404 });
		const { description } = await wordsOf({
			resource: 'chatSession',
			operation: 'create',
			assistantId: byId(UNKNOWN),
		});
		expect(description).toContain('Check "Assistant".');
	});

	it('that names what is missing is not about the IDs of the path', async () => {
		const reason = "Copilot not set for embedding model 'm'";
		answers(404, { message: reason, error: 'Not Found', statusCode: 404 });
		const { message, description } = await wordsOf(update(fixture.world.knowledgebaseId));
		expect(message).toBe(`The server answered 404: ${reason}`);
		expect(description).toContain('Check the IDs and names you have given.');
	});

	it.each<[unknown, string | undefined]>([
		[
			{ message: 'Cannot PUT /api/ai/knowledges/1', error: 'Not Found', statusCode: 404 },
			undefined,
		],
		['<html><title>404 Not Found</title></html>', 'text/html'],
		['404 page not found', 'text/plain'],
		[{ message: 'no Route matched with those values' }, undefined],
	])('of another server points at the Base URL: %j', async (body, contentType) => {
		answers(404, body, contentType);
		const { description } = await wordsOf(update(UNKNOWN));
		expect(description).toContain('Check that the Base URL of the credential leads to an Xpert AI');
	});
});

describe('a server that speaks http', () => {
	it('is told from one that cannot be reached, and asked once', async () => {
		const baseUrl = fixture.sandbox.url.replace('http:', 'https:');
		const parameters = { resource: 'assistant', operation: 'count' };
		const { message, description } = await wordsOf(parameters, { baseUrl });
		expect(message).toMatch(
			/^The server could not be reached: the address speaks http, not https \(\w+\)$/,
		);
		expect(description).toContain('Enter the Base URL with http://');
		expect(description).not.toContain('Tries');
	});
});

describe('a name that is taken', () => {
	it('is told with two ways out', async () => {
		await fixture.run(createNamed('Manuals'));
		const { message, description } = await wordsOf(createNamed('Manuals'));
		expect(message).toBe('The server answered 400: Name Exist');
		expect(description).toContain('Choose another name, or update that one');
	});
});

describe('the editor', () => {
	const fieldsOf = (resource: string, name: string) =>
		JSON.stringify(bodyOf(resource, name).fields);

	it('offers to clear every optional field but the embedding model, which servers keep', () => {
		const fields = fieldsOf('knowledgebase', 'update');
		const { options } = (JSON.parse(fields) as Array<{ name: string; options: unknown[] }>).find(
			({ name }) => name === 'clearFields',
		) ?? { options: [] };
		const offered = options.map((option) => (option as { value: string }).value);
		expect(offered).not.toContain('copilotModel');
		expect(offered).toHaveLength(optionalKnowledgebaseFields.length - 1);
	});

	it.each([
		['assistant', 'search', 'as a JSON object; Xpert AI servers ignore it'],
		['assistant', 'search', 'in Get Many, Xpert AI servers ignore it'],
		['store', 'createNamespace', 'must end with this one (ignored by Xpert AI servers)'],
	])('says of what Xpert ignores that it does: %s %s', (resource, operation, words) => {
		expect(fieldsOf(resource, operation)).toContain(words);
	});
});
