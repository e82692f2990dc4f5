import { switchDocuments } from '../../../../nodes/XpertAi/ingest/disabling';
import { SourceMemory } from '../../../../nodes/XpertAi/ingest/memory';
import type { MemoryRoutes } from '../../../../nodes/XpertAi/ingest/memory';
import { virtualTime } from '../../support/virtualTime';
import { answered } from './support/outcomes';

const ids = ['2f78e81b-0000-4000-8000-00000000000a', '2f78e81b-0000-4000-8000-00000000000b'];

it('what the server takes no note of is not disabled', async () => {
	const sent: string[] = [];
	/** Knows every document, and takes any note but a journal. */
	const send: MemoryRoutes['send'] = async ({ path, body }) => {
		if (typeof body !== 'string') {
			const answer = path.split(',').map((id) => ({ id, processMsg: notes.get(id) }));
			return { ok: true, status: 200, answer };
		}
		const answer = JSON.parse(body) as Array<{ id: string; name?: string; processMsg?: string }>;
		for (const { id, name = 'a document', processMsg = '' } of answer) {
			sent.push(name);
			if (name.includes('is storing')) return answered(422);
			notes.set(id, processMsg);
		}
		return { ok: true, status: 201, answer };
	};
	const notes = new Map<string, string>();
	const clock = virtualTime();
	const memoryRoutes = { send, storePath: '', statusPath: (asked: string[]) => asked.join(',') };
	const place = { knowledgebaseId: 'kb', source: 'a', title: 'a' };
	const memory = await SourceMemory.open(place, memoryRoutes);
	for (const id of ids) memory.stored(id, 'content');
	const disabled: string[] = [];
	const failure = await switchDocuments(ids, {
		memory,
		routes: { ...memoryRoutes, startPath: '', clock },
		disabled: true,
		onSwitched: (id) => disabled.push(id),
	});
	expect(failure).toMatchObject({ status: 422 });
	expect(disabled).toEqual([]);
	expect(sent).not.toContain('a document');
	expect([...memory.known.ids()]).toEqual(ids);
});
