import isEmpty from 'lodash/isEmpty';

import type { DocumentRecord } from '../payloads/document';
import { isJsonObject } from '../transport/answer';

/** What Xpert cuts a file by; the contract's own settings it only keeps (service behaviour, "How a file is cut"). */
interface TextSplitter {
	chunkSize?: number;
	chunkOverlap?: number;
	/** Separators with commas between them, a line break written as backslash and n. */
	separators?: string;
}

/**
 * The document with the settings of its parserConfig in the form that counts on Xpert as well. A
 * `textSplitter` of its own stays as it is.
 */
export function withTextSplitter(document: DocumentRecord): DocumentRecord {
	const { parserConfig } = document;
	if (!isJsonObject(parserConfig) || 'textSplitter' in parserConfig) return document;
	const { chunkSize, chunkOverlap, delimiter } = parserConfig;
	const separators = separatorsOf(delimiter);
	const textSplitter: TextSplitter = {
		...(typeof chunkSize === 'number' ? { chunkSize } : {}),
		...(typeof chunkOverlap === 'number' ? { chunkOverlap } : {}),
		...(separators === undefined ? {} : { separators }),
	};
	if (isEmpty(textSplitter)) return document;
	return { ...document, parserConfig: { ...parserConfig, textSplitter } };
}

/** A comma ends a separator, so delimiters that hold one are left out. */
function separatorsOf(delimiter: unknown): string | undefined {
	if (typeof delimiter !== 'string') return undefined;
	const separators = delimiter
		.split(' ')
		.filter((one) => one !== '' && !one.includes(','))
		.map((one) => one.replace(/\n/g, '\\n').replace(/\t/g, '\\t').replace(/\r/g, '\\r'));
	return separators.length > 0 ? separators.join(',') : undefined;
}
