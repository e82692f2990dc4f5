import { randomUUID } from 'node:crypto';
import { isEqual, pick } from 'lodash';
import { PASSAGE_DEFAULTS, type Passage } from './entities';
import { ApiError } from './errors';
import { asObject, isUuid, type Loose } from './values';

/** How many changes a part that has lost its document stays lost for, the one that lost it included. */
const CHANGES_LOST = 2;

/** The pages or chunks of a document, with those that have lost it; no answer and no search shows these. */
export interface Parts {
	linked: Passage[];
	lost: Map<string, LostPart>;
}

/** A part that has lost its document, and at how many more changes it is still lost. */
export interface LostPart {
	part: Passage;
	changes: number;
}

/** The parts as they come back in an answer: all that were sent, whether they keep their document or not. */
export function read(sent: unknown, documentId: string, now: string, extra: Loose): Passage[] {
	return (Array.isArray(sent) ? sent : []).map((part) => ({
		...PASSAGE_DEFAULTS,
		...extra,
		...asObject(part),
		documentId,
		id: isUuid(asObject(part).id) ? String(asObject(part).id) : randomUUID(),
		createdAt: now,
		updatedAt: now,
	}));
}

/**
 * What becomes of parts when a document is sent again with these. One with its old id and another content
 * loses its document, and gets it back at the change after next; the same content changes nothing; whatever
 * else was there is replaced.
 */
export function merged({ linked, lost }: Parts, sent: Passage[]): Parts {
	const after: Parts = { linked: [], lost: new Map(lost) };
	for (const part of sent) {
		const known = linked.find(({ id }) => id === part.id);
		const gone = lost.get(part.id);
		const before = known ?? gone?.part;
		const changed = before !== undefined && !sameContent(before, part);
		const changes = (known ? CHANGES_LOST + 1 : (gone?.changes ?? 0)) - (changed ? 1 : 0);
		if (known && !changed) after.linked.push(known);
		else if (changes > 0) after.lost.set(part.id, { part, changes });
		else {
			after.lost.delete(part.id);
			after.linked.push(part);
		}
	}
	return after;
}

const sameContent = (one: Passage, other: Passage): boolean =>
	isEqual(pick(one, 'pageContent', 'metadata'), pick(other, 'pageContent', 'metadata'));

/**
 * A document that has chunks cannot be sent with other ones, nor with fewer or none: the answer is 400 with
 * an empty body, and nothing is stored.
 */
export function refuseOtherChunks({ linked, lost }: Parts, sent: unknown): void {
	if (linked.length === 0 || !Array.isArray(sent)) return;
	const ids = sent.map((chunk) => asObject(chunk).id);
	const known = new Set<unknown>([...linked.map(({ id }) => id), ...lost.keys()]);
	const all = linked.every(({ id }) => ids.includes(id)) && ids.every((id) => known.has(id));
	if (!all) throw new ApiError(400, {});
}
