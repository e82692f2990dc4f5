import { countBy, find } from 'lodash';

import { filledIn, sandboxValues } from '../../host/exampleValues';
import { COPILOT_ID } from '../../sandbox';
import { answerOf } from '../engine/support/conversations';
import { exampleOnCall } from './support/examples';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

interface Page {
	path: string;
	title: string;
	text: string;
}

const PAGE = 'xpert-ai-page';
const NIGHT = 'pages-night';
const page = (animal: string, place: string): Page => ({
	path: `animals/${animal}`,
	title: animal,
	text: `The ${animal} sleeps in the ${place}.`,
});

/** The example, its night begun by a call that brings the pages there are. */
function pagesWorkflow(knowledgebaseId: string) {
	const workflow = filledIn(exampleOnCall('pages-by-webhook.json', 'Every Night', NIGHT), {
		...sandboxValues(''),
		knowledgebaseId,
	});
	const jsCode = "return $('Every Night').first().json.body.pages.map((json) => ({ json }));";
	Object.assign(find(workflow.nodes, { name: 'All Pages' }) ?? {}, { parameters: { jsCode } });
	Object.assign(find(workflow.nodes, { name: 'Submit All Pages' })?.parameters ?? {}, {
		options: { maxGonePercent: 50 },
	});
	return workflow;
}

describe('the example "pages that come, change and go" in n8n', () => {
	let workflowId: string;

	const notify = async (event: string, about: Page) => {
		await harness.callWebhook(PAGE, { event, ...about });
		const execution = await harness.latestExecution(workflowId);
		expect(execution.error).toBeUndefined();
		return execution.json(event === 'deleted' ? 'Disable Page' : 'Submit Page');
	};
	const night = async (...pages: Page[]) => {
		await harness.callWebhook(NIGHT, { pages });
		const execution = await harness.latestExecution(workflowId);
		expect(execution.error).toBeUndefined();
		return countBy(execution.json('Submit All Pages'), 'outcome');
	};
	const asked = async (animal: string) =>
		await answerOf(harness.sandbox, `Where does the ${animal} sleep?`);

	const owl = page('owl', 'barn');
	const bat = page('bat', 'tower');
	const movedOwl = page('owl', 'church');
	const hare = page('hare', 'field');

	beforeAll(async () => {
		const { store } = harness.sandbox;
		const { id } = store.putKnowledgebase({ name: 'Pages', copilotModelId: COPILOT_ID });
		const credential = await harness.createCredential();
		workflowId = await harness.importWorkflow(pagesWorkflow(id), credential);
		await harness.activate(workflowId);
	});

	it('has a page found once its site has reported it, and as it is since it changed', async () => {
		expect(await asked('owl')).not.toContain('barn');
		expect(await notify('created', owl)).toMatchObject([{ outcome: 'found' }]);
		expect(await notify('created', bat)).toMatchObject([{ outcome: 'found' }]);
		expect(await asked('owl')).toContain('in the barn');
		expect(await notify('updated', movedOwl)).toMatchObject([{ outcome: 'found' }]);
		expect(await asked('owl')).toContain('in the church');
		expect(await asked('bat')).toContain('in the tower');
	});

	it('has a page in no answer once it is gone, nor after the next night, which sends nothing again', async () => {
		expect(await notify('deleted', bat)).toMatchObject([{ outcome: 'disabled', known: true }]);
		expect(await asked('bat')).not.toContain('tower');
		expect(await night(movedOwl)).toEqual({ unchanged: 1 });
		expect(await asked('bat')).not.toContain('tower');
		expect(await asked('owl')).toContain('in the church');
	});

	it('makes good in the night what no call has reported', async () => {
		expect(await notify('created', bat)).toMatchObject([{ outcome: 'found' }]);
		expect(await night(movedOwl, hare)).toEqual({ unchanged: 1, found: 1, disabled: 1 });
		expect(await asked('hare')).toContain('in the field');
		expect(await asked('bat')).not.toContain('tower');
		expect(await night(movedOwl, hare)).toEqual({ unchanged: 2 });
	});
});
