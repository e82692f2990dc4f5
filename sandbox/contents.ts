import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Files up to this size are held in memory, larger ones on disk. */
const IN_MEMORY = 4 * 1024 * 1024;

/** So much is at hand of a file that is not in memory. */
const HEAD_LENGTH = 64 * 1024;

/** The first bytes of a stream: all of them, or more than `limit` of them when there are more. */
export async function upTo(chunks: AsyncIterator<Buffer>, limit: number): Promise<Buffer> {
	const read: Buffer[] = [];
	let length = 0;
	while (length <= limit) {
		const { done, value } = await chunks.next();
		if (done) break;
		read.push(value);
		length += value.length;
	}
	return Buffer.concat(read);
}

export interface Content {
	size: number;
	/** All of them, or the first 64 kB of a file that is on disk or not kept. */
	head: Buffer;
	path?: string;
}

/** The bytes of the uploaded files; the large ones are in a temporary directory. */
export class Contents {
	private readonly byName = new Map<string, Content>();
	private directory?: string;

	/** Without `keep`, no more than the first 64 kB of any file are held. */
	constructor(private readonly keep = true) {}

	/** Reads an upload to its end. What is on disk of one that is cut off or refused goes with `clear`. */
	async receive(upload: AsyncIterable<Buffer>): Promise<Content> {
		const chunks = upload[Symbol.asyncIterator]();
		const limit = this.keep ? IN_MEMORY : HEAD_LENGTH;
		const begun = await upTo(chunks, limit);
		if (begun.length <= limit) return { size: begun.length, head: begun };
		const head = Buffer.from(begun.subarray(0, HEAD_LENGTH));
		const path = this.keep ? join(this.ownDirectory(), randomUUID()) : undefined;
		return { size: await written(begun, chunks, path), head, path };
	}

	put(name: string, content: Content): void {
		this.byName.set(name, content);
	}

	at(name: string): Content | undefined {
		return this.byName.get(name);
	}

	remove(name: string): void {
		const path = this.at(name)?.path;
		if (path !== undefined) rmSync(path, { force: true });
		this.byName.delete(name);
	}

	/** Forgets all files and leaves nothing on disk. */
	clear(): void {
		this.byName.clear();
		if (this.directory !== undefined) rmSync(this.directory, { recursive: true, force: true });
		this.directory = undefined;
	}

	private ownDirectory(): string {
		this.directory ??= mkdtempSync(join(tmpdir(), 'xpert-sandbox-'));
		return this.directory;
	}
}

/** Writes what was read and what is still to come to a file, or nowhere; gives how much it was. */
async function written(
	begun: Buffer,
	chunks: AsyncIterator<Buffer>,
	path: string | undefined,
): Promise<number> {
	let size = 0;
	async function* all() {
		for (let next: Buffer | undefined = begun; next; next = await following(chunks)) {
			size += next.length;
			yield next;
		}
	}
	await pipeline(all(), path === undefined ? nowhere() : createWriteStream(path));
	return size;
}

async function following(chunks: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
	const { done, value } = await chunks.next();
	return done ? undefined : value;
}

const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });

export const served = ({ head, path }: Content): Buffer | Readable =>
	path === undefined ? head : createReadStream(path);
