import { cutOf, split } from './processing/splitter';
import type { OpenedFile } from './runFiles';
import { PassageIndex, quotation, sentenceIn, type FindableDocument, type Found } from './search';

type ReadFile = Extract<OpenedFile, { text: string }>;

/**
 * What an assistant says that answers from the files beside a question: the sentence that fits it best, or the one
 * a file begins with when none does; of files that it cannot read, why.
 */
export function answerFromFiles(files: OpenedFile[], asked: string): string {
	const found = foundIn(
		files.filter((file): file is ReadFile => 'text' in file && file.text.trim() !== ''),
		asked,
	);
	return found ? quotation(found) : files.map(unread).join('\n');
}

function foundIn(files: ReadFile[], asked: string): Found | undefined {
	const documents = new Map<string, FindableDocument>();
	const index = new PassageIndex();
	for (const [place, { name, text }] of files.entries()) {
		const id = String(place);
		documents.set(id, { id, name, chunks: split(text, cutOf(undefined)) });
		index.touch(id);
	}
	const [first] = files;
	return (
		index.find(asked, (id) => documents.get(id)) ??
		(first && { ...first, sentence: sentenceIn(first.name, first.text, asked) })
	);
}

const unread = (file: OpenedFile): string =>
	'text' in file ? `"${file.name}" is empty.` : `I cannot read "${file.name}": ${file.reason}`;
