import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

export async function listen(server: Server): Promise<number> {
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return (server.address() as AddressInfo).port;
}

export async function whileListening(
	server: HttpServer,
	use: (port: number) => Promise<void>,
): Promise<void> {
	try {
		await use(await listen(server));
	} finally {
		server.closeAllConnections();
		server.close();
	}
}
