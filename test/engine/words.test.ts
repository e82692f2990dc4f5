import { createServer } from 'node:https';

import type { INodeParameters } from 'n8n-workflow';

import { optionalFields } from 'nodes/XpertAi/operations/knowledgebase/fields';
import { bodyOf } from '../nodes/support/operations';
import { EMPTY_WORDS } from '../nodes/support/thrown';
import { AN_HOUR, type Fixture, useFixture } from './support/fixture';
import { BY_NAME, ending, rows } from './support/ingest';
import { ask } from './support/runs';
import { listen } from './support/listen';
import { byId } from './support/locators';
import selfSigned from './support/selfSigned.json';

const fixture = useFixture();
const { add } = fixture;

const UNKNOWN = '11111111-1111-4111-8111-111111111111';

const store = (operation: string) => ({ resource: 'store', operation });
const update = {
	resource: 'knowledgebase',
	operation: 'update',
	knowledgebaseId: byId(UNKNOWN),
	updateFields: { description: 'new' },
};
const create = { resource: 'knowledgebase', operation: 'create', name: 'Manuals' };
const session = { resource: 'chatSession', operation: 'create', assistantId: byId(UNKNOWN) };
const searchOf = (xpertId: string) => ({
	resource: 'conversation',
	operation: 'search',
	filters: { xpertId },
});
const deleteFile = { resource: 'fileContext', operation: 'delete', fileId: byId(UNKNOWN) };

const BROKEN = { statusCode: 500, message: 'Internal server error' };
const FORBIDDEN = { statusCode: 403, message: 'Forbidden' };
const NO_RECORD = { statusCode: 404, message: 'The requested record was not found' };
const NO_COPILOT = { statusCode: 404, message: "Copilot not set for embedding model 'm'" };
const NAME_EXISTS = { statusCode: 400, message: 'Name Exist' };

describe('what to do after a failure', () => {
	it.each<[string, INodeParameters, { statusCode: number; message: string } | undefined, string]>([
		[
			'a search without an assistant',
			store('searchItems'),
			BROKEN,
			'Xpert AI servers take no "filter".',
		],
		[
			'a search below an unknown assistant',
			store('searchItems'),
			{ statusCode: 400, message: 'The Xpert creator is required' },
			'Take it from Assistant: Get Many.',
		],
		['that search', store('searchItems'), BROKEN, 'Begin "Namespace Prefix" with the ID'],
		['a namespace', store('createNamespace'), BROKEN, 'Begin "Prefix" with the ID of an'],
		[
			'a key that may not count',
			{ resource: 'assistant', operation: 'count' },
			FORBIDDEN,
			"A user's",
		],
		['a changed knowledgebase', update, FORBIDDEN, "A workspace's key creates and updates no"],
		[
			'a file that is gone',
			deleteFile,
			undefined,
			'is no storageFileId, to a file that is gone, and',
		],
		['an unknown record of the body', session, NO_RECORD, 'Check "Assistant".'],
		[
			'something named that is missing',
			update,
			NO_COPILOT,
			'Check "Copilot ID" and "Model" in "Embedding Model".',
		],
		['a name that is taken', create, NAME_EXISTS, 'Choose another name, or update that one'],
		['an unknown record of a filter', searchOf(UNKNOWN), NO_RECORD, 'Check "Assistant ID".'],
	])('is said for %s', async (_, parameters, body, words) => {
		if (body) add({ do: 'status', status: body.statusCode, body });
		const { error } = await fixture.run(parameters);
		expect(error?.description).toContain(words);
		expect(error?.description).not.toMatch(EMPTY_WORDS);
	});

	it('is nothing about the name of a knowledgebase that is refused for another reason', async () => {
		const body = { statusCode: 400, message: 'Recall is not valid' };
		add({ do: 'status', status: 400, body });
		expect((await fixture.run(create)).error?.description ?? '').not.toContain('name');
	});
});

const COUNT = { resource: 'assistant', operation: 'count' };
const get = (id: string) => ({
	resource: 'knowledgebase',
	operation: 'get',
	knowledgebaseId: byId(id),
});
const onServer = (baseUrl: string): Mistake => [COUNT, { credential: { baseUrl } }];
const saying = (more: INodeParameters): [INodeParameters] => [
	ask({ threadSource: 'new', ...more }),
];
const submitting = (more: INodeParameters): INodeParameters => ({
	resource: 'document',
	operation: 'submit',
	source: 'files',
	afterStoring: 'wait',
	knowledgebaseId: byId(fixture.world.knowledgebaseId),
	...more,
});
const facing = (parameters: INodeParameters, status: number, more = {}): Mistake => {
	add({ do: 'status', status, body: 'no', ...more });
	return [parameters];
};
const PAGE = { body: '<html><title>Xpert</title></html>', contentType: 'text/html' };

type Mistake = Parameters<Fixture['run']>;

const NOT_SENT = 'Nothing was sent for this item.';

