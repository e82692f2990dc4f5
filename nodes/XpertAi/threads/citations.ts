import type { Sources } from './sources';

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
