import { createServer } from 'node:net';
import { codeOf, HostError } from './messages';

export const LOOPBACK = '127.0.0.1';

/** A port nobody listens on at the moment, chosen by the system. */
export async function freePort(): Promise<number> {
	return await listenOnce(0);
}

/**
 * Makes sure that a port can be had.
 *
 * @param port the port wanted
 * @param purpose who wants it, for the message
 * @param flag the command line flag that chooses another one
 * @throws HostError when another program holds it or the system forbids it
 */
export async function requireFreePort(port: number, purpose: string, flag: string): Promise<void> {
	try {
		await listenOnce(port);
	} catch (error) {
		const code = codeOf(error);
		const reason =
			code === 'EADDRINUSE'
				? 'another program is using it (perhaps an earlier start that is still running)'
				: `the system does not give it (${String(code)})`;
		throw new HostError(
			`${purpose} needs port ${port} on ${LOOPBACK}, but ${reason}.\n` +
				`End that program, or choose another port: npm start -- ${flag} ${port + 10}`,
		);
	}
}

async function listenOnce(port: number): Promise<number> {
	return await new Promise((resolve, reject) => {
		const server = createServer();
		server.once('error', reject);
		server.listen({ port, host: LOOPBACK, exclusive: true }, () => {
			const address = server.address();
			const chosen = typeof address === 'object' && address !== null ? address.port : port;
			server.close(() => resolve(chosen));
		});
	});
}
