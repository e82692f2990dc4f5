import { NODE_TYPE } from '../../e2e/support/harness';
import { ownN8n } from '../../e2e/support/ownN8n';

/** Holds that an n8n started in a user folder has both our nodes. */
export async function expectNodesIn(userFolder: string): Promise<void> {
	const { n8n, leave } = await ownN8n({ userFolder, withoutNode: true });
	const nodeInfos = ['', 'Trigger'].map((end) => ({ name: `${NODE_TYPE}${end}`, version: 1 }));
	expect(await n8n.rest.request('POST', '/rest/node-types', { nodeInfos })).toHaveLength(2);
	await leave();
}
