import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { cloneDeep, get, isEmpty, set, uniq, unset } from 'lodash';
import { stringify } from 'yaml';

import { checkServer } from '../../contract/checkServer';
import { compare } from '../../contract/compare';
import { nodeRoutes } from '../../contract/nodeRoutes';
import { requestOf } from '../../contract/requests';
import { readServer } from '../../contract/serverRoutes';
import type { Operation } from '../../nodes/XpertAi/execution/operation';
import { OPERATIONS } from '../nodes/support/properties';

const ROOT = path.resolve(__dirname, '../..');

/** The contract as an OpenAPI document: its tables, and nothing it does not show. */
const FILE = path.join(__dirname, 'contract.openapi.json');

/** What the server of the recordings says of itself. */
const RECORDED = path.join(ROOT, 'contract/recorded.openapi.json');

type Document = Exclude<Parameters<typeof readServer>[0], string>;
const CONTRACT = JSON.parse(readFileSync(FILE, 'utf8')) as Document;

const KNOWLEDGEBASE = ['components', 'schemas', 'Knowledgebase'];
const DOCUMENT = ['components', 'schemas', 'DocumentRecord'];
const CREATE = ['paths', '/api/ai/knowledges', 'post'];
const SEARCH = ['paths', '/api/ai/assistants/search', 'post'];
const jsonBody = (schema: unknown) => ({ content: { 'application/json': { schema } } });

/** The contract's document with something changed. */
function changed(change: (document: Document) => void): Document {
	const document = cloneDeep(CONTRACT);
	change(document);
	return document;
}

/** A schema, or the one that it refers to. */
function resolved(document: Document, schema: unknown): object {
	const { $ref } = schema as { $ref?: string };
	return $ref ? (get(document, $ref.slice(2).split('/')) as object) : (schema as object);
}

/** The differences of a server from the node, each in one line. */
async function differences(document: Document): Promise<string[]> {
	const { routes } = await readServer(cloneDeep(document));
	return compare(nodeRoutes(), routes).differences.map(({ kind, route, operation, what }) =>
		[kind, route, operation && `(${operation})`, what].filter(Boolean).join(' '),
	);
}

const inDocument = (change: (document: Document) => void) => differences(changed(change));

/** What is reported of both operations that send a knowledgebase. */
const ofKnowledgebases = (kind: string, what: string) => [
	`${kind} POST /api/ai/knowledges (Knowledgebase: Create) ${what}`,
	`${kind} PUT /api/ai/knowledges/{knowledgebaseId} (Knowledgebase: Update) ${what}`,
];
const ofDocuments = (kind: string, what: string) =>
	`${kind} POST /api/ai/knowledges/{knowledgebaseId}/bulk (Document: Submit) ${what}`;
const ofSearch = 'POST /api/ai/assistants/search (Assistant: Get Many)';
const field = (name: string) => [...KNOWLEDGEBASE, 'properties', name];
const UPLOAD = ['paths', '/api/ai/v1/file', 'post', 'requestBody', 'content'];
const DELETION = ['paths', '/api/ai/v1/kb/{id}', 'delete', 'requestBody'];

describe('a server as the contract describes it', () => {
	it('differs in nothing from what the node takes it for', async () => {
		expect(await differences(CONTRACT)).toEqual([]);
	});

	it('does not describe the bodies that the contract does not show', async () => {
		const { routes } = await readServer(cloneDeep(CONTRACT));
		const { notDescribed } = compare(nodeRoutes(), routes);
		expect(notDescribed).toHaveLength(11);
		expect(notDescribed).toContainEqual({
			route: 'POST /api/ai/conversations',
			operation: 'Conversation: Create',
		});
	});

	it.each<[string, (document: Document) => void]>([
		[
			'its paths stand below its address',
			(document) => {
				document.servers = [{ url: 'https://xpert.example.com/api/ai/' }];
				document.paths = Object.fromEntries(
					Object.entries(document.paths ?? {}).map(([key, item]) => [key.slice(7), item]),
				);
			},
		],
		[
			'its fields may be null',
			(document) => {
				const fields = get(document, [...KNOWLEDGEBASE, 'properties']) as object;
				for (const field of Object.values(fields)) set(field as object, 'nullable', true);
			},
		],
		[
			'it says the same with allOf',
			(document) => {
				const whole = get(document, KNOWLEDGEBASE) as object;
				set(document, KNOWLEDGEBASE, { allOf: [whole, { type: 'object' }] });
			},
		],
		[
			'it says the same with oneOf and null',
			(document) => {
				const name = [...KNOWLEDGEBASE, 'properties', 'description'];
				set(document, name, { oneOf: [{ type: 'string' }, { type: 'null' }] });
			},
		],
		[
			'it has routes of other kinds',
			(document) => {
				set(document, ['paths', '/api/user/me'], { get: { responses: {} } });
			},
		],
		[
			'a record leads back to itself',
			(document) => {
				set(document, [...DOCUMENT, 'properties', 'parent'], {
					$ref: '#/components/schemas/DocumentRecord',
				});
			},
		],
		[
			'it has the two routes beyond the contract',
			(document) => {
				const operation = { responses: {} };
				set(document, ['paths', '/api/ai/knowledges/{id}/process'], { post: operation });
				const query = { name: 'ids', in: 'query', required: true, schema: { type: 'string' } };
				set(document, ['paths', '/api/ai/knowledges/{id}/status'], {
					get: { ...operation, parameters: [query] },
				});
			},
		],
	])('is the same if %s', async (_title, change) => {
		expect(await inDocument(change)).toEqual([]);
	});
});

