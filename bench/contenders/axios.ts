import axios from 'axios';
import { chunk } from 'lodash';
import { Agent } from 'node:http';
import type { IDataObject } from 'n8n-workflow';

import type { ReadyDocument, Task } from './contender';

/** A bare client: keep-alive connections, bodies made and encoded beforehand, nothing checked or kept. */
export async function bareAxios({ target, batchSize, concurrency }: Task) {
	const client = axios.create({
		httpAgent: new Agent({ keepAlive: true, maxSockets: concurrency }),
		headers: {
			Authorization: `Bearer ${target.credential.accessToken}`,
			'Content-Type': 'application/json',
		},
		maxBodyLength: Infinity,
	});
	return (documents: IDataObject[]): ReadyDocument => {
		const batches = chunk(documents, batchSize).map((batch) => Buffer.from(JSON.stringify(batch)));
		return {
			run: async () => {
				const waiting = batches.values();
				let stored = 0;
				const work = async () => {
					for (const body of waiting) {
						const { data } = await client.post<unknown[]>(target.url, body);
						stored += data.length;
					}
				};
				await Promise.all(Array.from({ length: concurrency }, work));
				return stored;
			},
		};
	};
}
