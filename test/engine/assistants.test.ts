import { useFixture } from './support/fixture';
import { condition, putDepartments, putStep, putTool } from './support/filters';
import { byId } from './support/locators';

const fixture = useFixture();

async function summaryOf(assistantId: string) {
	const parameters = { resource: 'assistant', operation: 'get', assistantId: byId(assistantId) };
	const { items } = await fixture.run(parameters);
	return items[0]?.json;
}

describe('Assistant: Get', () => {
	it('shows the values that filters of tools take from a question, and which stay on the thread', async () => {
		const knowledgebaseId = putDepartments(fixture.sandbox);
		const byFolder = condition('document.folderPath', 'under', { selector: 'folder' });
		const children = [
			condition('metadata.department', 'eq', { selector: 'human.department' }),
			condition('metadata.year', 'gte', { value: 2025 }),
			{ kind: 'group' as const, operator: 'or' as const, children: [byFolder] },
		];
		const stateVariables = [{ name: 'folder', type: 'string', default: '' }];
		const fixed = { kind: 'group' as const, operator: 'and' as const, children };
		const summary = await summaryOf(putTool(fixture.sandbox, { fixed }, { stateVariables }));
		expect(summary).toMatchObject({
			filterValues: [
				{
					key: 'department',
					selector: 'human.department',
					knowledgebaseId,
					field: 'metadata.department',
					operator: 'eq',
					staysOnThread: false,
				},
				{
					key: 'folder',
					selector: 'folder',
					knowledgebaseId,
					field: 'document.folderPath',
					operator: 'under',
					staysOnThread: true,
				},
			],
			stateVariables,
		});
	});

	it.each([
		['no filter', () => putTool(fixture.sandbox, undefined)],
		['a filter of the model alone', () => putTool(fixture.sandbox, { agent: { enabled: true } })],
		[
			'a step, which servers do not show',
			() => putStep(fixture.sandbox, condition('metadata.year', 'eq', { selector: 'human.year' })),
		],
	])('shows none with %s', async (_, put) => {
		putDepartments(fixture.sandbox);
		expect(await summaryOf(put())).toMatchObject({ filterValues: [], stateVariables: [] });
	});
});
