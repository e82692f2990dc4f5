import { createHash } from 'crypto';

import { z } from 'zod';

import { Fingerprints, bytesEach } from './fingerprints';
import type { Standing } from './fingerprints';

/** Stands before every note, so that one of another version counts as nothing known. */
const FORMAT = 'n8n-memory-1';

const STANDINGS: Standing[] = ['settled', 'pending', 'unknown'];

const head = z.object({
	/** Whose note it is. */
	source: z.string(),
	/** Made anew each time the note is written. */
	mark: z.string(),
	/** The marks of the journals whose documents it holds as well. */
	includes: z.array(z.string()).optional(),
	/** Whether another run was at work at the same time, so that no content is certain. */
	overlapped: z.boolean().optional(),
	/** How many documents of each standing follow. */
	counts: z.array(z.number().int().min(0)).length(STANDINGS.length),
});

/** What a source keeps beside its documents on the server. */
export interface MemoryNote extends Omit<z.infer<typeof head>, 'counts'> {
	known: Fingerprints;
}

/** Why a note cannot be used. */
export type NoteFlaw = 'damaged' | 'of another version' | 'of another source';

/** A note as text: a version, a checksum, whose it is, and 24 bytes a document. */
export function noteText({ known, ...facts }: MemoryNote): string {
	const parts = STANDINGS.map((standing) => known.bytesOf(standing));
	const counts = parts.map((part, index) => part.length / bytesEach(STANDINGS[index] ?? 'unknown'));
	const facing = Buffer.from(JSON.stringify({ ...facts, counts })).toString('base64');
	const rest = `${facing}:${Buffer.concat(parts).toString('base64')}`;
	return `${FORMAT}:${checksum(rest)}:${rest}`;
}

/** Reads what `noteText` gave; `undefined` where nothing was ever written. */
export function readNote(text: unknown, source: string): MemoryNote | NoteFlaw | undefined {
	if (text === undefined || text === null || text === '') return undefined;
	if (typeof text !== 'string') return 'damaged';
	if (!text.startsWith(`${FORMAT}:`))
		return text.startsWith('n8n-memory-') ? 'of another version' : 'damaged';
	const [, sum, facing = '', body = ''] = text.split(':');
	if (sum !== checksum(`${facing}:${body}`)) return 'damaged';
	const read = headOf(Buffer.from(facing, 'base64').toString());
	if (!read) return 'damaged';
	const { counts, ...facts } = read;
	if (facts.source !== source) return 'of another source';
	return { ...facts, known: readDocuments(Buffer.from(body, 'base64'), counts) };
}

function headOf(json: string): z.infer<typeof head> | undefined {
	try {
		return head.safeParse(JSON.parse(json)).data;
	} catch {
		return undefined;
	}
}

function readDocuments(bytes: Buffer, counts: number[]): Fingerprints {
	const known = new Fingerprints();
	let at = 0;
	STANDINGS.forEach((standing, index) => {
		const end = at + (counts[index] ?? 0) * bytesEach(standing);
		known.add(standing, bytes.subarray(at, end));
		at = end;
	});
	return known;
}

function checksum(text: string): string {
	return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
