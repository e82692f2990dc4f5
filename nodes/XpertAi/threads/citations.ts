import { isFromAssistant, messagesOf, textOf } from './messages';
import { foundBySteps, foundByTools, Sources } from './sources';
import type { ThreadMessage, ThreadState } from './state';

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

/**
 * The sources of a run, numbered in the order in which it has found or named them, as it was to be seen while it ran.
 *
 * @param thread where the run took place, as far as it could be read
 * @param messages those of the run
 */
export function sourcesOf(thread: ThreadState | undefined, messages: ThreadMessage[]): Sources {
	const sources = new Sources(foundByTools(messagesOf(thread)));
	if (thread) sources.add(foundBySteps(thread));
	const named = new Citations(sources, 'asWritten');
	for (const message of messages) {
		sources.add(foundByTools([message]));
		if (isFromAssistant(message)) named.rewrite(textOf(message.content));
	}
	return sources;
}
