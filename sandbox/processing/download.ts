import type { Readable } from 'node:stream';
import axios, { isAxiosError } from 'axios';
import { upTo } from '../contents';

/** A file that is being fetched: its first bytes, and as many more as are wanted. */
interface Download {
	/** Reads on until there are more than `limit` bytes or no more to come; gives all that was read. */
	upTo(limit: number): Promise<Buffer>;
	close(): void;
}

/**
 * Begins to fetch a file.
 *
 * @throws Error with what the real server says of an address it cannot fetch
 */
export async function download(url: string): Promise<Download> {
	const stream = await begun(url);
	const chunks = (stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
	let read: Buffer = Buffer.alloc(0);
	return {
		upTo: async (limit) => {
			if (read.length <= limit)
				read = Buffer.concat([read, await upTo(chunks, limit - read.length)]);
			return read;
		},
		close: () => void stream.destroy(),
	};
}

async function begun(url: string): Promise<Readable> {
	try {
		return (await axios.get<Readable>(url, { responseType: 'stream' })).data;
	} catch (error) {
		if (!isAxiosError<Readable>(error) || !error.response) throw error;
		error.response.data.destroy();
		throw new Error(`Failed to get '${url}' (${error.response.status})`);
	}
}
