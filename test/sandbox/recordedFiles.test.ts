import { pick } from 'lodash';
import { COPILOT_ID, FakeClock } from 'sandbox';
import { turnsWhile } from 'sandbox/clock';
import { upload } from './support/client';
import { bytesOf, recordedFiles } from './support/recordedFiles';
import { useSandbox } from './support/useSandbox';

const ENDED = /^(?:finish|error|cancel)$/;

describe('the files of the recordings encodings and sheets-as-txt', () => {
	const clock = new FakeClock();
	const { sandbox, client } = useSandbox({ processMs: 1, clock });

	it.each(recordedFiles.map((file) => [file.name, file.type, file] as const))(
		'%s, sent with type %s, ends as recorded',
		async (name, type, file) => {
			const copilotModel = { copilotId: COPILOT_ID, model: 'fake-embed' };
			const { data: made } = await client.post<{ id: string }>('/api/ai/knowledges', {
				name,
				copilotModel,
			});
			const path = `/api/ai/knowledges/${made.id}`;
			const { id: storageFileId, url: fileUrl } = await upload(client, bytesOf(file), name);
			const document = { name, type, storageFileId, fileUrl };
			const { data } = await client.post<Array<{ id: string }>>(`${path}/bulk`, [document]);
			const { id = '' } = data[0] ?? {};
			await client.post(`${path}/process`, [id]);
			const status = () => sandbox.store.documents.get(id);
			while (!ENDED.test(String(status()?.status))) {
				await clock.advance(1);
				await turnsWhile(() => true, 1);
			}
			expect(pick(status(), 'status', 'processMsg')).toEqual(pick(file, 'status', 'processMsg'));
			if (file.status !== 'finish') return;
			expect(sandbox.store.findable(id)?.chunks).toHaveLength(file.count);
		},
	);
});