describe('a difference', () => {
	it.each<[string, (document: Document) => void, string[]]>([
		[
			'a route that is gone',
			(document) => unset(document, ['paths', '/api/ai/threads/{thread_id}/copy']),
			['missing POST /api/ai/threads/{threadId}/copy (Thread: Copy)'],
		],
		[
			'a route that has moved',
			({ paths = {} }) => {
				paths['/api/ai/v2/file'] = paths['/api/ai/v1/file'];
				delete paths['/api/ai/v1/file'];
			},
			['missing POST /api/ai/v1/file (File: Upload)', 'new POST /api/ai/v2/file'],
		],
		[
			'a route with another method',
			({ paths }) => {
				const item = paths?.['/api/ai/knowledges/{id}'] ?? {};
				item.patch = item.put;
				delete item.put;
			},
			[
				'missing PUT /api/ai/knowledges/{knowledgebaseId} (Knowledgebase: Update)',
				'new PATCH /api/ai/knowledges/{id}',
			],
		],
		[
			'a route that wants a body where the node sends none',
			(document) => {
				set(document, DELETION, { required: true, ...jsonBody({ type: 'object' }) });
			},
			[
				'changed DELETE /api/ai/v1/kb/{knowledgebaseId} (Knowledgebase: Delete) must come with a body, which the node does not send',
			],
		],
		[
			'a field with another name',
			(document) => {
				set(document, [...DOCUMENT, 'properties', 'processDuration'], { type: 'number' });
				unset(document, [...DOCUMENT, 'properties', 'processDuation']);
			},
			[
				ofDocuments('missing', '"[].processDuation" is no field any more'),
				ofDocuments('new', '"[].processDuration" is a new field (number)'),
			],
		],
		[
			'a new field that must be there',
			(document) => {
				set(document, field('region'), { type: 'string' });
				set(document, [...KNOWLEDGEBASE, 'required'], ['region']);
			},
			ofKnowledgebases('changed', '"region" must be there, a new field (string)'),
		],
		[
			'a field that must be there now, but where the node asks for it anyway',
			(document) => set(document, [...KNOWLEDGEBASE, 'required'], ['name']),
			ofKnowledgebases('changed', '"name" must be there now').slice(1),
		],
		[
			'a field deep in a body',
			(document) =>
				set(document, ['components', 'schemas', 'Page', 'properties', 'pageContent'], {
					type: 'array',
				}),
			[ofDocuments('changed', '"[].pages[].pageContent" is now array, it was string')],
		],
		[
			'none where the node takes any object',
			(document) =>
				set(document, [...DOCUMENT, 'properties', 'metadata'], {
					type: 'object',
					properties: { author: { type: 'string' } },
				}),
			[],
		],
		[
			'a body that the contract does not show, with the pages that the node asks for',
			(document) =>
				set(
					document,
					[...SEARCH, 'requestBody'],
					jsonBody({
						type: 'object',
						properties: { graph_id: { type: 'string' }, limit: { type: 'number' }, sort: {} },
					}),
				),
			[
				`missing ${ofSearch} "metadata" is no field any more`,
				`missing ${ofSearch} "offset" is no field any more`,
				`changed ${ofSearch} "limit" is now number, it was integer`,
				`new ${ofSearch} "sort" is a new field (of any type)`,
			],
		],
		[
			'the form of an upload',
			(document) => {
				const file = { type: 'string', format: 'binary' };
				const schema = { type: 'object', properties: { file } };
				set(document, UPLOAD, { 'multipart/form-data': { schema } });
			},
			['missing POST /api/ai/v1/file (File: Upload) "target" is no field any more'],
		],
	])('is reported: %s', async (_title, change, expected) => {
		expect(await inDocument(change)).toEqual(expected);
	});

	it.each([
		['is deprecated', { deprecated: true }, 'is to be given up: it is marked as deprecated'],
		[
			'asks for more in its query or headers',
			{ parameters: [{ name: 'X-Tenant', in: 'header', required: true }] },
			'must come with "X-Tenant" in its query or headers, which the node does not send',
		],
		[
			'takes a file instead of JSON',
			{ requestBody: { content: { 'multipart/form-data': { schema: { type: 'object' } } } } },
			'takes its body as multipart/form-data, the node sends application/json',
		],
	])('is reported: a route that %s', async (_title, more, what) => {
		const document = changed((one) => set(one, CREATE, { ...get(one, CREATE), ...more }));
		expect(await differences(document)).toEqual([
			`changed POST /api/ai/knowledges (Knowledgebase: Create) ${what}`,
		]);
	});

	it.each([
		[
			'permission',
			{ type: 'string', enum: ['private', 'organization', 'public', 'team'] },
			'may also be "team" now',
		],
		[
			'permission',
			{ type: 'string', enum: ['private', 'public'] },
			'may not be "organization" any more',
		],
		['permission', { type: 'string' }, 'is no longer one of listed values'],
		['name', { type: 'string', enum: ['a', 'b'] }, 'may only be "a", "b" now'],
		['description', { type: 'object' }, 'is now object, it was string'],
		[
			'extKnowledgebaseId',
			{ type: 'string', format: 'uuid' },
			'is now string, uuid, it was string',
		],
	])('is reported: the field %s as %j %s', async (name, schema, what) => {
		const document = changed((one) => set(one, field(name), schema));
		expect(await differences(document)).toEqual(ofKnowledgebases('changed', `"${name}" ${what}`));
	});

	it('in the body of a run is from all of those the node sends', async () => {
		const run = ['paths', '/api/ai/threads/{thread_id}/runs/wait', 'post', 'requestBody'];
		const message = {
			type: 'object',
			required: ['action'],
			properties: { action: { const: 'send' } },
		};
		const resume = {
			type: 'object',
			properties: { action: { enum: ['resume', 'retry', 'fork'] } },
		};
		const schema = {
			type: 'object',
			required: ['assistant_id', 'input'],
			properties: {
				assistant_id: { type: 'string' },
				context: { type: 'object' },
				input: { oneOf: [message, resume] },
			},
		};
		const found = await inDocument((one) => set(one, run, jsonBody(schema)));
		expect(found.filter((line) => line.includes('action'))).toEqual([
			'changed POST /api/ai/threads/{threadId}/runs/wait (Thread: Ask and Wait) "input.action" may also be "fork" now',
		]);
		expect(found.filter((line) => line.includes('must be'))).toEqual([]);
	});
});

