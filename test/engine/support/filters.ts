import type { AssistantSeed, Filter, Filtering, Sandbox } from '../../../sandbox';
import { COPILOT_ID } from '../../../sandbox';

/** A filter by one value, which stands in it or is taken from what a question brings. */
export const condition = (field: string, operator: string, of: Given): Filter => ({
	kind: 'condition',
	field,
	operator,
	value: 'selector' in of ? { kind: 'variable', ...of } : { kind: 'literal', ...of },
});

type Given = { selector: string } | { value: unknown };

export const DEPARTMENTS = {
	sales: { folder: 'Dept/Sales', text: 'The budget of sales is 100 gold coins.' },
	hr: { folder: 'Dept/HR', text: 'The budget of hr is 200 gold coins.' },
	law: { folder: '', text: 'The budget of law is 300 gold coins.' },
};

const KB = 'f1000000-0000-4000-8000-000000000001';
const ASSISTANT = 'f1000000-0000-4000-8000-000000000002';

export const SCHEMA = [
	{ key: 'department', type: 'string', scope: 'document' },
	{ key: 'year', type: 'number', scope: 'document' },
];

export function putDepartments({ store }: Sandbox): string {
	const knowledgebase = { id: KB, name: 'Departments', metadataSchema: SCHEMA };
	store.putKnowledgebase({ ...knowledgebase, copilotModelId: COPILOT_ID });
	for (const [department, { folder, text }] of Object.entries(DEPARTMENTS)) {
		const metadata = { department, year: 2026 };
		const row = { knowledgebaseId: KB, name: `${department}.md`, folder, metadata };
		store.putFindable(store.putDocument(row), [text]);
	}
	return KB;
}

/** An assistant that looks into the departments, as a tool with a filter; says its id. */
export function putTool(
	{ store }: Sandbox,
	filtering: Filtering | undefined,
	seed: Partial<AssistantSeed> = {},
): string {
	const tool = { name: `retriever-${KB}`, knowledgebaseId: KB, ...(filtering && { filtering }) };
	const own = { id: ASSISTANT, name: 'departments', answers: 'documents' } as const;
	return store.putAssistant({ ...own, tools: [tool], ...seed }).id;
}

export function putStep({ store }: Sandbox, filter: Filter): string {
	const looksFirst = { agentKey: 'Know_step', title: 'Look', knowledgebaseId: KB, filter };
	const own = { id: ASSISTANT, name: 'departments', answers: 'said' as const };
	return store.putAssistant({ ...own, tools: [], looksFirst }).id;
}
