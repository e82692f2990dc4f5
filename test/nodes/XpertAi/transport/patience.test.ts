import type { Outcome } from '../../../../nodes/XpertAi/transport/request';
import { repeatedSend } from '../../../../nodes/XpertAi/transport/sendWithRetries';
import { virtualTime } from '../../support/virtualTime';
import { answered, succeeded } from '../ingest/support/outcomes';

const REQUEST = { method: 'POST' as const, path: '/bulk', body: '[]' };
const AWAY = answered(502);

/** How often each of so many requests is sent, one after another, where these are the answers in turn. */
async function tries(requests: number, answers: Outcome[]): Promise<number[]> {
	const waiting = [...answers];
	let sent = 0;
	const send = repeatedSend(
		async () => {
			sent += 1;
			return waiting.shift() ?? succeeded();
		},
		{ limits: { maxTries: 3, maxElapsedMs: Infinity }, timeoutMs: 1000, clock: virtualTime() },
	);
	const counts: number[] = [];
	for (let left = requests; left > 0; left -= 1) {
		const before = sent;
		await send(REQUEST);
		counts.push(sent - before);
	}
	return counts;
}

describe('a server that stays away', () => {
	it('is waited for once: until it answers, each further request is sent once', async () => {
		const away = Array.from({ length: 5 }, () => AWAY);
		expect(await tries(4, [...away, succeeded(), AWAY])).toEqual([3, 1, 1, 1]);
	});

	it.each([
		['answers', succeeded()],
		['says no, which is an answer', answered(400)],
	])('is waited for again when it %s', async (_, answer) => {
		expect(await tries(3, [AWAY, AWAY, AWAY, answer, AWAY, AWAY])).toEqual([3, 1, 3]);
	});
});
