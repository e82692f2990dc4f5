import { withProgress } from '../../../../nodes/XpertAi/execution/progress';
import { node } from '../../support/node';

/** A clock of which only the timers are used: a test lets each half minute pass. */
function timers() {
	const due: Array<() => void> = [];
	const later = (ms: number, work: () => void) => {
		expect(ms).toBe(30_000);
		due.push(work);
	};
	return { later, pass: () => due.shift()?.() };
}

it('long work writes a line every half minute until it has ended', async () => {
	const clock = timers();
	const lines: string[] = [];
	const logger = { info: (line: string) => lines.push(line) };
	let done = 0;
	const work = async () => {
		for (done = 1; done <= 2; done++) clock.pass();
		return await Promise.resolve('result');
	};
	const context = { getNode: () => node, logger } as unknown as Parameters<typeof withProgress>[0];
	expect(await withProgress(context, () => `${done} of 2`, work, clock)).toBe('result');
	clock.pass();
	expect(lines).toEqual([`${node.name}: 1 of 2`, `${node.name}: 2 of 2`]);
});

it('work that fails writes no more lines', async () => {
	const clock = timers();
	const context = { getNode: () => node, logger: undefined } as unknown as Parameters<
		typeof withProgress
	>[0];
	const failing = withProgress(
		context,
		String,
		async () => await Promise.reject(new Error('no')),
		clock,
	);
	await expect(failing).rejects.toThrow('no');
	expect(clock.pass).not.toThrow();
});
