import axios from 'axios';
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';

import type { Load, Ready, Task } from './contender';
import { atOnce } from './atOnce';

/** A bare client: keep-alive connections, bodies made and encoded beforehand, nothing checked or kept. */
export async function bareAxios({ target, concurrency }: Task) {
	const agent = { keepAlive: true, maxSockets: concurrency };
	const client = axios.create({
		httpAgent: new Agent(agent),
		httpsAgent: new TlsAgent(agent),
		headers: {
			Authorization: `Bearer ${target.credential.accessToken}`,
			'Content-Type': 'application/json',
		},
		maxBodyLength: Infinity,
	});
	return ({ bodies }: Load): Ready =>
		async () =>
			await atOnce(concurrency, bodies, async (body) => {
				const { data } = await client.post<unknown[]>(target.url, body);
				return data.length;
			});
}
