import { compact } from 'lodash';

/** How an answer shows links to sources. For example, `numbers` shows `[1]`. */
export type CitationStyle = 'numbers' | 'asWritten' | 'none';

/* The lengths in these patterns are limited, so that matching takes linear time. */

/** One character of a label, which can be escaped with a backslash. */
const LABEL_CHARACTER_PATTERN = String.raw`(?:\\.|[^[\]\\\n])`;

/** The label of a link. Can contain pairs of brackets. */
const LABEL_PATTERN = String.raw`(?:${LABEL_CHARACTER_PATTERN}|\[${LABEL_CHARACTER_PATTERN}{0,30}\]){0,150}`;

/** The rest of a URL, after `xpert://`. */
const URL_REST_PATTERN = String.raw`[^\s()<>[\]]{0,1000}`;

/** Matches a link to a passage, e.g. `[⟦1⟧](xpert://…)`, or a bare `xpert://` URL. Includes a preceding space. */
const LINK_PATTERN = new RegExp(
	String.raw`( ?)(?:\[(${LABEL_PATTERN})\]\(<?(xpert://${URL_REST_PATTERN})>?(?: "[^"\n]{0,200}")?\)|(xpert://[\w/?&=%-]{0,1000}))`,
	'g',
);

/** Pattern for a cut-off URL: either the start of `xpert://`, e.g. `xp`, or `xpert://` followed by `after`. */
const cutOffUrlPattern = (after: string) =>
	[...'xpert://'].reduceRight((inner, sign) => `(?:${sign}${inner})?`, after);

/** Matches a link that is cut off at the end of a text. */
const CUT_OFF_LINK_PATTERN = new RegExp(
	String.raw` ?(?:\[${LABEL_PATTERN}(?:\\|\[${LABEL_CHARACTER_PATTERN}{0,30}\\?|\](?:\(<?${cutOffUrlPattern(`${URL_REST_PATTERN}>?(?: (?:"[^"\\n]{0,200}"?)?)?`)})?)?|${cutOffUrlPattern(URL_REST_PATTERN)})$`,
);

/** Maximum length of a cut-off link that `push` recognizes. */
const MAX_CUT_OFF_LENGTH = 6_500;

/** Matches a label without a document name: an empty label, or a number such as `⟦1⟧`. */
const UNNAMED_LABEL_PATTERN = /^⟦?\d*⟧?$/;

/** Numbers the passages that links point to, in the order of their first link. */
interface PassageNumbering {
	/**
	 * Returns the number of the passage that a URL points to, and assigns it at the first link. Undefined if the URL does
	 * not point to a passage.
	 */
	assignNumber: (url: string) => number | undefined;
}

/** Rewrites the links to sources in a text. Both the text and a single link can arrive in several pieces. */
export class CitationRewriter {
	/** Numbers of the passages that the text cites. */
	readonly cited = new Set<number>();
	/** The text that `push` holds back. */
	private buffer = '';

	constructor(
		private readonly sources: PassageNumbering,
		private readonly style: CitationStyle,
	) {}

	/**
	 * Returns a text with its links in the chosen style. Adds the numbers of the linked passages to `cited`. Unless the
	 * style is `asWritten`, a link that does not point to a passage becomes its label, or is removed if it is a bare URL.
	 */
	rewrite(text: string) {
		return text.replace(
			LINK_PATTERN,
			(link, space: string, label = '', linked?: string, bare?: string) => {
				const number = this.sources.assignNumber(linked ?? bare ?? '');
				if (number !== undefined) this.cited.add(number);
				if (this.style === 'asWritten') return link;
				const keptLabel = number !== undefined && UNNAMED_LABEL_PATTERN.test(label) ? '' : label;
				const mark = number !== undefined && this.style === 'numbers' ? `[${number}]` : '';
				const shown = compact([keptLabel, mark]).join(' ');
				// If nothing is shown, the preceding space goes, too.
				return shown && space + shown;
			},
		);
	}

	/**
	 * Adds the next piece of the text. Holds back a cut-off link at the end.
	 *
	 * @returns the next rewritten text, which can be empty
	 */
	push(piece: string) {
		this.buffer += piece;
		const open = CUT_OFF_LINK_PATTERN.exec(this.buffer.slice(-MAX_CUT_OFF_LENGTH))?.[0].length ?? 0;
		return this.take(this.buffer.length - open);
	}

	/** Ends the text. Returns the text that `push` held back. */
	end() {
		return this.take(this.buffer.length);
	}

	/** Removes a text of this length from the buffer, and returns it with its links rewritten. */
	private take(length: number) {
		const complete = this.buffer.slice(0, length);
		this.buffer = this.buffer.slice(length);
		return this.rewrite(complete);
	}
}
