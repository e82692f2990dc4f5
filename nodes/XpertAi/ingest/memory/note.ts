import { createHash } from 'crypto';

import { z } from 'zod';

import { CONTENT_BYTES, OLD_CONTENT_BYTES, bytesEach } from './fingerprints';
import type { Fingerprints, Standing } from './fingerprints';

/**
 * Stands before every note, with its version. Notes of the first are one memory and two journals without pages;
 * before the third they keep more bytes of each content; before the fourth none says what was on its way.
 */
const FORMAT = 'n8n-memory-';
const VERSION = 4;

/** The last version that kept more bytes of each content. */
const LAST_OF_LONG_CONTENTS = 2;

const STANDINGS: Standing[] = ['settled', 'pending', 'unknown', 'gone', 'sent'];

const head = z.object({
	/** Whose note it is. */
	source: z.string(),
	/** Made anew each time the note is written. */
	mark: z.string(),
	/** Of the memory: the marks of the pages of journals whose documents it holds as well. */
	includes: z.array(z.string()).optional(),
	/** Of the memory: the runs whose journals it holds as well, up to which writing of a page. */
	closed: z.array(z.tuple([z.string(), z.number()])).optional(),
	/** Of the memory: those of these runs of which a request may still be carried out. */
	unsettled: z.array(z.string()).optional(),
	/** Of a page of a journal: whether another run was at work at the same time, so that no content is certain. */
	overlapped: z.boolean().optional(),
	/** Of a run: which writings of pages went with batches that were carried out. */
	done: z.object({ from: z.number(), to: z.number(), but: z.array(z.number()) }).optional(),
	/** Of a run: which pages it certainly has on the server, counted from 0. */
	pages: z.object({ to: z.number(), but: z.array(z.number()) }).optional(),
	/** The mark of the note that this one adds to. */
	after: z.string().optional(),
	/** Of the turn: whether the run works beside others, and so takes no lease. */
	beside: z.boolean().optional(),
	/**
	 * Of the lease: which run is at work, since when, and whether it has given it back; `left` where the memory does
	 * not hold all that it has noted.
	 */
	lease: z
		.object({
			by: z.string(),
			since: z.string(),
			ended: z.boolean(),
			left: z.boolean().optional(),
		})
		.optional(),
	/** Of the memory: of each of its pieces how many documents it holds, and whether changes lie beside it. */
	pieces: z.array(z.tuple([z.number(), z.boolean()])).optional(),
	/** Of the memory: how many notes hold names, and whether the last one has room. */
	names: z.object({ notes: z.number().int().min(0), hasRoom: z.boolean() }).optional(),
	/** How many documents of each standing follow. */
	counts: z.array(z.number().int().min(0)).min(3).max(STANDINGS.length),
});

type Head = z.infer<typeof head>;

/** What a note says of itself. */
export type NoteFacts = Omit<Head, 'counts' | 'source'>;

/** What a source keeps beside its documents on the server. */
export type MemoryNote = Head & {
	/** Whether it is of a version before this one. */
	isOld: boolean;
	/** Bytes it keeps of each content. */
	contentBytes: number;
	body: Buffer;
};

/**
 * Why a note cannot be used. `overwritten`: the server has put something of its own in its place, as it does when
 * somebody has it processed.
 */
export type NoteFlaw = 'damaged' | 'overwritten' | 'of a later version' | 'of another source';

/** What a note holds. */
export interface HeldByNote {
	/** The keys of its documents. */
	keys?: Iterable<string>;
	/** The keys of those of them that are on their way in its request. */
	sent?: Set<string>;
	/** What it holds in their place. */
	body?: Buffer;
}

/** A note as text: a version, a checksum, whose it is, and 22 bytes a document, or something else. */
export function noteText(
	facts: NoteFacts & { source: string },
	known: Fingerprints,
	{ keys = [], sent, body }: HeldByNote = {},
): string {
	const list = [...keys];
	const parts = STANDINGS.map((standing) => known.bytesOf(standing, list, sent));
	const counts = parts.map((part, index) => part.length / bytesEach(STANDINGS[index] ?? 'unknown'));
	const facing = Buffer.from(JSON.stringify({ ...facts, counts })).toString('base64');
	const rest = `${facing}:${(body ?? Buffer.concat(parts)).toString('base64')}`;
	return `${FORMAT}${VERSION}:${checksum(rest)}:${rest}`;
}

/** Reads what `noteText` gave, in this version and those before. */
export function readNote(text: string, source: string): MemoryNote | NoteFlaw {
	if (!text.startsWith(FORMAT)) return 'overwritten';
	const [title = '', sum, facing = '', body = ''] = text.split(':');
	const version = Number(title.slice(FORMAT.length));
	if (version > VERSION) return 'of a later version';
	const isOurs = version >= 1 && sum === checksum(`${facing}:${body}`);
	if (!isOurs) return 'damaged';
	const read = headOf(Buffer.from(facing, 'base64').toString());
	if (!read) return 'damaged';
	if (read.source !== source) return 'of another source';
	const contentBytes = version > LAST_OF_LONG_CONTENTS ? CONTENT_BYTES : OLD_CONTENT_BYTES;
	return {
		...read,
		isOld: version < VERSION,
		contentBytes,
		body: Buffer.from(body, 'base64'),
	};
}

/**
 * Takes up the documents of a note.
 *
 * @param certain whether contents count; if not, each document may be on the server in any state
 * @param done whether what was on its way when it was written has arrived
 */
export function takeUp(
	{ body, counts, contentBytes }: MemoryNote,
	known: Fingerprints,
	{ certain = true, done = false } = {},
): void {
	let at = 0;
	STANDINGS.forEach((standing, index) => {
		const each = bytesEach(standing, contentBytes);
		const end = at + (counts[index] ?? 0) * each;
		const counted = certain && (done || standing !== 'sent');
		known.add(standing, body.subarray(at, end), counted, each);
		at = end;
	});
}

function headOf(json: string): Head | undefined {
	try {
		return head.safeParse(JSON.parse(json)).data;
	} catch {
		return undefined;
	}
}

function checksum(text: string): string {
	return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