describe('npm run check:server', () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'check-server-'));
	afterAll(() => rmSync(folder, { recursive: true }));
	const written = (name: string, text: string) => {
		const file = path.join(folder, name);
		writeFileSync(file, text);
		return file;
	};

	it('says in plain words that all is well of the server of the recordings', async () => {
		const { text, code } = await checkServer(RECORDED);
		expect(text).toContain('is what the node takes it for.');
		// Requests whose bodies it does not describe are listed apart.
		expect([text.split('Not compared:')[0]?.match(/^- /gm), code]).toEqual([null, 0]);
	});

	it('tells what is missing, changed and new since then, and ends with 1', async () => {
		const document = JSON.parse(readFileSync(RECORDED, 'utf8')) as Document;
		unset(document, ['paths', '/api/ai/contexts/file', 'post']);
		const body = ['requestBody', 'content', 'application/json', 'schema'];
		const schema = resolved(document, get(document, [...CREATE, ...body]));
		set(schema, ['properties', 'recall'], { type: 'string' });
		set(schema, ['properties', 'colour'], { type: 'string' });
		set(document, ['paths', '/api/ai/agents/new'], { get: { responses: {} } });
		document.info = { title: 'Xpert AI', version: '9.0' };
		const file = written('moved.json', JSON.stringify(document));
		const { text, code } = await checkServer(file);
		expect(code).toBe(1);
		const told = text.split('Not compared:')[0] ?? '';
		expect(
			told.match(/^- .*/gm)?.filter((line) => !line.includes('(Knowledgebase: Update)')),
		).toEqual([
			'- POST /api/ai/contexts/file (File Context: Upload)',
			'- POST /api/ai/knowledges (Knowledgebase: Create): "recall" is now string, it was object',
			'- POST /api/ai/knowledges (Knowledgebase: Create): "colour" is a new field (string)',
			'- GET /api/ai/agents/new',
		]);
	});

	it('reads YAML as well', async () => {
		const file = written('openapi.yaml', stringify(JSON.parse(readFileSync(RECORDED, 'utf8'))));
		expect((await checkServer(file)).code).toBe(0);
	});

	it.each([
		['no JSON', 'page.json', '<html>'],
		['no OpenAPI document', 'other.json', '{"a": 1}'],
		[
			'one of version 2',
			'old.json',
			'{"swagger": "2.0", "info": {"title": "", "version": ""}, "paths": {}}',
		],
		[
			'one that leads to another that is not there',
			'out.json',
			JSON.stringify({ ...CONTRACT, paths: { '/api/ai/knowledges': { $ref: 'elsewhere.json' } } }),
		],
	])('says of a file that is %s that it cannot be read', async (_title, name, text) => {
		const { text: said, code } = await checkServer(written(name, text));
		expect(said).toContain(`${name} cannot be read: `);
		expect(code).toBe(2);
	});
});

it('every operation of the node is compared, those that send the same once', () => {
	const routes = nodeRoutes();
	const placeOf = (operation: Operation) => {
		const { method, path: place } = requestOf(operation);
		return `${method} ${place}`;
	};
	const places = uniq(OPERATIONS.map(({ operation }) => placeOf(operation)));
	expect(routes).toHaveLength(places.length);
	expect(routes.filter(({ path: one }) => isEmpty(one) || !one.startsWith('/api/ai/'))).toEqual([]);
});
