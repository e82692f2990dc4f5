import { asObject } from '../values';

export interface Cut {
	chunkSize: number;
	chunkOverlap: number;
	separators: string[];
}

/**
 * What counts of a document's `parserConfig`: `textSplitter`. The contract's own `chunkSize`, `chunkOverlap`
 * and `delimiter` beside it are stored, and do nothing.
 */
export function cutOf(parserConfig: unknown): Cut {
	const { chunkSize, chunkOverlap, separators } = asObject(asObject(parserConfig).textSplitter);
	const given = typeof separators === 'string' && separators !== '' ? separators : '\\n\\n,\\n, ,';
	return {
		chunkSize: Number(chunkSize) > 0 ? Number(chunkSize) : 1000,
		chunkOverlap: Number(chunkOverlap ?? 200) >= 0 ? Number(chunkOverlap ?? 200) : 200,
		separators: given.split(',').map((one) => one.replace(/\\n/g, '\n').replace(/\\t/g, '\t')),
	};
}

/** Cuts a text at the first separator that makes pieces small enough, and joins these up to the size again. */
export function split(text: string, cut: Cut): string[] {
	const pieces = piecesOf(text, cut.separators, cut.chunkSize);
	const chunks: string[] = [];
	let open: string[] = [];
	for (const piece of pieces) {
		if (open.length > 0 && lengthOf(open) + piece.length > cut.chunkSize) {
			chunks.push(open.join(''));
			open = overlapping(open, cut, piece);
		}
		open.push(piece);
	}
	chunks.push(open.join(''));
	return chunks.map((chunk) => chunk.trim()).filter((chunk) => chunk !== '');
}

const lengthOf = (pieces: string[]): number =>
	pieces.reduce((length, piece) => length + piece.length, 0);

function overlapping(pieces: string[], { chunkOverlap, chunkSize }: Cut, next: string): string[] {
	const kept = [...pieces];
	while (
		kept.length > 0 &&
		(lengthOf(kept) > chunkOverlap || lengthOf(kept) + next.length > chunkSize)
	) {
		kept.shift();
	}
	return kept;
}

/** Pieces no longer than the size, each with the separator that followed it; the last way is by characters. */
function piecesOf(text: string, [separator = '', ...finer]: string[], size: number): string[] {
	if (text.length <= size) return [text];
	if (separator === '') {
		return Array.from({ length: Math.ceil(text.length / size) }, (_, place) =>
			text.slice(place * size, (place + 1) * size),
		);
	}
	const parts = text.split(separator);
	return parts.flatMap((part, place) =>
		piecesOf(place < parts.length - 1 ? part + separator : part, finer, size),
	);
}
