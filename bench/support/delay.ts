import { createConnection, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/**
 * A distance to a server on this machine: bytes take half a round trip each way, and a connection is there
 * after a whole one, as the greeting of TCP takes.
 *
 * @returns the port at the far end
 */
export async function distantPort(port: number, roundTripMs: number): Promise<number> {
	const oneWay = roundTripMs / 2;
	const server = createServer({ noDelay: true }, (near) => {
		const far = createConnection({ port, host: '127.0.0.1', noDelay: true });
		// What the client says first, it says after the greeting.
		const greeted = performance.now() + roundTripMs;
		passOn(near, far, () => Math.max(greeted - performance.now(), 0) + oneWay);
		passOn(far, near, () => oneWay);
	});
	await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
	return (server.address() as AddressInfo).port;
}

/** Hands on what comes after a while, in its order. */
function passOn(from: Socket, to: Socket, delay: () => number): void {
	let last = 0;
	const later = (work: () => void) => {
		const due = Math.max(last, performance.now() + delay());
		last = due;
		setTimeout(work, due - performance.now());
	};
	from.on('data', (piece) => later(() => to.writable && to.write(piece)));
	from.on('end', () => later(() => to.end()));
	from.on('error', () => to.destroy());
	from.on('close', () => later(() => to.destroySoon()));
}
