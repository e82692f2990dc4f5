import { readFileSync, writeFileSync } from 'node:fs';

const LENGTH_BYTES = 4;

/** Keeps the bodies of requests in a file. */
export function writeBodies(file: string, bodies: Buffer[]): void {
	const pieces = bodies.flatMap((body) => {
		const length = Buffer.alloc(LENGTH_BYTES);
		length.writeUInt32LE(body.length);
		return [length, body];
	});
	writeFileSync(file, Buffer.concat(pieces));
}

/** The bodies kept in a file; none without one. */
export function readBodies(file: string | undefined): Buffer[] {
	if (file === undefined) return [];
	const all = readFileSync(file);
	const bodies: Buffer[] = [];
	for (let at = 0; at < all.length; ) {
		const from = at + LENGTH_BYTES;
		const end = from + all.readUInt32LE(at);
		bodies.push(all.subarray(from, end));
		at = end;
	}
	return bodies;
}

/** How many bytes they are. */
export const bytesOf = (bodies: Buffer[]): number =>
	bodies.reduce((sum, { length }) => sum + length, 0);
