import { IdOrder } from '../../../../nodes/XpertAi/ingest/storing';

/** Work that ends when it is told to, and notes when it begins and ends. */
function pieces(log: string[]) {
	const ends = new Map<string, () => void>();
	return {
		work: (name: string) => async () => {
			log.push(`${name} begins`);
			await new Promise<void>((resolve) => ends.set(name, resolve));
			log.push(`${name} ends`);
		},
		end: async (name: string) => {
			ends.get(name)?.();
			await new Promise((resolve) => setImmediate(resolve));
		},
	};
}

it('work on the same ID waits for all that was given before', async () => {
	const [log, order] = [[] as string[], new IdOrder()];
	const { work, end } = pieces(log);
	const all = [
		order.after(['a', 'b'], work('1')),
		order.after(['b', 'c'], work('2')),
		order.after(['c', 'a'], work('3')),
	];
	await end('1');
	// Of what was given before, some has ended by now.
	all.push(order.after(['a'], work('4')));
	for (const name of ['2', '3', '4']) await end(name);
	expect(log).toEqual(['1', '2', '3', '4'].flatMap((name) => [`${name} begins`, `${name} ends`]));
	await Promise.all(all);
});

it('work continues after work on the same ID that threw', async () => {
	const [log, order] = [[] as string[], new IdOrder()];
	const broken = order.after(['a'], async () => {
		throw new Error('broken');
	});
	const next = order.after(['a'], async () => void log.push('next'));
	await expect(broken).rejects.toThrow('broken');
	await next;
	expect(log).toEqual(['next']);
});
