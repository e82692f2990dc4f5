import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from './clock';
import type { Fault } from './faults';

type Of<Do extends Fault['do']> = Extract<Fault, { do: Do }>;

const of = <Do extends Fault['do']>(faults: Fault[], kind: Do) =>
	faults.filter((fault): fault is Of<Do> => fault.do === kind);

/**
 * Misbehaves before the request is worked on. True when that was the answer (or the connection is gone), so
 * that nothing is to be stored.
 */
export async function faultsBefore(
	clock: Clock,
	faults: Fault[],
	request: FastifyRequest,
	reply: FastifyReply,
): Promise<boolean> {
	for (const fault of of(faults, 'delay')) if (fault.when === 'before') await clock.sleep(fault.ms);
	for (const fault of of(faults, 'drop')) {
		if (fault.when === 'before') {
			reply.hijack();
			request.raw.socket.destroy();
			return true;
		}
		if (fault.when === 'during')
			void clock.sleep(fault.ms).then(() => request.raw.socket.destroy());
	}
	const status = of(faults, 'status').find((fault) => fault.when === 'before');
	const redirect = of(faults, 'redirect')[0];
	if (status) await reply.headers(headersOf(status)).code(status.status).send(bodyOf(status));
	else if (redirect) await reply.redirect(redirect.to, redirect.status);
	return status !== undefined || redirect !== undefined;
}

/** Misbehaves when the answer is ready: returns what is to be sent instead. */
export async function faultsAfter(
	clock: Clock,
	faults: Fault[],
	request: FastifyRequest,
	reply: FastifyReply,
	payload: unknown,
): Promise<unknown> {
	let answer = payload;
	for (const fault of of(faults, 'delay')) if (fault.when === 'after') await clock.sleep(fault.ms);
	for (const fault of of(faults, 'drop')) if (fault.when === 'after') request.raw.socket.destroy();
	for (const fault of of(faults, 'contentType')) reply.header('content-type', fault.value);
	const status = of(faults, 'status').find((fault) => fault.when === 'after');
	if (status) {
		reply.removeHeader('content-length').headers(headersOf(status)).code(status.status);
		answer = bodyOf(status);
	}
	const truncate = of(faults, 'truncate')[0];
	if (truncate) answer = truncated(request, reply, String(answer ?? ''), truncate.bytes);
	return answer;
}

const headersOf = ({ body, contentType, headers }: Of<'status'>) => ({
	'content-type':
		contentType ?? (typeof body === 'string' ? 'text/plain' : 'application/json; charset=utf-8'),
	...headers,
});

const bodyOf = ({ body }: Of<'status'>) =>
	typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);

/** Announces the whole answer, sends the first bytes of it and cuts the connection. */
function truncated(request: FastifyRequest, reply: FastifyReply, text: string, bytes?: number) {
	const whole = Buffer.from(text);
	reply.header('content-length', whole.length);
	return Readable.from(
		(async function* () {
			yield whole.subarray(0, bytes ?? Math.floor(whole.length / 2));
			// The socket needs a moment to hand over what was written before it is cut.
			await wait(20);
			request.raw.socket.destroy();
		})(),
		{ objectMode: false },
	);
}
