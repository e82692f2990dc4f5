import { exampleFiles, readExample } from '../../host/examples';
import { exampleWith } from './support/examples';
import { useHarness } from './support/harness';

const harness = useHarness();

describe('the examples, imported one after another', () => {
	/** What has a person click to begin cannot be published; what needs a chat model is, in approvedTool.e2e.test.ts. */
	const publishable = exampleFiles().filter((file) => {
		const types = readExample(file).nodes.map(({ type }) => type);
		const begins = types.some((type) => /(?<!manual)(Trigger|\.webhook)$/.test(type));
		return begins && !types.some((type) => /\.lmChat/.test(type));
	});

	it.each(publishable)(
		'%s is published once the credential and Settings are filled in',
		async (file) => {
			const credential = await harness.createCredential();
			const id = await harness.importWorkflow(file, credential);
			await harness.activate(id);
			expect(await harness.host.rest.getWorkflow(id)).toMatchObject({ active: true });
			await harness.host.rest.deactivateWorkflow(id);
		},
	);
});

describe('a round of shards', () => {
	const SHARDS = 2;

	/** The round, with fewer shards and another place where they are called. */
	const round = (path: string) => {
		const url = `${harness.host.url}/webhook/${path}`;
		return exampleWith('large-source-in-shards.json', 'Settings', (node) => {
			const text = JSON.stringify(node.parameters).replace('"value":4', `"value":${SHARDS}`);
			const parameters: unknown = JSON.parse(text.replace(/http:[^"]*/, url));
			return { ...node, parameters };
		});
	};

	it('in which no shard is called does not end well, but with the reasons', async () => {
		const execution = await harness.runManually(await harness.importWorkflow(round('nobody')));
		expect(execution.status).toBe('error');
		expect(execution.error?.message).toMatch(
			/^2 of 2 shards are not stored whole\. .*(404|not registered)/,
		);
		expect(execution.items('Run Again')).toHaveLength(SHARDS);
	});

	it('in which documents are refused says why', async () => {
		const credential = await harness.createCredential();
		// A path of its own: n8n may still be taking back that of the example, which was published above.
		const path = 'xpert-ai-shard-refused';
		const shard = exampleWith('one-shard.json', 'Shard Called', (node) => ({
			...node,
			webhookId: path,
			parameters: { ...(node.parameters as object), path },
		}));
		await harness.activate(await harness.importWorkflow(shard, credential));
		harness.sandbox.faults.add({
			endpoint: 'E3',
			do: 'status',
			status: 400,
			body: { message: 'Quota exceeded' },
		});
		const execution = await harness.runManually(await harness.importWorkflow(round(path)));
		expect(execution.error?.message).toMatch(
			/^2 of 2 shards are not stored whole\. .*Quota exceeded/,
		);
		harness.sandbox.faults.clear();
		const good = await harness.runManually(await harness.importWorkflow(round(path)));
		expect(good.status).toBe('success');
		expect(good.items('Stored')).toHaveLength(SHARDS);
	});
});
