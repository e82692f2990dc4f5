import {
	createServer,
	request as httpRequest,
	STATUS_CODES,
	type IncomingHttpHeaders,
	type IncomingMessage,
	type ServerResponse,
} from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { listen } from './listen';

/** An answer of the proxy itself. */
export interface OwnAnswer {
	status: number;
	body: string;
	/** To a request for a tunnel, send the head and never the body, as over a slow network. */
	torn?: boolean;
}

/** What a proxy does with a request: passes it on, closes the connection, or answers by itself. */
export type Conduct = 'forward' | 'close' | OwnAnswer;

/** A request as it came to the proxy; of one through a tunnel only the CONNECT. */
export interface Proxied {
	method: string;
	/** The whole address, or `host:port` of a tunnel. */
	target: string;
	headers: IncomingHttpHeaders;
}

/** A forward proxy on loopback. */
export interface ForwardProxy {
	/** Its `host:port`. */
	address: string;
	/** Everything that was asked of it. */
	seen: Proxied[];
	/** All that was sent through its tunnels, which it cannot read if it is TLS. */
	tunnelled: () => Buffer;
	close: () => Promise<void>;
}

/** Starts a forward proxy, for plain HTTP and for tunnels (CONNECT). */
export async function startProxy(conduct: Conduct = 'forward'): Promise<ForwardProxy> {
	const seen: Proxied[] = [];
	const passed: Buffer[] = [];
	const sockets = new Set<Duplex>();
	const see = ({ method = '', url = '', headers }: IncomingMessage) =>
		seen.push({ method, target: url, headers });

	const server = createServer((request, response) => {
		see(request);
		if (conduct === 'forward') forward(request, response);
		// Once the whole request is there: whoever is still sending may see the closed connection first.
		else request.resume().on('end', () => refuse(response, conduct));
	});
	server.on('connection', (socket: Socket) => sockets.add(socket));
	server.on('connect', (request: IncomingMessage, socket: Duplex) => {
		see(request);
		socket.on('error', () => undefined);
		if (conduct === 'close') socket.end();
		else if (conduct === 'forward') sockets.add(openTunnel(request.url ?? '', socket, passed));
		else refuseTunnel(socket, conduct);
	});
	return {
		address: `127.0.0.1:${await listen(server)}`,
		seen,
		tunnelled: () => Buffer.concat(passed),
		close: async () => {
			sockets.forEach((socket) => socket.destroy());
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

/** Passes a request on as proxies do: without the headers meant for the proxy itself. */
function forward(request: IncomingMessage, response: ServerResponse): void {
	const { hostname, port, pathname, search } = new URL(request.url ?? '');
	const headers = { ...request.headers };
	delete headers['proxy-authorization'];
	delete headers['proxy-connection'];
	const onward = httpRequest(
		{ hostname, port, method: request.method, path: pathname + search, headers },
		(answer) => {
			response.writeHead(answer.statusCode ?? 502, answer.headers);
			answer.pipe(response);
		},
	);
	onward.on('error', () => response.destroy());
	request.pipe(onward);
}

function openTunnel(target: string, near: Duplex, passed: Buffer[]): Socket {
	const [host, port] = target.split(':');
	const far = connect(Number(port), host, () => {
		near.write('HTTP/1.1 200 Connection established\r\n\r\n');
		near.on('data', (bytes: Buffer) => passed.push(bytes));
		near.pipe(far).pipe(near);
	});
	far.on('error', () => near.destroy());
	return far;
}

function refuse(response: ServerResponse, conduct: 'close' | OwnAnswer): void {
	if (conduct === 'close') response.destroy();
	else response.writeHead(conduct.status).end(conduct.body);
}

function refuseTunnel(socket: Duplex, { status, body, torn }: OwnAnswer): void {
	const length = Buffer.byteLength(body);
	const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Length: ${length}\r\n\r\n`;
	if (torn) socket.write(head);
	else socket.end(head + body);
}
