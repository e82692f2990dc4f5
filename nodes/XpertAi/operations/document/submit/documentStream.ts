import { createHash, hash, randomUUID } from 'crypto';

import isObject from 'lodash/isObject';
import { NodeOperationError } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import type { ItemError } from '../../../execution/outputs';
import type { ReadyDocument, DocumentFact, Fact } from '../../../ingest/readyDocument';
import { inFolder } from '../../../ingest/folders';
import { MARKS } from '../../../ingest/memory';
import { isUuid, keyRule } from '../../../payloads/common';
import { unsignedAddress, type DocumentRecord } from '../../../payloads/document';
import { derivedId } from '../../../payloads/derivedId';
import { isRejection } from '../../../transport/classifyFailure';
import { keyOwner } from './knowledgebase';
import type { Origin } from './outcomes';
import type { SourceDocuments } from './sources/readers';
import { refusedKeys, type FoundDocument } from './sources/sourceDocument';
import type { Submission } from './submission';

/** The documents of all items for one knowledgebase, with their IDs. They are streamed: none is kept. */
export class DocumentStream {
	/**
	 * The IDs, in lower case, of the documents read so far, each with the origin of the latest document if it is tracked,
	 * in process without having been sent, or in process and uploaded. Used to find documents that were replaced, have
	 * been processed, or are missing from the source.
	 */
	readonly seen = new Map<string, Origin | undefined>();
	/** Items to be read. Documents are read when their item's turn comes, unless they were read before. */
	readonly queue: Array<{ item: Item; documents?: SourceDocuments }> = [];
	/** Documents that were not read, stored or sent, and not because of themselves: what is missing may be there. */
	readonly gaps = { rejected: 0, unknown: 0, notSent: 0 };
	/** A key that lacks a part, as after a failed download. */
	brokenKey?: string;
	/** Whether contents are compared, or noted. */
	isHashed = false;
	private readonly owner: string;

	constructor(
		private readonly submission: Submission,
		private readonly knowledgebaseId: string,
		sourceName: string,
	) {
		this.owner = keyOwner(knowledgebaseId, sourceName);
	}

	/** Reads the documents of the queued items on demand. With Stop, the first flaw ends the stream. */
	async *documents(): AsyncGenerator<ReadyDocument<Origin>> {
		const { submission } = this;
		this.queue.reverse();
		while (submission.canRead) {
			const queued = this.queue.pop();
			if (!queued) return;
			const { item } = queued;
			let count = 0;
			try {
				const documents = queued.documents ?? submission.read(item);
				for await (const found of documents) {
					count += 1;
					const document = await this.ready(found, item);
					if (document) yield document;
					if (submission.canRead) continue;
					const left = Array.isArray(documents) ? documents.slice(count) : [];
					return void this.queue.push({ item, documents: left });
				}
				if (count === 0 && !Array.isArray(documents)) submission.take({ outcome: 'noRecords' });
			} catch (caught) {
				// If a file breaks off, the documents before that are sent nevertheless.
				this.takeRefused(item, caught);
			}
		}
	}

	/** The document, ready to be sent; nothing if it cannot be read, or if sending has stopped. */
	private async ready(
		found: FoundDocument | ItemError,
		item: Item,
	): Promise<ReadyDocument<Origin> | undefined> {
		if (found instanceof Error) return this.takeRefused(item, found);
		const { submission } = this;
		const origin: Origin = { item };
		submission.take({ outcome: 'begun', origin, unusedColumns: found.unusedColumns });
		const document = this.asDocument(found, origin);
		const fail = (fact: DocumentFact<Origin>) => {
			this.recordGap(fact);
			submission.take(fact);
		};
		if (!submission.canSend) return void fail({ outcome: 'notSent', document });
		this.recordSeen(document);
		try {
			if (this.isHashed) document.contentHash = await hashOf(document, found.version);
			return document;
		} catch (error) {
			return void fail({ outcome: 'unreadable', document, error });
		}
	}

