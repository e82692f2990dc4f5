import fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';

import { COPILOT_ID } from '../../sandbox';
import type { Filter } from '../../sandbox';
import { PROPERTY_RUNS } from '../support/propertyRuns';
import { condition, putTool } from './support/filters';
import { useFixture } from './support/fixture';
import { ingestOn } from './support/ingest';
import { byId } from './support/locators';
import { ask } from './support/runs';

const fixture = useFixture();
const { submit } = ingestOn(fixture);

const SCHEMA = [
	{ key: 'department', type: 'string' },
	{ key: 'year', type: 'number' },
	{ key: 'tags', type: 'string[]' },
	{ key: 'secret', type: 'boolean' },
];

interface Document {
	department?: string;
	year?: number;
	tags?: string[];
	secret?: boolean;
	folder: string;
}

const DEPARTMENTS = ['hr', 'HR', 'sales', 'sale%'];
const TAGS = ['a', 'b', 'c'];
const FOLDERS = ['', 'A', 'A/B', 'AB', 'C'];

const documents = fc.array(
	fc.record<Document>(
		{
			department: fc.constantFrom(...DEPARTMENTS),
			year: fc.integer({ min: 2020, max: 2025 }),
			tags: fc.subarray(TAGS),
			secret: fc.boolean(),
			folder: fc.constantFrom(...FOLDERS),
		},
		{ requiredKeys: ['folder'] },
	),
	{ minLength: 1, maxLength: 8 },
);

/** A condition, the value of a question for it, and which documents it lets through: written anew beside the sandbox's. */
interface Restriction {
	field: string;
	operator: string;
	type: string;
	value: unknown;
	lets: (document: Document) => boolean;
}

const restriction = fc.oneof(
	fc.constantFrom(...DEPARTMENTS).map(
		(value): Restriction => ({
			...{ field: 'metadata.department', operator: 'eq', type: 'string', value },
			lets: ({ department }) => department === value,
		}),
	),
	fc.subarray(DEPARTMENTS, { minLength: 1 }).map(
		(value): Restriction => ({
			...{ field: 'metadata.department', operator: 'in', type: 'string[]', value },
			lets: ({ department = '' }) => value.includes(department),
		}),
	),
	fc.constantFrom('s', 'SALE', '%', 'h').map(
		(value): Restriction => ({
			...{ field: 'metadata.department', operator: 'startsWith', type: 'string', value },
			lets: ({ department }) =>
				department !== undefined &&
				department.slice(0, value.length).toLowerCase() === value.toLowerCase(),
		}),
	),
	fc.integer({ min: 2019, max: 2026 }).map(
		(value): Restriction => ({
			...{ field: 'metadata.year', operator: 'gte', type: 'number', value },
			lets: ({ year = -1 }) => year >= value,
		}),
	),
	fc.subarray(TAGS, { minLength: 1 }).map(
		(value): Restriction => ({
			...{ field: 'metadata.tags', operator: 'containsAny', type: 'string[]', value },
			lets: ({ tags = [] }) => tags.filter((tag) => value.includes(tag)).length > 0,
		}),
	),
	fc.boolean().map(
		(value): Restriction => ({
			...{ field: 'metadata.secret', operator: 'eq', type: 'boolean', value },
			lets: ({ secret }) => secret === value,
		}),
	),
	fc.constantFrom('A', 'A/B', 'C', 'B').map(
		(value): Restriction => ({
			...{ field: 'document.folderPath', operator: 'under', type: 'string', value },
			lets: ({ folder }) => `${folder}/`.startsWith(`${value}/`),
		}),
	),
);

const question = fc.record({
	all: fc.array(restriction, { minLength: 1, maxLength: 3 }),
	operator: fc.constantFrom('and' as const, 'or' as const),
});

const filterOf = (all: Restriction[], operator: 'and' | 'or'): Filter => ({
	kind: 'group',
	operator,
	children: all.map(({ field, operator: by }, place) =>
		condition(field, by, { selector: `human.v${place}` }),
	),
});

/** The row of a question for each condition, as a user fills it in. */
const rowsOf = (all: Restriction[]): INodeParameters[] =>
	all.map(({ type, value }, place) => ({
		...{ key: `v${place}`, type },
		content: Array.isArray(value) ? value.join(', ') : String(value),
	}));

async function store(all: Document[]): Promise<string> {
	const { store: server } = fixture.sandbox;
	server.documents.clear();
	const { knowledgebaseId } = fixture.world;
	const fields = { copilotModelId: COPILOT_ID, metadataSchema: SCHEMA };
	Object.assign(server.knowledgebases.get(knowledgebaseId) ?? {}, fields);
	const items = all.map(({ folder, ...metadata }, place) => ({
		json: { name: `d${place}`, folder, metadata },
	}));
	const documentSettings = { folder: '={{ $json.folder }}', metadata: '={{ $json.metadata }}' };
	await submit(
		{
			...{ source: 'text', name: '={{ $json.name }}', text: '=The budget of {{ $json.name }}' },
			...{ documentSettings, afterStoring: 'wait' },
		},
		{ items },
	);
	return knowledgebaseId;
}

it('finds nothing that a filter excludes, and all that it includes', async () => {
	await fc.assert(
		fc.asyncProperty(
			documents,
			fc.array(question, { minLength: 1, maxLength: 4 }),
			async (all, asked) => {
				const knowledgebaseId = await store(all);
				for (const { all: restrictions, operator } of asked) {
					const filtering = { fixed: filterOf(restrictions, operator) };
					const tools = [{ name: `retriever-${knowledgebaseId}`, knowledgebaseId, filtering }];
					const assistant = putTool(fixture.sandbox, undefined, { tools });
					const options = { filterValues: { values: rowsOf(restrictions) } };
					const { items } = await fixture.run(
						ask({
							threadSource: 'new',
							message: 'Which budget?',
							assistantId: byId(assistant),
							options,
						}),
						{ items: [{ json: {} }] },
					);
					const sources = (items[0]?.json.sources ?? []) as Array<{ documentName: string }>;
					const wanted = all.flatMap((document, place) => {
						const met = restrictions.map(({ lets }) => lets(document));
						const isIn = operator === 'and' ? met.every(Boolean) : met.some(Boolean);
						return isIn ? `d${place}.md` : [];
					});
					expect(sources.map(({ documentName }) => documentName).sort()).toEqual(wanted);
					expect(items[0]?.json.filter).toEqual({ status: 'applied', hitCount: wanted.length });
				}
			},
		),
		{ numRuns: PROPERTY_RUNS },
	);
});