/** What n8n hands on with "Always Output Data" where the node before found nothing. */
const NO_ITEMS: Mistake[1] = { items: [{ json: {}, binary: undefined }] };
const EMPTY_ITEM =
	'The item itself is empty: the node before found nothing and has "Always Output Data" switched on, or is a manual trigger. Look at the output of that node';
const said = (chatInput: string) => ({ json: { chatInput } });

describe('the commonest mistakes', () => {
	const unsigned = createServer(selfSigned);
	let unsignedPort: number;
	beforeAll(async () => void (unsignedPort = await listen(unsigned)));
	afterAll(() => unsigned.close());

	it.each<[string, () => Mistake, string, string]>([
		[
			'a wrong address',
			// No name has so many letters in a row, so no name server is asked.
			() => onServer(`https://${'x'.repeat(64)}.invalid`),
			'The server could not be reached: the host name is not known (ENOTFOUND)',
			'Check the Base URL of the credential, the server, and the proxy if n8n uses one.',
		],
		[
			'a certificate that nobody has signed',
			() => onServer(`https://localhost:${unsignedPort}`),
			'The server could not be reached: its certificate is self-signed and not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)',
			'whoever runs n8n names the file of its certificate in NODE_EXTRA_CA_CERTS',
		],
		[
			'https for http',
			() => onServer(fixture.sandbox.url.replace('http:', 'https:')),
			'The server could not be reached: the address speaks http, not https (EPROTO)',
			'Enter the Base URL with the port that speaks https, or with http://',
		],
		[
			'http for https',
			() => onServer('http://xpert.example.com'),
			'The Base URL starts with http://, which would send the access token unencrypted. Use https://, or switch on Allow Insecure HTTP',
			'Open the Xpert AI credential and correct it there.',
		],
		[
			'/api twice',
			() => onServer(`${fixture.sandbox.url}/api/ai/api/ai`),
			'The server answered 404: Cannot POST /api/ai/api/ai/assistants/count',
			'Enter the address of an Xpert AI server as Base URL in the credential, without the path of a page',
		],
		[
			'the address of a page',
			() => facing(COUNT, 200, PAGE),
			"The server's answer cannot be read: it is an HTML page, not an answer of this API (HTTP 200)",
			'Enter the address of an Xpert AI server as Base URL in the credential, not that of a page',
		],
		[
			'an expired key',
			() => [COUNT, { credential: { accessToken: 'expired' } }],
			'The server does not accept this key: Unauthorized (HTTP 401)',
			'Make a new key under Settings → API Keys on the server and enter it in the credential',
		],
		[
			'a wrong ID',
			() => [get(UNKNOWN)],
			`Knowledgebase ${UNKNOWN} was not found`,
			'The server has no record with this ID, or the key may not see it. Check "Knowledgebase".',
		],
		[
			'an address without an ID',
			() => [get('https://xpert.example.com/settings')],
			'"Knowledgebase" must be a UUID such as 123e4567-e89b-42d3-a456-426614174000, but is "https://xpert.example.com/settings"',
			`${NOT_SENT} Paste the ID, or the address of its own page`,
		],
		[
			'a knowledgebase without an embedding model',
			() => {
				const { id } = fixture.sandbox.store.putKnowledgebase({
					name: 'New',
					copilotModelId: null,
				});
				return [submitting({ knowledgebaseId: byId(id) })];
			},
			'1 document is stored but not found: hello.txt',
			'Give it one with Knowledgebase: Create or Update, field Embedding Model',
		],
		[
			'an item without a file',
			() => [submitting({}), { items: [{ json: {}, binary: undefined }] }],
			'"Input Binary Field" names "data", but the item has no binary field. Documents: 1 rejected',
			NOT_SENT,
		],
		[
			'a wrong binary field',
			() => [submitting({ binaryPropertyName: 'file' })],
			'"Input Binary Field" names "file", but the item has only data. Documents: 1 rejected',
			NOT_SENT,
		],
		[
			'a file of an unknown type',
			() => {
				const { metadata } = ending('error', 10, 'No text found');
				const documentSettings = {
					mimeType: 'image/vnd.dwg',
					metadata: JSON.stringify(metadata),
				};
				return [submitting({ name: 'plan.dwg', documentSettings })];
			},
			'1 document is stored but not found: plan.dwg',
			'Servers may not read .dwg files: save it as .docx, .xlsx, .pptx, .pdf or text',
		],
		[
			'more than the server takes',
			() => facing({ resource: 'file', operation: 'create' }, 413),
			'This is too large for the server: no (HTTP 413)',
			'Make it smaller, or have the limit raised',
		],
		[
			'an assistant that is not published',
			() => saying({ assistantId: byId(UNKNOWN), message: 'Hi' }),
			`Assistant ${UNKNOWN} was not found`,
			'it was never published, or the key may not see it. Check "Assistant".',
		],
		[
			'an empty message',
			() => saying({ message: '={{ $json.nothing }}' }),
			'"Message" is empty: its expression gave nothing for this item',
			`${NOT_SENT} Correct the expression, or leave such items out before, with a Filter node. To read from a node further back, name that node`,
		],
		[
			'a message of blanks',
			() => [...saying({ message: '={{ $json.chatInput }}' }), { items: [said('  ')] }],
			'"Message" is empty: its expression gave only blanks for this item',
			`${NOT_SENT} Leave such items out before, with a Filter node`,
		],
		[
			'a message of blanks that is Fixed',
			() => saying({ message: ' ' }),
			'"Message" is missing',
			`${NOT_SENT} Fill in this field. Blanks alone do not count.`,
		],
		[
			'a message out of no items',
			() => [...saying({ message: '={{ $json.chatInput }}' }), NO_ITEMS],
			'"Message" is empty: its expression gave nothing for this item',
			`${NOT_SENT} ${EMPTY_ITEM}`,
		],
		[
			'texts out of no items',
			() => [submitting({ source: 'text', text: '={{ $json.text }}' }), NO_ITEMS],
			'"Text" is empty: its expression gave nothing for this item. Documents: 1 rejected',
			`${NOT_SENT} ${EMPTY_ITEM}`,
		],
		[
			'files out of no items',
			() => [submitting({ source: 'files' }), NO_ITEMS],
			'"Input Binary Field" names "data", but the item has no binary field. Documents: 1 rejected',
			`${NOT_SENT} ${EMPTY_ITEM}`,
		],
		[
			'addresses out of no items',
			() => [submitting({ source: 'addresses', url: '={{ $json.url }}' }), NO_ITEMS],
			'"Address" is empty: its expression gave nothing for this item. Documents: 1 rejected',
			`${NOT_SENT} ${EMPTY_ITEM}`,
		],
		[
			'columns out of no items',
			() => [submitting({ source: 'fields', ...BY_NAME }), NO_ITEMS],
			'"Document Fields" must give the document a name, a text, a page, a chunk, a file ID or an address. Documents: 1 rejected',
			`${NOT_SENT} ${EMPTY_ITEM}`,
		],
		[
			'a key without one of its parts',
			() => [
				...saying({
					threadSource: 'key',
					conversationKey: '={{ $json.channel }}:{{ $json.user }}',
					message: 'Hi',
				}),
				{ items: [{ json: { channel: 'mail' } }] },
			],
			'"Conversation Key" lacks a part: {{ $json.user }} gave nothing for this item',
			`${NOT_SENT} The item has channel. Correct the expression, or leave such items out before, with a Filter node.`,
		],
		[
			'"undefined" as a key',
			() => saying({ threadSource: 'key', conversationKey: 'undefined', message: 'Hi' }),
			'"Conversation Key" holds "undefined", which stands for a missing value',
			NOT_SENT,
		],
		[
			'a chat without a session',
			() =>
				saying({ threadSource: 'key', conversationKey: '={{ $json.sessionId }}', message: 'Hi' }),
			'"Conversation Key" is empty: its expression gave nothing for this item',
			NOT_SENT,
		],
		[
			'a server that is down',
			() => onServer('http://127.0.0.1:9'),
			'The server could not be reached: nothing accepts connections at this address (ECONNREFUSED)',
			'Check the Base URL of the credential, the server',
		],
		[
			'a slow server',
			() => {
				add({ do: 'delay', ms: AN_HOUR });
				return [{ ...create, options: { timeout: 1 } }];
			},
			'The server did not answer in time',
			'Raise "Timeout (Seconds)" under Options, or check how busy',
		],
		[
			'a slow server of documents',
			() => {
				add({ endpoint: 'E3', do: 'delay', ms: AN_HOUR });
				const tuning = { timeout: 1, retryMinutes: 0 };
				return [submitting({ source: 'fields', ...BY_NAME, tuning }), { items: rows(1) }];
			},
			'The server did not answer in time. Documents: 1 unknown',
			'Raise "Timeout (Seconds)" under Tuning and Repair, or check how busy',
		],
		[
			'a slow server of a run',
			() => {
				add({ do: 'delay', ms: AN_HOUR });
				return saying({ message: 'Hi', options: { deadlineMinutes: 0.1 } });
			},
			'The server did not answer in time',
			'Raise "Deadline (Minutes)" under Options',
		],
		[
			'a server that limits requests',
			() => facing(create, 429),
			'The server takes no more requests just now: no (HTTP 429)',
			'Wait, then run it again with fewer at once.',
		],
		[
			'a key that may not do this',
			() => facing(create, 403),
			'This key may not do this: no (HTTP 403)',
			"A workspace's key creates and updates no knowledgebases",
		],
	])('%s', async (_, make, message, next) => {
		const { error } = await fixture.run(...make());
		expect(error?.message).toBe(message);
		expect(error?.description).toContain(next);
		expect(error?.description).not.toMatch(/Request|\/api\/ai/);
	});
});

describe('the editor', () => {
	it('offers to clear every optional field but the embedding model, which servers keep', () => {
		const fields = bodyOf('knowledgebase', 'update').fields;
		const { options = [] } = fields.find(({ name }) => name === 'clearFields') ?? {};
		const offered = options.map((option) => 'value' in option && option.value);
		expect(offered).not.toContain('copilotModel');
		expect(offered).toHaveLength(optionalFields.length - 1);
	});
});
