import escapeRegExp from 'lodash/escapeRegExp';
import mapValues from 'lodash/mapValues';
import truncate from 'lodash/truncate';

import type { Item } from '../../../execution/item';
import type { ReadyDocument } from '../../../ingest/batches';
import type { FoundDocument } from './sources/sourceDocument';
import { counted } from './wording';

/** Keys that a hint names, and the characters they may take. */
const EXAMPLES = 2;
const MAX_KEYS_LENGTH = 40;

/** Characters of a hint that name columns. */
const MAX_COLUMNS_LENGTH = 70;

const DOCUMENTS = ['document has', 'documents have'] as const;

/** What is counted, and the warning: what is seldom intended, and what servers do not support (service behaviour). */
const WARNINGS = {
	emptyFiles: ['file', 'files', 'of records held none.'],
	withoutStableId: [
		...DOCUMENTS,
		'no ID: a second run stores them again. A Document Key prevents that.',
	],
	withPartIds: [...DOCUMENTS, 'pages or chunks with IDs: on Xpert, one that changes is lost.'],
	pagesBesideFile: [...DOCUMENTS, 'pages beside an address: the pages are not read.'],
	filePath: [...DOCUMENTS, 'a File Path: the server looks for it on its own disk.'],
	hadNul: [...DOCUMENTS, 'characters that cannot be stored (U+0000): they were left out.'],
} as const;

/** Collects warnings about the documents of a run. */
export class Warnings {
	readonly counts: Record<keyof typeof WARNINGS, number> = mapValues(WARNINGS, () => 0);
	/** Documents that come without an ID of their own, also where New Each Time was chosen. */
	withoutId = 0;
	/** Documents with the ID of an earlier one, and the keys or IDs of some. */
	private replaced = 0;
	private readonly replacedKeys = new Set<string>();
	private readonly unusedColumns = new Set<string>();

	/** Records a document that was read. */
	addDocument(
		{ isNew, record: { filePath, fileUrl, pages, chunks } }: ReadyDocument<unknown>,
		{ hadNul, unusedColumns = [] }: FoundDocument,
	): void {
		const parts = [...(pages ?? []), ...(chunks ?? [])];
		if (isNew) this.withoutId += 1;
		if (isNew) this.counts.withoutStableId += 1;
		if (hadNul) this.counts.hadNul += 1;
		if (parts.some(({ id }) => id)) this.counts.withPartIds += 1;
		if (fileUrl && parts.length > 0) this.counts.pagesBesideFile += 1;
		if (filePath && !fileUrl) this.counts.filePath += 1;
		for (const column of unusedColumns) this.unusedColumns.add(column);
	}

	/** Records that a document replaces an earlier one of this run. */
	addReplaced(key: string): void {
		this.replaced += 1;
		if (this.replacedKeys.size < EXAMPLES) this.replacedKeys.add(key);
	}

	/** The hints for the user. */
	hints(item: Item): string[] {
		const hints: string[] = [];
		const keys = shortened([...this.replacedKeys], MAX_KEYS_LENGTH);
		if (this.replaced > 0) hints.push(`${counted(this.replaced, 'document')} ${REPLACED}: ${keys}`);
		for (const [kind, [one, many, warning]] of Object.entries(WARNINGS)) {
			const count = this.counts[kind as keyof typeof WARNINGS];
			if (count > 0) hints.push(`${counted(count, one, many)} ${warning}`);
		}
		const unused = this.unusedColumnNames(item);
		if (unused.length > 0)
			hints.push(`${COLUMNS_UNUSED}: ${shortened(unused, MAX_COLUMNS_LENGTH)}`);
		return hints;
	}

	/** Columns that were not mapped, without those that an expression of the node uses. */
	private unusedColumnNames({ context }: Item): string[] {
		if (this.unusedColumns.size === 0) return [];
		const parameters = JSON.stringify(context.getNode().parameters);
		return [...this.unusedColumns].filter(
			(name) => !new RegExp(`json(\\.|\\[\\W{1,2})${escapeRegExp(name)}\\b`).test(parameters),
		);
	}
}

const REPLACED = 'came with the key or ID of an earlier one and replaced it';
const COLUMNS_UNUSED = 'Columns that match no field of a document';

function shortened(names: string[], length: number): string {
	return truncate(names.join(', '), { length, separator: ', ' });
}
