import MiniSearch from 'minisearch';

/** A document that assistants can find: its name, and its text in the chunks that processing made. */
export interface FindableDocument {
	id: string;
	name: string;
	chunks: string[];
}

/** A passage found for a question, and the document it stands in. */
export interface Found {
	documentId: string;
	documentName: string;
	passage: string;
	score: number;
}

interface IndexedPassage {
	id: string;
	documentId: string;
	name: string;
	text: string;
}

const EXCERPT_LENGTH = 600;
const STOP_WORDS = new Set(
	'a an and are as at be by can did do does for from had has have how i in is it its me my of on or our that the their there they this to was we were what when where which who why will with you your'.split(
		' ',
	),
);
const HAN = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Thai}/u;
const SPACE_OR_PUNCTUATION = /[\n\r\p{Z}\p{P}\p{S}]+/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** Words of a text; scripts without spaces between words need the language's own rules. */
const words = (text: string): string[] =>
	HAN.test(text)
		? [...segmenter.segment(text)].filter((part) => part.isWordLike).map((part) => part.segment)
		: text.split(SPACE_OR_PUNCTUATION);

const term = (word: string): string | null => {
	const lower = word.toLowerCase();
	return lower === '' || STOP_WORDS.has(lower) ? null : lower;
};

const passagesOf = ({ id, name, chunks }: FindableDocument): IndexedPassage[] =>
	chunks.map((text, position) => ({ id: `${id}#${position}`, documentId: id, name, text }));

/** A long passage cut to the part around the first word that was found. */
function excerpt(text: string, terms: string[]): string {
	if (text.length <= EXCERPT_LENGTH) return text;
	const lower = text.toLowerCase();
	const places = terms.map((found) => lower.indexOf(found)).filter((place) => place >= 0);
	const start = Math.max(0, Math.min(...places, text.length) - EXCERPT_LENGTH / 2);
	const end = start + EXCERPT_LENGTH;
	return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}

/**
 * Full-text search over the processed documents. Writing only notes which documents changed, so that bulk
 * ingestion stays fast; they are indexed when the next question comes.
 */
export class PassageIndex {
	private readonly changed = new Set<string>();
	private readonly passageIds = new Map<string, string[]>();
	private readonly index = new MiniSearch<IndexedPassage>({
		fields: ['name', 'text'],
		storeFields: ['documentId', 'name', 'text'],
		tokenize: words,
		processTerm: term,
	});

	/** Notes that the document was stored, processed or deleted. */
	touch(documentId: string): void {
		this.changed.add(documentId);
	}

	/** The passages that fit the question best, best first. `current` gives a document if it can be found now. */
	find(
		question: string,
		current: (documentId: string) => FindableDocument | undefined,
		limit = 3,
	): Found[] {
		this.refresh(current);
		return this.index
			.search(question, { boost: { text: 2 }, prefix: (word) => word.length > 3 })
			.slice(0, limit)
			.map((hit) => ({
				documentId: String(hit.documentId),
				documentName: String(hit.name),
				passage: excerpt(String(hit.text), hit.terms),
				score: hit.score,
			}));
	}

	private refresh(current: (documentId: string) => FindableDocument | undefined): void {
		for (const documentId of this.changed) {
			this.index.discardAll(this.passageIds.get(documentId) ?? []);
			this.passageIds.delete(documentId);
			const document = current(documentId);
			if (document === undefined) continue;
			const passages = passagesOf(document);
			this.index.addAll(passages);
			this.passageIds.set(
				documentId,
				passages.map((passage) => passage.id),
			);
		}
		this.changed.clear();
	}
}
