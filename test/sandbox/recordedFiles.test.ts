import { upload } from './support/client';
import { newKnowledgebase, process, store } from './support/knowledge';
import { bytesOf, encodedFiles, sheetFiles, type RecordedFile } from './support/recordedFiles';
import { useSandbox } from './support/useSandbox';

const ID = '44444444-4444-4444-8444-444444444444';

/** Of these, the sandbox has no reader, or the server says where it keeps a picture of the page. */
const WITHOUT_TEXT = /\.(docx|epub|pptx|pdf)$/;

/** The server cuts it in the middle of rows, the sandbox between them: it reads the `\n` of the default separators as a line break. */
const CUT_OTHERWISE = 'many.csv';

describe.each([
	['encodings', encodedFiles],
	['sheets-as-txt', sheetFiles()],
])('the files of the recording %s', (_, files) => {
	const { sandbox, client } = useSandbox({ processMs: 1 });

	it.each(files.map((file): [string, string, RecordedFile] => [file.name, file.type, file]))(
		'end as recorded: %s, sent with type %s',
		async (_name, _type, file) => {
			const kb = await newKnowledgebase(client);
			const { id: storageFileId, url: fileUrl } = await upload(client, bytesOf(file), file.name);
			const { name, type, status, processMsg } = file;
			await store(client, kb, [{ id: ID, name, type, storageFileId, fileUrl }]);
			expect(await process(client, kb, [ID])).toMatchObject([{ status, processMsg }]);
			if (WITHOUT_TEXT.test(name)) return;
			const chunks = sandbox.store.findable(ID)?.chunks ?? [];
			expect(chunks).toHaveLength(file.count);
			if (name === CUT_OTHERWISE) return;
			expect(chunks.map((chunk, n) => chunk.slice(0, file.chunks[n]?.length))).toEqual(file.chunks);
		},
	);
});
