import axios from 'axios';
import { find } from 'lodash';

import { readExample } from 'host/examples';
import { waitFor } from 'host/waitFor';
import { chatPath, said } from './support/chat';
import { useSharedHarness } from './support/harness';
import {
	modelCredential,
	STAND_IN,
	startModelStandIn,
	type ModelStandIn,
} from './support/modelStandIn';

const harness = useSharedHarness();
/** n8n takes no decision from what looks like a preview of a link. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36';
const QUESTION = 'How do I install it?';

/** The example as a public chat, with a model that asks the assistant at once. */
function publicChat() {
	const example = readExample('approve-what-an-agent-asks.json');
	const change = (name: string, to: object) =>
		Object.assign(find(example.nodes, { name }) ?? {}, to);
	const parameters = { public: true, options: { responseMode: 'responseNodes' } };
	change('When chat message received', { parameters });
	change('Chat Model', { credentials: { openAiApi: { id: '', name: STAND_IN } } });
	return { ...example, name: 'Approve' };
}

describe("the node as a tool behind n8n's own human review", () => {
	let model: ModelStandIn;
	let path: string;
	let workflowId: string;

	beforeAll(async () => {
		// n8n offers the tool with its own parameters beside those of the review.
		model = await startModelStandIn({
			toolParameters: { Message: QUESTION },
			hitlParameters: {},
		});
		const credentials = [await harness.createCredential(), await modelCredential(harness, model)];
		workflowId = await harness.importWorkflow(publicChat(), ...credentials);
		path = await chatPath(harness, workflowId);
		await harness.activate(workflowId);
	});
	afterAll(async () => await model?.close());

	/** The addresses behind the buttons of the execution that waits for a person. */
	const buttons = async (): Promise<string[]> =>
		await waitFor('the question to a person', async () => {
			const [id] = await harness.host.rest.listExecutions(workflowId);
			const stored = id === undefined ? undefined : await harness.host.rest.findExecution(id);
			if (stored?.status !== 'waiting') return undefined;
			const found = String(stored.data).match(/https?:[^"\\]*webhook-waiting[^"\\]*/g) ?? [];
			return found.length > 0 ? found : undefined;
		});

	it.each([
		['approved', 'true', 'I found nothing about that'],
		['refused', 'false', 'rejected the tool call'],
	])('is asked only what is %s', async (_, approved, told) => {
		harness.sandbox.requests.clear();
		await harness.callWebhook(path, said(QUESTION));
		const links = await buttons();
		expect(harness.sandbox.requests.of('runs')).toEqual([]);
		const chosen = links.find((link) => link.includes(`approved=${approved}`));
		await axios.get(String(chosen), { headers: { 'user-agent': BROWSER } });
		// The chat ends the execution when it has shown the answer, and nobody has it open here.
		await waitFor('what the model is told', async () =>
			JSON.stringify(model.requests.at(-1)?.messages).includes(told) ? true : undefined,
		);
		expect(harness.sandbox.requests.of('runs')).toHaveLength(approved === 'true' ? 1 : 0);
	});
});
