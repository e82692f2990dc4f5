import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { turnsWhile, type Clock } from './clock';
import type { Context } from './context';
import { actionsOf, type Action, type ActionOf } from './faults';

/** Cuts the connection before the body is read; true when it did. */
export function dropUnread(
	actions: Action[],
	request: FastifyRequest,
	reply: FastifyReply,
): boolean {
	const drop = actionsOf(actions, 'drop').find((action) => action.when === 'unread');
	if (drop === undefined) return false;
	reply.hijack();
	cut(request, drop);
	return true;
}

/**
 * Misbehaves before the request is worked on. True when that was the answer (or the connection is gone), so
 * that nothing is to be stored.
 */
export async function faultsBefore(
	{ clock, faults }: Pick<Context, 'clock' | 'faults'>,
	actions: Action[],
	request: FastifyRequest,
	reply: FastifyReply,
): Promise<boolean> {
	await delays(clock, actions, 'before');
	for (const hold of actionsOf(actions, 'hold')) await faults.cleared(hold);
	for (const drop of actionsOf(actions, 'drop')) {
		if (drop.when === 'before') {
			reply.hijack();
			cut(request, drop);
			return true;
		}
		if (drop.when === 'during') void cutLater(clock, drop, request, reply);
	}
	const status = actionsOf(actions, 'status').find((action) => action.when === 'before');
	const redirect = actionsOf(actions, 'redirect')[0];
	if (status) await sendStatus(status, reply);
	else if (redirect) await reply.redirect(redirect.to, redirect.status);
	return status !== undefined || redirect !== undefined;
}

/**
 * The work, or a gateway's answer to a server that takes too long: undefined then, and sent. The work goes on.
 */
export async function workedOrGivenUp<T>(
	clock: Clock,
	actions: Action[],
	reply: FastifyReply,
	work: Promise<T>,
): Promise<{ result: T } | undefined> {
	const status = actionsOf(actions, 'status').find((action) => action.when === 'during');
	if (status === undefined) return { result: await work };
	const done = work.then((result) => ({ result }));
	const first = await Promise.race([done, clock.sleep(status.ms)]);
	if (first) return first;
	done.catch(() => undefined);
	await sendStatus(status, reply);
	return undefined;
}

/** Misbehaves when the answer is ready: returns what is to be sent instead. */
export async function faultsAfter(
	clock: Clock,
	actions: Action[],
	request: FastifyRequest,
	reply: FastifyReply,
	payload: unknown,
): Promise<unknown> {
	let answer = payload;
	await delays(clock, actions, 'after');
	for (const drop of actionsOf(actions, 'drop')) if (drop.when === 'after') cut(request, drop);
	for (const fault of actionsOf(actions, 'contentType')) reply.header('content-type', fault.value);
	const status = actionsOf(actions, 'status').find((action) => action.when === 'after');
	if (status) {
		reply.removeHeader('content-length').headers(headersOf(status)).code(status.status);
		answer = bodyOf(status);
	}
	const truncate = actionsOf(actions, 'truncate')[0];
	if (truncate) answer = truncated(request, reply, String(answer ?? ''), truncate.bytes);
	return answer;
}

export async function delays(
	clock: Clock,
	actions: Action[],
	when: 'before' | 'between' | 'after',
): Promise<void> {
	for (const delay of actionsOf(actions, 'delay'))
		if (delay.when === when) await clock.sleep(delay.ms);
}

function cut(request: FastifyRequest, { reset }: ActionOf<'drop'>): void {
	if (reset) request.raw.socket.resetAndDestroy();
	else request.raw.socket.destroy();
}

/** A connection already answered is left alone: the next request may be using it. */
async function cutLater(
	clock: Clock,
	drop: ActionOf<'drop'>,
	request: FastifyRequest,
	reply: FastifyReply,
): Promise<void> {
	await clock.sleep(drop.ms);
	if (!reply.raw.writableEnded) cut(request, drop);
}

const sendStatus = async (status: ActionOf<'status'>, reply: FastifyReply): Promise<void> => {
	await reply.headers(headersOf(status)).code(status.status).send(bodyOf(status));
};

const headersOf = ({ body, contentType, headers }: ActionOf<'status'>) => ({
	'content-type':
		contentType ?? (typeof body === 'string' ? 'text/plain' : 'application/json; charset=utf-8'),
	...headers,
});

const bodyOf = ({ body }: ActionOf<'status'>) =>
	typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);

/** A socket that has not written anything by then does not write. */
const MOST_TURNS = 1000;

/** Announces the whole answer, sends the first bytes of it and cuts the connection. */
function truncated(request: FastifyRequest, reply: FastifyReply, text: string, bytes?: number) {
	const whole = Buffer.from(text);
	reply.header('content-length', whole.length);
	return Readable.from(
		(async function* () {
			const { socket } = request.raw;
			const before = socket.bytesWritten;
			yield whole.subarray(0, bytes ?? Math.floor(whole.length / 2));
			// The socket hands over what was written before it is cut.
			const isWriting = () => socket.bytesWritten === before || socket.writableLength > 0;
			await turnsWhile(isWriting, MOST_TURNS);
			socket.destroy();
		})(),
		{ objectMode: false },
	);
}
