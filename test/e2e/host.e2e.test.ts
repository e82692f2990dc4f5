import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readWorkflowFile, toNewWorkflow, wantsActivation } from '../../host/examples';
import { doOnce, hashFiles } from '../../host/stamp';

const folder = mkdtempSync(join(tmpdir(), 'xpertai-host-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('work that is done once', () => {
	it('is done again when it was interrupted or its input has changed, and not otherwise', async () => {
		const stamp = join(folder, 'stamp');
		const source = join(folder, 'source.ts');
		const work = jest.fn().mockRejectedValueOnce(new Error('interrupted'));
		const attempt = async () => await doOnce(stamp, hashFiles(folder, [source]), work);
		writeFileSync(source, '1');
		await expect(attempt()).rejects.toThrow('interrupted');
		expect(await attempt()).toBe(true);
		expect(await attempt()).toBe(false);
		writeFileSync(source, '2');
		expect(await attempt()).toBe(true);
		expect(work).toHaveBeenCalledTimes(3);
	});
});

describe('an example', () => {
	it('gets the ids of the credentials it names and loses what belongs to another n8n', () => {
		const path = join(folder, 'example.json');
		const credentials = {
			xpertAiApi: { id: 'theirs', name: 'Known' },
			other: { id: 'o', name: 'Unknown' },
		};
		const webhook = {
			name: 'Hook',
			type: 'n8n-nodes-base.webhook',
			webhookId: 'theirs',
			credentials,
		};
		const exported = { id: '1', versionId: '2', name: 'E', nodes: [webhook], connections: {} };
		writeFileSync(path, JSON.stringify(exported));
		const file = readWorkflowFile(path);
		expect(wantsActivation(file)).toBe(true);
		expect(toNewWorkflow(file, [{ id: 'ours', name: 'Known' }])).toEqual({
			name: 'E',
			nodes: [
				{
					...webhook,
					webhookId: expect.stringMatching(/^[0-9a-f-]{36}$/),
					credentials: { xpertAiApi: { id: 'ours', name: 'Known' }, other: credentials.other },
				},
			],
			connections: {},
			settings: {},
			pinData: {},
		});
	});
});
