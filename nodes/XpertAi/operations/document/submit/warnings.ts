import escapeRegExp from 'lodash/escapeRegExp';
import truncate from 'lodash/truncate';

import type { Item } from '../../../execution/item';
import type { ReadyDocument } from '../../../ingest/batches';
import type { DocumentRecord } from '../../../payloads/document';
import { counted } from './counts';
import type { FoundDocument } from './sources/identity';

/** Keys that a hint names, and the characters they may take. */
const EXAMPLES = 2;
const MAX_KEYS_LENGTH = 40;

/** Characters of a hint that name columns. */
const MAX_COLUMNS_LENGTH = 70;

/** Collects warnings about the documents of a run: what is seldom intended, and what servers do not support. */
export class Warnings {
	/** Files of records that held no record. */
	emptyFiles = 0;
	/** Documents that come without an ID of their own. */
	withoutId = 0;
	/** Of these, the documents for which New Each Time was not chosen. */
	private withoutStableId = 0;
	/** Documents with the ID of an earlier one. */
	private replaced = 0;
	/** The keys or IDs of some replaced documents. */
	private readonly replacedKeys = new Set<string>();
	private readonly unusedColumns = new Set<string>();
	/** Documents that ask for something unsupported, counted by the text of the warning. */
	private readonly unsupported = new Map<string, number>();
	private readAsText = 0;
	private withPartIds = 0;

	/** Records a document that was read. */
	note(
		{ isNew, record }: ReadyDocument<unknown>,
		{ newEachTime, readAsText, unusedColumns = [] }: FoundDocument,
	): void {
		if (isNew) this.withoutId += 1;
		if (isNew && !newEachTime) this.withoutStableId += 1;
		if (readAsText) this.readAsText += 1;
		for (const column of unusedColumns) this.unusedColumns.add(column);
		const hasId = (part: { id?: string | null }) => Boolean(part.id);
		if (record.pages?.some(hasId) || record.chunks?.some(hasId)) this.withPartIds += 1;
		const warning = unsupportedUse(record);
		if (warning) this.unsupported.set(warning, (this.unsupported.get(warning) ?? 0) + 1);
	}

	/** Records that a document replaces an earlier one of this run. */
	noteReplaced(key: string): void {
		this.replaced += 1;
		if (this.replacedKeys.size < EXAMPLES) this.replacedKeys.add(key);
	}

	/** The hints for the user. */
	hints(item: Item): string[] {
		const hints: string[] = [];
		const add = (count: number, one: string, many: string, rest: string) => {
			if (count > 0) hints.push(`${counted(count, one, many)} ${rest}`);
		};
		const keys = shortened([...this.replacedKeys], MAX_KEYS_LENGTH);
		add(this.replaced, 'document', 'documents', `${REPLACED}: ${keys}`);
		add(this.emptyFiles, 'file', 'files', 'of records held none.');
		add(this.withoutStableId, 'document has', 'documents have', ID_MISSED);
		const unused = this.unusedColumnNames(item);
		if (unused.length > 0)
			hints.push(`${COLUMNS_UNUSED}: ${shortened(unused, MAX_COLUMNS_LENGTH)}`);
		add(this.withPartIds, 'document has', 'documents have', WITH_PART_IDS);
		for (const [warning, count] of this.unsupported)
			add(count, 'document has', 'documents have', warning);
		add(this.readAsText, 'table is', 'tables are', 'sent as text: servers cannot read sheets.');
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
const ID_MISSED = 'no ID: a second run stores them again. A key for Document ID prevents that.';
const COLUMNS_UNUSED = 'Columns that match no field of a document';
const WITH_PART_IDS = 'pages or chunks with IDs: on Xpert, one that changes is lost.';

function shortened(names: string[], length: number): string {
	return truncate(names.join(', '), { length, separator: ', ' });
}

/** What a document asks for that servers do not support (service behaviour, "What an assistant can find"). */
function unsupportedUse({ filePath, fileUrl, pages, chunks }: DocumentRecord): string | undefined {
	const hasParts = Boolean(pages?.length) || Boolean(chunks?.length);
	if (fileUrl && hasParts) return 'pages beside an address: the pages are not read.';
	if (filePath && !fileUrl) return 'a File Path: the server looks for it on its own disk.';
	return undefined;
}
