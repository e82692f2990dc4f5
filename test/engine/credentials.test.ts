import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { ECHO_ASSISTANT_ID, type Sandbox, startSandbox } from 'sandbox';
import type { CredentialData } from './support/credentials';
import { clock } from './support/clock';
import { withoutRoute } from './support/faults';
import { BY_NAME, useIngest, isNote } from './support/ingest';
import { byId } from './support/locators';
import { ask } from './support/runs';

const { fixture, add, documents, submit, sent } = useIngest();

let other: Sandbox;

beforeAll(async () => {
	other = await startSandbox({ accessToken: 'token-of-second-tenant', clock });
});
beforeEach(() => other.reset());
afterAll(async () => await other.close());

const PER_ITEM = { baseUrl: '={{ $json.server }}', accessToken: '={{ $json.token }}' };

const COUNT: INodeParameters = { resource: 'assistant', operation: 'count', options: {} };

/** The assistants of the first server. The second has one more. */
const seeded = () => fixture.sandbox.store.assistants.size;

const to = ({ url: server, accessToken: token }: Sandbox, more: object = {}) => ({
	json: { server, token, ...more },
});

const first = (more?: object) => to(fixture.sandbox, more);
const second = (more?: object) => to(other, more);

const run = async (
	parameters: INodeParameters,
	items: INodeExecutionData[],
	credential: Partial<CredentialData> = PER_ITEM,
) => await fixture.run(parameters, { items, credential, onError: 'continueErrorOutput' });

const arrivedAt = ({ requests }: Sandbox) =>
	requests.all.map(({ endpoint, status }) => (status === 401 ? 'refused' : endpoint));

const errorsOf = (outputs: INodeExecutionData[][]) =>
	(outputs[1] ?? []).map(({ json, pairedItem }) => ({ pairedItem, error: String(json.error) }));

describe('a credential with expressions', () => {
	it.each([
		['a column', PER_ITEM],
		[
			'the item of another node',
			{
				baseUrl: "={{ $('Start').item.json.server }}",
				accessToken: '={{ $input.item.json.token }}',
			},
		],
	])('sends each item to its own server with its own token (%s)', async (_, credential) => {
		other.store.putAssistant({ name: 'Only here' });
		const { items } = await run(COUNT, [first(), second(), first()], credential);
		const [one, more] = [{ count: seeded() }, { count: seeded() + 1 }];
		expect(items.map(({ json }) => json)).toEqual([one, more, one]);
		expect(arrivedAt(fixture.sandbox)).toEqual(['E9', 'E9']);
		expect(arrivedAt(other)).toEqual(['E9']);
	});

	const twelve = () => Array.from({ length: 12 }, (_, n) => first({ n }));

	it.each([
		['compares their index', '$itemIndex === 1', 3, 1],
		['calculates with their index', '$itemIndex % 11 === 10', 12, 10],
		[
			'looks their index up',
			"['a', 'a', 'a', 'a', 'a', 'b', ...Array(99).fill('a')][$itemIndex] === 'b'",
			12,
			5,
		],
		['looks up all items of a node', "$('Start').all()[$itemIndex]?.json.n === 10", 12, 10],
		['says otherwise what their index is', '`${$itemIndex}` === "10"', 12, 10],
	])(
		'is told from one that is the same for all items where it %s',
		async (_, condition, count, odd) => {
			const either = (one: string, more: string) => `={{ ${condition} ? '${more}' : '${one}' }}`;
			const credential = {
				baseUrl: either(fixture.sandbox.url, other.url),
				accessToken: either(fixture.sandbox.accessToken, other.accessToken),
			};
			other.store.putAssistant({ name: 'Only here' });
			const { items } = await run(COUNT, twelve().slice(0, count), credential);
			const counts = Array.from({ length: count }, (_one, n) => seeded() + (n === odd ? 1 : 0));
			expect(items.map(({ json }) => json.count)).toEqual(counts);
			expect(arrivedAt(other)).toEqual(['E9']);
		},
	);

	it('fails the items alone for which it gives nothing', async () => {
		const { items, outputs } = await run(COUNT, [{ json: {} }, first(), second({ server: null })]);
		expect(items.map(({ json }) => json)).toEqual([{ count: seeded() }]);
		const error = expect.stringContaining('Base URL') as string;
		expect(errorsOf(outputs)).toEqual([0, 2].map((item) => ({ pairedItem: { item }, error })));
		expect(arrivedAt(other)).toEqual([]);
	});

	it('fails the items alone for which n8n cannot resolve it', async () => {
		const credential = { ...PER_ITEM, baseUrl: "={{ $('Nowhere').item.json.server }}" };
		const { outputs } = await run(COUNT, [first(), second()], credential);
		const error = expect.stringContaining('The credential could not be read') as string;
		expect(errorsOf(outputs)).toEqual([0, 1].map((item) => ({ pairedItem: { item }, error })));
	});

	it('keeps the token of each item out of what its server says', async () => {
		const says = (token: string) =>
			({ do: 'status', status: 400, body: { message: token } }) as const;
		other.faults.add(says(`no ${other.accessToken}`));
		add(says(`no ${fixture.sandbox.accessToken}`));
		const { outputs } = await run(COUNT, [first(), second()]);
		expect(errorsOf(outputs).map(({ error }) => error)).toEqual([
			expect.stringContaining('no ***'),
			expect.stringContaining('no ***'),
		]);
		const said = outputs[1]?.map(({ json: { error, details } }) => ({ error, details }));
		expect(JSON.stringify(said)).not.toMatch(/second-tenant|sandbox-token/);
	});

	it('holds for each item to the domains that it allows for this item', async () => {
		const credential = {
			...PER_ITEM,
			allowedHttpRequestDomains: 'domains',
			allowedDomains: '={{ $json.allowed }}',
		};
		const items = [first({ allowed: '127.0.0.1' }), second({ allowed: 'example.com' })];
		const { outputs } = await run(COUNT, items, credential);
		expect(errorsOf(outputs)).toEqual([
			{ pairedItem: { item: 1 }, error: expect.stringContaining('allowed domains') as string },
		]);
		expect(arrivedAt(fixture.sandbox)).toEqual(['E9']);
		expect(arrivedAt(other)).toEqual([]);
	});

	it('runs an assistant on the server of each item, with what that server can do', async () => {
		// This one has no routes of runs: the other one is still asked for the number.
		add(withoutRoute('listRuns'));
		const { items } = await run(
			ask({
				threadSource: 'key',
				conversationKey: 'one for all',
				assistantId: byId(ECHO_ASSISTANT_ID),
				message: '={{ $json.message }}',
			}),
			[first({ message: 'here' }), second({ message: 'there' })],
		);
		expect(items.map(({ json }) => json.output)).toEqual(['Echo: here', 'Echo: there']);
		expect(items.map(({ json }) => json.runId !== undefined)).toEqual([false, true]);
		expect([...other.store.conversations.values()]).toHaveLength(1);
	});
});

