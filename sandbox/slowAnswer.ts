import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Clock } from './clock';

const SECOND = 1000;

/** Sends the headers at once, a newline a second while the work goes on, then its result as JSON. */
export function slowly(clock: Clock, reply: FastifyReply, done: Promise<unknown>): Readable {
	// Should the client leave first, nobody is left to hear of a failure.
	done.catch(() => undefined);
	const finished = done.then((result) => ({ result }));
	return Readable.from(
		(async function* () {
			reply.raw.flushHeaders();
			for (;;) {
				const end = await Promise.race([finished, clock.sleep(SECOND)]);
				if (end) {
					yield JSON.stringify(end.result);
					return;
				}
				yield '\n';
			}
		})(),
		{ objectMode: false },
	);
}
