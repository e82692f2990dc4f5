import type { IDataObject } from 'n8n-workflow';

import { isUuid } from '../../../../payloads/common';
import { isDocumentField } from '../../../../payloads/document';
import type { DocumentField } from '../../../../payloads/document';
import { isJsonObject } from '../../../../transport/answer';

/** A field of a document, or its text, which becomes pages or chunks. */
type Target = DocumentField | 'text';

/**
 * The usual names of columns and what they are mapped to, best first. Names are compared without case,
 * blanks, hyphens and underscores: `File_Name` is `filename`. Fields that are not here take no other
 * name than the contract's, above all those a server keeps itself: a row's `ID` or `created_at` is its own.
 */
const ALIASES: Array<[Target, string[]]> = [
	// A path is a name and never a filePath: the server looks for that on its own disk and does not find it.
	['name', ['name', 'title', 'filename', 'documentname', 'path', 'file']],
	['text', ['text', 'content', 'pagecontent', 'body', 'markdown', 'plaintext']],
	['fileUrl', ['fileurl', 'url', 'link', 'uri', 'href', 'address', 'downloadurl']],
	['filePath', ['filepath']],
	['storageFileId', ['storagefileid']],
	['mimeType', ['mimetype', 'contenttype', 'mediatype']],
	['type', ['type']],
	['size', ['size', 'filesize', 'bytes']],
	['metadata', ['metadata', 'meta']],
	['disabled', ['disabled']],
];

/** What a column must look like to be taken for a field it is not named after; an address may be that of a house. */
const LOOKS: Partial<Record<Target, (column: unknown) => boolean>> = {
	fileUrl: (column) => typeof column === 'string' && /^https?:\/\//i.test(column.trim()),
	storageFileId: (column) => typeof column === 'string' && isUuid(column),
	size: (column) => typeof column === 'number',
	metadata: isJsonObject,
	disabled: (column) => typeof column === 'boolean',
};

const isScalar = (column: unknown) => typeof column !== 'object';

const bare = (name: string) => name.toLowerCase().replace(/[\s_-]/g, '');

/** What each of the usual names is mapped to and how good it is; the lower, the better. */
const RANKED = new Map(
	ALIASES.flatMap(([target, names]) =>
		names.map((name, rank) => [name, { target, rank }] as const),
	),
);

/** What the columns of an item are mapped to (Map Automatically). */
export interface MappedColumns {
	/** Fields of the document with the values of their columns. */
	fields: IDataObject;
	/** The column that holds the text, if there is one. */
	text?: { column: string; value: string };
	/** Columns with something in them that match nothing. */
	unused: string[];
}

/**
 * Maps columns to the fields of a document by their names: first those of the contract, then the usual
 * ones. Columns left empty are left out.
 */
export function mapColumns(columns: IDataObject): MappedColumns {
	const fields: IDataObject = {};
	const unused: string[] = [];
	const others: string[] = [];
	for (const [name, column] of Object.entries(columns)) {
		if (column === undefined || column === '') continue;
		if (isDocumentField(name)) fields[name] = column;
		else if (column !== null) others.push(name);
	}
	if (others.length === 0) return { fields, unused };
	const found = new Map<Target, { name: string; rank: number }>();
	for (const name of others) {
		const match = matchOf(name, columns[name]);
		const before = match && found.get(match.target);
		const better = match && !Object.hasOwn(fields, match.target);
		if (better && (before === undefined || match.rank < before.rank)) {
			found.set(match.target, { name, rank: match.rank });
			if (before) unused.push(before.name);
		} else {
			unused.push(name);
		}
	}
	const text = found.get('text')?.name;
	found.delete('text');
	for (const [target, { name }] of found) fields[target] = columns[name];
	return {
		fields,
		unused,
		...(text === undefined ? {} : { text: { column: text, value: String(columns[text]) } }),
	};
}

function matchOf(name: string, column: unknown): { target: Target; rank: number } | undefined {
	const match = RANKED.get(bare(name));
	return match && (LOOKS[match.target] ?? isScalar)(column) ? match : undefined;
}