describe('an operation for all items together', () => {
	const named = () =>
		[first, second, first].map((item, index) => item({ name: `document ${index}` }));

	it('submits the items of the first credential, and refuses those of another', async () => {
		const { outputs } = await submit(
			{ ...BY_NAME },
			{ items: named(), credential: PER_ITEM, onError: 'continueErrorOutput' },
		);
		const stored = documents().filter((document) => !isNote(document));
		expect(stored.map(({ name }) => name as unknown).sort()).toEqual(['document 0', 'document 2']);
		expect(errorsOf(outputs)).toEqual([
			{
				pairedItem: { item: 1 },
				error: expect.stringContaining('another server or token for this item') as string,
			},
		]);
		expect(other.requests.all).toEqual([]);
	});

	it('submits nothing with Stop', async () => {
		const { error } = await submit({ ...BY_NAME }, { items: named(), credential: PER_ITEM });
		expect(error?.message).toContain('another server or token for this item');
		expect(error?.description).toContain('loop');
		expect([...sent(), ...other.requests.all]).toEqual([]);
	});

	it.each(['disable', 'enable'])('does not %s documents on another server', async (operation) => {
		const { outputs } = await run(
			{
				resource: 'document',
				operation,
				knowledgebaseId: fixture.world.knowledgebaseId,
				documentKey: '={{ $json.name }}',
			},
			named(),
		);
		expect(outputs[0]?.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 2 }]);
		expect(errorsOf(outputs).map(({ pairedItem }) => pairedItem)).toEqual([{ item: 1 }]);
		expect(sent()).not.toEqual([]);
		expect(other.requests.all).toEqual([]);
	});

	it('says in a list of the editor that there is no item', async () => {
		const list = fixture.engine.listSearch('searchAssistants', { ...PER_ITEM });
		await expect(list).rejects.toThrow(
			/credential could not be read here, where its expressions have no item/,
		);
		expect(sent()).toEqual([]);
	});
});

describe('a credential without expressions', () => {
	it('is read a few times for any number of items', async () => {
		let reads = 0;
		const credential: CredentialData = {
			accessToken: fixture.sandbox.accessToken,
			get baseUrl() {
				reads += 1;
				return fixture.sandbox.url;
			},
		};
		const { items } = await fixture.engine.run({
			parameters: {
				resource: 'document',
				operation: 'enable',
				knowledgebaseId: fixture.world.knowledgebaseId,
				documentKey: '={{ $json.name }}',
			},
			credential,
			items: Array.from({ length: 300 }, (_, n) => ({ json: { name: `document ${n}` } })),
		});
		expect(items).toHaveLength(300);
		// One look at a credential reads the field a few times; each request takes one more.
		expect(reads).toBeLessThan(50);
	});
});
