import { uniq } from 'lodash';
import MiniSearch, { type Options } from 'minisearch';
import { sentencesOf } from './sentences';

/** A document that assistants can find: its name, and its text in the chunks that processing made. */
export interface FindableDocument {
	id: string;
	name: string;
	chunks: string[];
}

/** The sentence found for a question, the passage it is of, and the name of the document that has them. */
export interface Found {
	name: string;
	text: string;
	sentence: string;
}

export const quotation = ({ name, sentence }: Pick<Found, 'name' | 'sentence'>): string =>
	`According to "${name}": "${sentence}"`;

interface Passage {
	id: string;
	name: string;
	text: string;
}

const STOP_WORDS = new Set(
	'a an and are as at be by can did do does for from had has have how i in is it its long many me much my of on or our that the their there they this to was we were what when where which who why will with you your'.split(
		' ',
	),
);
/** What is between words; a hyphen within a word is not. */
const BETWEEN_WORDS = /(?:(?!\b-\b)[\n\r\p{Z}\p{P}\p{S}])+/u;
const HAN = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Thai}/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** Words of a text; scripts without spaces between words need the language's own rules. */
const words = (text: string): string[] =>
	HAN.test(text)
		? [...segmenter.segment(text)].filter((part) => part.isWordLike).map((part) => part.segment)
		: text.split(BETWEEN_WORDS);

/** A word as it is compared: `burn-in` as itself and as its parts. */
const terms = (word: string): string[] => {
	const lower = word.toLowerCase();
	return uniq([lower, ...lower.split('-')]).filter((one) => one !== '' && !STOP_WORDS.has(one));
};

/** How questions are understood, both among all passages and among the sentences of one. */
const searchedBy = (fields: string[], storeFields: string[] = []): Options => ({
	fields,
	storeFields,
	tokenize: words,
	processTerm: terms,
	searchOptions: { boost: { text: 2 }, prefix: (word) => word.length > 3 },
});

/** The document that a passage is of. */
const documentOf = (passageId: unknown): string => String(passageId).split('#')[0] ?? '';

/**
 * Full-text search over the processed documents. Writing only notes which documents changed, so that bulk
 * ingestion stays fast; they are indexed when the next question comes.
 */
export class PassageIndex {
	private readonly changed = new Set<string>();
	private readonly passageIds = new Map<string, string[]>();
	private readonly index = new MiniSearch<Passage>(searchedBy(['name', 'text'], ['name', 'text']));

	/** Notes that the document was processed, disabled or deleted. */
	touch(documentId: string): void {
		this.changed.add(documentId);
	}

	/**
	 * The sentence that fits the question best. `current` gives a document if it can be found now, `isOpen` tells whether
	 * who asks may find it.
	 */
	find(
		question: string,
		current: (documentId: string) => FindableDocument | undefined,
		isOpen: (documentId: string) => boolean = () => true,
	): Found | undefined {
		this.refresh(current);
		const [best] = this.index.search(question, { filter: ({ id }) => isOpen(documentOf(id)) });
		if (best === undefined) return undefined;
		const [name, text] = [String(best.name), String(best.text)];
		return { name, text, sentence: sentenceIn(name, text, question) };
	}

	/** All passages that have a word of the question, the best first, each with its place in its document. */
	passages(
		question: string,
		current: (documentId: string) => FindableDocument | undefined,
	): Array<{ documentId: string; place: number; text: string; score: number }> {
		this.refresh(current);
		const found = this.index.search(question);
		const best = found[0]?.score ?? 1;
		return found.map(({ id, text, score }) => {
			const place = Number(String(id).split('#')[1]);
			return { documentId: documentOf(id), place, text: String(text), score: score / (best + 1) };
		});
	}

	private refresh(current: (documentId: string) => FindableDocument | undefined): void {
		for (const id of this.changed) {
			this.index.discardAll(this.passageIds.get(id) ?? []);
			this.passageIds.delete(id);
			const { name = '', chunks = [] } = current(id) ?? {};
			const passages = chunks.map((text, place) => ({ id: `${id}#${place}`, name, text }));
			this.index.addAll(passages);
			if (passages.length > 0)
				this.passageIds.set(
					id,
					passages.map((passage) => passage.id),
				);
		}
		this.changed.clear();
	}
}

/**
 * The sentence of a passage that fits the question best: the first when none has a word of it, the whole passage
 * when it has no sentence. The name of its document tells whether it is a table.
 */
export function sentenceIn(name: string, passage: string, question: string): string {
	const sentences = sentencesOf(name, passage);
	const index = new MiniSearch(searchedBy(['text', 'under']));
	index.addAll(sentences.map((sentence, id) => ({ id, ...sentence })));
	const [best] = index.search(question);
	return sentences[Number(best?.id ?? 0)]?.text ?? passage;
}