	/** Records a document that failed, unless for itself: such a one is in the source, under its ID. */
	recordGap(fact: Fact<Origin>): void {
		const { gaps } = this;
		if (fact.outcome === 'unknown' || fact.outcome === 'notSent') gaps[fact.outcome] += 1;
		else if (fact.outcome === 'unreadable')
			gaps.rejected += fact.error instanceof NodeOperationError ? 0 : 1;
		else if (fact.outcome === 'rejected') {
			const { document, failure } = fact;
			const isForItself = isRejection(failure) && failure.reason !== undefined;
			gaps.rejected += isForItself && !document.isNew ? 0 : 1;
		}
	}

	/** Records a document that could not be read. With a key, it is in the source all the same. */
	private takeRefused(item: Item, caught: unknown): undefined {
		const key = isObject(caught) ? refusedKeys.get(caught) : undefined;
		if (key === undefined) this.gaps.rejected += 1;
		else this.recordKey(key, derivedId(this.owner, key));
		this.submission.takeFlaw(item, caught);
	}

	private recordKey(key: string | undefined, id: string): void {
		if (!this.submission.settings.mirrors) return;
		if (key !== undefined && keyRule(key, true)) this.brokenKey = key;
		if (!this.seen.has(id.toLowerCase())) this.seen.set(id.toLowerCase(), undefined);
	}

	/** A document with its ID. One without an ID gets a new one, so that requests can be repeated. */
	private asDocument(found: FoundDocument, origin: Origin): ReadyDocument<Origin> {
		const { key, file } = found;
		const ownId = key === undefined ? found.record.id : derivedId(this.owner, key);
		const id = ownId || randomUUID();
		const record = inFolder({ ...found.record, id }, this.knowledgebaseId);
		Object.assign(origin, { name: record.name ?? undefined, key, id });
		origin.isUploaded = file !== undefined;
		origin.hadNul = found.hadNul;
		if (!file) origin.storageFileId = record.storageFileId;
		const isNew = id !== ownId || !isUuid(id);
		// For a summary, records are not tracked: there may be too many, and nothing else of them is kept. Neither are
		// documents whose ID cannot come again.
		const isKept = this.submission.settings.output !== 'summary';
		origin.isTracked = isKept || (origin.isUploaded && !isNew);
		const json = jsonWithId(found, record, id);
		return { record, json, bytes: Buffer.byteLength(json), origin, id, isNew, key, file };
	}

	/** Records the ID of a document. A document whose ID is new cannot be recognized again, so it is not recorded. */
	private recordSeen({ id, isNew, key, origin }: ReadyDocument<Origin>): void {
		if (isNew) return;
		const { seen, submission } = this;
		const lowerCaseId = id.toLowerCase();
		const earlier = origin.isTracked && seen.get(lowerCaseId);
		if (earlier) submission.take({ outcome: 'replaced', origin: earlier, by: key ?? id });
		if (origin.isTracked) seen.set(lowerCaseId, origin);
		this.recordKey(key, id);
	}
}

/** The record as JSON. It was made into JSON when it was checked: usually only its ID is added. */
function jsonWithId(
	{ record: read, json = '{}' }: FoundDocument,
	record: DocumentRecord,
	id: string,
): string {
	const isSame = record.parent === read.parent && record.folder === read.folder;
	if (!isSame || json.length <= 2) return JSON.stringify(record);
	if (read.id === undefined) return `{"id":"${id}",${json.slice(1)}`;
	return read.id === id ? json : JSON.stringify(record);
}

/**
 * The content hash of a document, its bytes as characters, behind a mark: of its version, if it has one; else of its
 * record and its file's content, never its address.
 */
async function hashOf(
	{ json, record, file }: ReadyDocument<Origin>,
	version: string | undefined,
): Promise<string> {
	if (version !== undefined) return MARKS.version + hash('sha256', version, 'binary');
	const { fileUrl } = record;
	const unsigned = fileUrl && unsignedAddress(fileUrl);
	const isSigned = unsigned !== fileUrl;
	const text = isSigned ? JSON.stringify({ ...record, fileUrl: unsigned }) : json;
	// A name in NFD is the same as in NFC, and so is its key.
	const canonical = text.normalize('NFC');
	if (!file) return MARKS.content + hash('sha256', canonical, 'binary');
	const digest = createHash('sha256').update(canonical);
	const { content } = await file();
	for await (const piece of Buffer.isBuffer(content) ? [content] : content.open())
		digest.update(piece);
	return MARKS.content + digest.digest('binary');
}
