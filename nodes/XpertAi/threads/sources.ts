import compact from 'lodash/compact';
import { z } from 'zod';

import { numberIfAny, textIfAny } from '../payloads/common';
import { parseAnswer } from '../transport/answer';

/** A passage that a tool found (recorded, `sources`). */
const toolPassage = z.object({
	documentId: z.string().min(1),
	documentName: textIfAny,
	knowledgebaseId: textIfAny,
	score: numberIfAny,
	/** The text on one line. */
	snippet: textIfAny,
	fileUrl: textIfAny,
	chunkId: z.string().min(1),
});

type Passage = z.infer<typeof toolPassage>;

/** A passage that the knowledge step of a workflow found. It does not name its knowledgebase. */
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
	.transform((list) => compact(list));

/** A search result: passages, alone or as the `chunks` of an answer. */
const searchResult = z.union([
	passages,
	z.object({ chunks: passages }).transform(({ chunks }) => chunks),
]);

/** A passage that the answer is based on. */
export interface Source extends Passage {
	/** From 1, in the order in which the run found them; `[1]` in the answer refers to it. */
	number: number;
	/** Whether the answer links to it. */
	cited: boolean;
}

/** The passages in the result of a tool or a step, given as JSON or its text; empty for any other result. */
export function passagesIn(raw: unknown): Passage[] {
	return searchResult.safeParse(typeof raw === 'string' ? parseAnswer(raw) : raw).data ?? [];
}

/** The passages that a run found, each once, numbered across all its searches and knowledgebases. */
export class Sources {
	private readonly found = new Map<string, Passage & Pick<Source, 'number'>>();
	private readonly earlier: Map<string, Passage>;

	/** @param earlier passages of earlier runs of the thread, for links that the assistant repeats */
	constructor(earlier: Passage[] = []) {
		this.earlier = new Map(earlier.map((passage) => [passage.chunkId, passage]));
	}

	/** Adds the passages of a search. */
	add(more: Passage[]): void {
		for (const passage of more) {
			if (this.found.has(passage.chunkId)) continue;
			this.found.set(passage.chunkId, { number: this.found.size + 1, ...passage });
		}
	}

	/**
	 * The number of the passage that a link points to. A passage that this run did not find gets the next number.
	 *
	 * @returns undefined for an address that is not a passage
	 */
	numberOf(url: string): number | undefined {
		const linked = passageAt(url);
		if (!linked) return undefined;
		this.add([this.earlier.get(linked.chunkId) ?? linked]);
		return this.found.get(linked.chunkId)?.number;
	}

	/** All passages. @param cited the numbers that the answer cites */
	list(cited: ReadonlySet<number>): Source[] {
		return [...this.found.values()].map((one) => ({ ...one, cited: cited.has(one.number) }));
	}
}

/** The passage of a link: `xpert://knowledgebase/chunk?knowledgebaseId=…&documentId=…&chunkId=…`. */
function passageAt(url: string): Passage | undefined {
	const ids = new URLSearchParams(url.slice(url.indexOf('?') + 1));
	return toolPassage.safeParse(Object.fromEntries(ids)).data;
}

/** How to write the links to sources in an answer. */
export type CitationStyle = 'numbers' | 'asWritten' | 'none';

/* The lengths in these patterns are limited, so that matching any text takes linear time. */
const CHARACTER = String.raw`(?:\\.|[^[\]\\\n])`;
const LABEL = String.raw`(?:${CHARACTER}|\[${CHARACTER}{0,30}\]){0,150}`;
const REST = String.raw`[^\s()<>[\]]{0,1000}`;

/** A link to a passage (`[⟦1⟧](xpert://…)`, recorded) or its bare address, with the space before it. */
const LINK = new RegExp(
	String.raw`( ?)(?:\[(${LABEL})\]\(<?(xpert://${REST})>?(?: "[^"\n]{0,200}")?\)|(xpert://[\w/?&=%-]{0,1000}))`,
	'g',
);

/** The end of a text that may be the start of an address, with this after it. */
const startOf = (after: string) =>
	[...'xpert://'].reduceRight((inner, sign) => `(?:${sign}${inner})?`, after);

/** The end of a text that may be the start of a link. */
const LINK_START = new RegExp(
	String.raw` ?(?:\[${LABEL}(?:\\|\[${CHARACTER}{0,30}\\?|\](?:\(<?${startOf(`${REST}>?(?: (?:"[^"\\n]{0,200}"?)?)?`)})?)?|${startOf(REST)})$`,
);

/** Longest possible start of a link. */
const MAX_LINK_START = 6_500;

/** The label of a citation that is no name: `⟦1⟧`. */
const MARKER = /^⟦?\d*⟧?$/;

/** Rewrites the links to sources in a text, also one that arrives in pieces, where a link may be split between two. */
export class Citations {
	/** The cited numbers. */
	readonly cited = new Set<number>();
	private buffer = '';

	constructor(
		private readonly sources: Sources,
		private readonly style: CitationStyle,
	) {}

	/** @returns the whole text with its links in the chosen style */
	rewrite(text: string): string {
		return text.replace(LINK, (link, space: string, label = '', linked?: string, bare?: string) => {
			const number = this.sources.numberOf(linked ?? bare ?? '');
			if (number !== undefined) this.cited.add(number);
			if (this.style === 'asWritten') return link;
			const name = number !== undefined && MARKER.test(label) ? '' : label;
			const mark = number !== undefined && this.style === 'numbers' ? `[${number}]` : '';
			const shown = compact([name, mark]).join(' ');
			return shown && space + shown;
		});
	}

	/** Adds the next piece. @returns the text that is complete by now, which may be empty */
	push(piece: string): string {
		this.buffer += piece;
		const end = this.buffer.slice(-MAX_LINK_START);
		const open = LINK_START.exec(end)?.[0].length ?? 0;
		return this.take(this.buffer.length - open);
	}

	/** Ends the text. @returns the rest */
	end(): string {
		return this.take(this.buffer.length);
	}

	private take(length: number): string {
		const complete = this.buffer.slice(0, length);
		this.buffer = this.buffer.slice(length);
		return this.rewrite(complete);
	}
}
