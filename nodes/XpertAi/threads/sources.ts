import { z } from 'zod';

import { numberIfAny, textIfAny } from '../payloads/common';
import { parseAnswer } from '../transport/answer';

/** A passage that a tool found (recorded, `sources`). */
const toolPassage = z.object({
	documentId: z.string().min(1),
	documentName: textIfAny,
	knowledgebaseId: textIfAny,
	score: numberIfAny,
	/** The text in one line. */
	snippet: textIfAny,
	fileUrl: textIfAny,
	chunkId: z.string().min(1),
});

type Passage = z.infer<typeof toolPassage>;

/** One that the knowledge step of a workflow found, which does not say of which knowledgebase it is. */
const stepPassage = z
	.object({
		pageContent: z.string(),
		metadata: z.object({ chunkId: z.string().min(1), score: numberIfAny }),
		document: z.object({ id: z.string().min(1), name: textIfAny, fileUrl: textIfAny }),
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

const passages = z
	.array(z.union([toolPassage, stepPassage]).optional().catch(undefined))
	.transform((list) => list.filter((one) => one !== undefined));

/** What a look finds: passages, alone or as the `chunks` of an answer. */
const look = z.union([passages, z.object({ chunks: passages }).transform(({ chunks }) => chunks)]);

/** Where something in an answer comes from. */
export interface Source extends Passage {
	/** From 1, in the order in which the run has found them; `[1]` in the answer means it. */
	number: number;
	/** Whether the answer carries its link. */
	cited: boolean;
}

/** The passages in what a tool or a step says, JSON or its text; none where it speaks of other things. */
export function passagesIn(said: unknown): Passage[] {
	return look.safeParse(typeof said === 'string' ? parseAnswer(said) : said).data ?? [];
}

/** The passages that a run has found, each once, numbered through all its looks and knowledgebases. */
export class Sources {
	private readonly found = new Map<string, Passage & Pick<Source, 'number'>>();

	/** @param earlier what earlier runs of the thread have found, for links that an assistant repeats */
	constructor(private readonly earlier: Passage[] = []) {}

	/** Takes in what a look has found. */
	add(more: Passage[]): void {
		for (const passage of more) {
			if (this.found.has(passage.chunkId)) continue;
			this.found.set(passage.chunkId, { number: this.found.size + 1, ...passage });
		}
	}

	/**
	 * The number of the passage that a link leads to. One that this run has not found becomes the next.
	 *
	 * @returns undefined for an address that leads to no passage
	 */
	numberOf(url: string): number | undefined {
		const linked = passageAt(url);
		if (!linked) return undefined;
		this.add([this.earlier.find(({ chunkId }) => chunkId === linked.chunkId) ?? linked]);
		return this.found.get(linked.chunkId)?.number;
	}

	/** All of them. @param cited the numbers that an answer names */
	list(cited: ReadonlySet<number>): Source[] {
		return [...this.found.values()].map((one) => ({ ...one, cited: cited.has(one.number) }));
	}
}

/** The passage that a link names: `xpert://knowledgebase/chunk?knowledgebaseId=…&documentId=…&chunkId=…`. */
function passageAt(url: string): Passage | undefined {
	const ids = new URLSearchParams(url.slice(url.indexOf('?') + 1));
	return toolPassage.safeParse(Object.fromEntries(ids)).data;
}

/** How the links of an answer to its sources are written. */
export type CitationStyle = 'numbers' | 'asWritten' | 'none';

/**
 * A link to a passage (`[⟦1⟧](xpert://…)`, recorded), or its address alone, with the space before it. Its parts are
 * limited, so that a text of any kind is read in one go.
 */
const LINK =
	/( ?)(?:\[([^[\]\n]{0,80})\]\(<?(xpert:\/\/[^\s()<>[\]]{0,1000})>?\)|(xpert:\/\/[\w/?&=%-]{0,1000}))/g;

/** The end of a text that may be the beginning of a link. */
const BEGINNING =
	/ ?(?:\[[^[\]\n]{0,80}(?:\](?:\((?:<?(?:x(?:p(?:e(?:r(?:t(?::(?:\/(?:\/[^\s()<>[\]]{0,1000}>?)?)?)?)?)?)?)?)?)?)?)?|x(?:p(?:e(?:r(?:t(?::(?:\/(?:\/[^\s()<>[\]]{0,1000})?)?)?)?)?)?)?)?$/;

/** No beginning of a link is longer. */
const LONGEST = 1_100;

/** Writes the links of a text to its sources anew. */
export class Citations {
	/** The numbers that were named. */
	readonly cited = new Set<number>();

	constructor(
		private readonly sources: Sources,
		private readonly style: CitationStyle,
	) {}

	/** @returns the whole text with its links as the style wants them */
	rewrite(text: string): string {
		return text.replace(
			LINK,
			(link, space: string, label?: string, linked?: string, bare?: string) => {
				const number = this.sources.numberOf(linked ?? bare ?? '');
				if (number !== undefined) this.cited.add(number);
				if (this.style === 'asWritten') return link;
				if (number === undefined) return label ? space + label : '';
				return this.style === 'numbers' ? `${space}[${number}]` : '';
			},
		);
	}
}

/** Writes links anew in a text that comes in pieces, where a link may be cut between two. */
export class CitationsInPieces {
	private held = '';

	constructor(private readonly citations: Citations) {}

	/** Takes the next piece. @returns what is certain by now, which may be nothing */
	push(piece: string): string {
		this.held += piece;
		const end = this.held.slice(-LONGEST);
		const open = BEGINNING.exec(end)?.[0].length ?? 0;
		return this.take(this.held.length - open);
	}

	/** The text is over. @returns what was held back */
	end(): string {
		return this.take(this.held.length);
	}

	private take(length: number): string {
		const certain = this.held.slice(0, length);
		this.held = this.held.slice(length);
		return this.citations.rewrite(certain);
	}
}
