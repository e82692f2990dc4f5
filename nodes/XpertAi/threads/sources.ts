import { compact } from 'lodash';
import { z } from 'zod';

import { lenientNumber, lenientText, sameSchemaForKeys } from '../payloads/zodHelpers';
import { parseAndCleanJson } from '../transport/answer';
import { CitationRewriter } from './citations';
import type { AnswerPart } from './runEventSchemas';
import { isTextPart } from './thread';

/**
 * Collects the passages that a run found or cited, and numbers the cited ones in the order of the run's texts.
 *
 * @param earlier the parts of previous runs on the thread. The assistant can link to passages of previous runs.
 */
export function sourcesOf(parts: AnswerPart[], earlier: AnswerPart[] = []): Sources {
	const sources = new Sources(earlier.flatMap(passagesOf));
	sources.addParts(parts);
	return sources;
}

/**
 * Removes the links to passages from a text, but keeps document names. For outputs that do not list the sources, where a
 * number would mean nothing.
 */
export const withoutLinks = (text: string): string =>
	new CitationRewriter(new Sources(), 'none').rewrite(text);

/** The passages in the result of a part. */
const passagesOf = ({ data }: AnswerPart) => passagesIn(data?.output ?? data?.data);

/** A passage that a tool found (test/recordings/sources.json). */
const toolPassageSchema = z.object({
	documentId: z.string().min(1),
	/** `snippet` is the text of the passage in one line. */
	...sameSchemaForKeys(lenientText, 'documentName', 'knowledgebaseId', 'fileUrl', 'snippet'),
	score: lenientNumber,
	chunkId: z.string().min(1),
});

type Passage = z.infer<typeof toolPassageSchema>;

/** A passage that a workflow's knowledge step found. The step does not name the knowledgebase. */
const stepPassageSchema = z
	.object({
		pageContent: z.string(),
		metadata: z.object({ chunkId: z.string().min(1), score: lenientNumber }),
		document: z.object({ id: z.string().min(1), name: lenientText, fileUrl: lenientText }),
	})
	.transform(
		({ pageContent, metadata: { chunkId, score }, document }): Passage => ({
			documentId: document.id,
			documentName: document.name,
			score,
			snippet: pageContent.replace(/\s+/g, ' ').trim(),
			fileUrl: document.fileUrl,
			chunkId,
		}),
	);

/** A list of passages. Skips all other entries. */
const passageListSchema = z
	.array(z.union([toolPassageSchema, stepPassageSchema]).optional().catch(undefined))
	.transform((list) => compact(list));

/** A search result: a list of passages, or an object with the list in `chunks`. */
const searchResultSchema = z.union([
	passageListSchema,
	z.object({ chunks: passageListSchema }).transform(({ chunks }) => chunks),
]);

/** A passage that the run found or cited. */
export interface NumberedPassage extends Passage {
	/** Counts from 1, in the order of the first citations in the texts of the run. Uncited passages come last. */
	number: number;
	/** Whether the answer links to the passage. */
	cited: boolean;
}

/**
 * The passages in the result of a tool or workflow step.
 *
 * @param raw the result, as a value or as JSON text
 * @returns an empty list if the result is not a search result
 */
export const passagesIn = (raw: unknown): Passage[] =>
	searchResultSchema.safeParse(typeof raw === 'string' ? parseAndCleanJson(raw) : raw).data ?? [];

/**
 * The passages that a run found or cited, without duplicates. A cited passage gets its number by its first citation, as
 * in a book. So its number does not depend on which knowledgebase answered first. Uncited passages come last.
 */
export class Sources {
	/** The found and cited passages, by chunk ID. */
	private readonly found = new Map<string, Passage>();
	/** The numbers of the cited chunks, by chunk ID. */
	private readonly numbers = new Map<string, number>();
	/** The passages of previous runs, by chunk ID. */
	private readonly earlier: Map<string, Passage>;

	/** @param earlier the passages of previous runs on the thread. The assistant can link to these passages. */
	constructor(earlier: Passage[] = []) {
		this.earlier = new Map(earlier.map((passage) => [passage.chunkId, passage]));
	}

	/** Adds passages. A passage that is known only from a link gets the details of its search result. */
	add(passages: Passage[]) {
		for (const passage of passages) {
			const known = this.found.get(passage.chunkId);
			this.found.set(passage.chunkId, { ...passage, ...known });
		}
	}

	/** Adds the passages and the citations of the parts of a run. */
	addParts(parts: AnswerPart[]) {
		const citations = new CitationRewriter(this, 'asWritten');
		for (const part of parts) {
			this.add(passagesOf(part));
			if (part.text !== undefined && isTextPart(part)) citations.rewrite(part.text);
		}
	}

	/**
	 * Returns the number of the passage that a link points to. At the first link, adds the passage and gives it a number.
	 *
	 * @returns undefined if the URL is not a link to a passage
	 */
	assignNumber(url: string): number | undefined {
		const linked = passageFromLink(url);
		if (!linked) return undefined;
		const { chunkId } = linked;
		this.add([this.earlier.get(chunkId) ?? linked]);
		const number = this.numbers.get(chunkId) ?? this.numbers.size + 1;
		this.numbers.set(chunkId, number);
		return number;
	}

	/**
	 * Lists all passages by their numbers: first the passages that the run cites, then all others.
	 *
	 * @param cited the numbers of the passages that the answer cites
	 */
	list(cited: ReadonlySet<number> = new Set()): NumberedPassage[] {
		const chunkIds = new Set([...this.numbers.keys(), ...this.found.keys()]);
		const inOrder = compact([...chunkIds].map((chunkId) => this.found.get(chunkId)));
		return inOrder.map((passage, index) => {
			const number = index + 1;
			return { number, ...passage, cited: cited.has(number) };
		});
	}
}

/**
 * Reads the IDs in a link to a passage: `xpert://knowledgebase/chunk?knowledgebaseId=…&documentId=…&chunkId=…`.
 *
 * @returns undefined if the document ID or the chunk ID is missing
 */
function passageFromLink(url: string): Passage | undefined {
	const ids = new URLSearchParams(url.slice(url.indexOf('?') + 1));
	return toolPassageSchema.safeParse(Object.fromEntries(ids)).data;
}
