import { createHash, hash, randomUUID } from 'crypto';

import isObject from 'lodash/isObject';
import { NodeOperationError } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import { serialize } from '../../../ingest/batches';
import type { ReadyDocument } from '../../../ingest/batches';
import { inFolder } from '../../../ingest/folders';
import { isUuid, keyDemand } from '../../../payloads/common';
import { unsignedAddress } from '../../../payloads/document';
import { derivedId } from '../../../payloads/derivedId';
import { keyOwner } from './knowledgebase';
import type { Origin } from './outcomes';
import type { SourceDocuments } from './sources/readers';
import { refusedKeys } from './sources/sourceDocument';
import type { FoundDocument } from './sources/sourceDocument';
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
		const { report, warnings } = submission;
		this.queue.reverse();
		for (let queued = this.queue.pop(); queued && submission.canRead; queued = this.queue.pop()) {
			const { item } = queued;
			let count = 0;
			try {
				const documents = queued.documents ?? submission.read(item);
				const isStreamed = !Array.isArray(documents);
				for await (const found of documents) {
					count += 1;
					if (isStreamed) report.documentsRead += 1;
					const origin = report.originOf(item);
					if (found instanceof Error) {
						this.recordRefused(found);
						report.addUnreadable(origin, found);
					} else yield* this.ready(found, origin);
					if (!submission.canRead) return;
				}
				if (isStreamed && count === 0) warnings.counts.emptyFiles += 1;
			} catch (caught) {
				// If a file breaks off, the documents before that are sent nevertheless.
				this.recordRefused(caught);
				report.addFlaw(item, caught);
			}
		}
	}

	/** The document, ready to be sent; nothing if sending has stopped, or if its file cannot be read. */
	private async *ready(
		found: FoundDocument,
		origin: Origin,
	): AsyncGenerator<ReadyDocument<Origin>> {
		const { canSend, report } = this.submission;
		const document = this.asDocument(found, origin);
		if (!canSend) {
			this.gaps.notSent += 1;
			return report.addNotSent(document);
		}
		this.recordSeen(document, found);
		try {
			if (this.isHashed) document.contentHash = await hashOf(document);
		} catch (caught) {
			return this.addUnreadable(origin, caught);
		}
		yield document;
	}

	/** Records that a file could not be read. The document is in the source, unless reading itself failed. */
	addUnreadable(origin: Origin, caught: unknown): void {
		if (!(caught instanceof NodeOperationError)) this.gaps.rejected += 1;
		this.submission.report.addUnreadable(origin, caught);
	}

	/** Records a document that could not be read. With a key, it is in the source all the same. */
	private recordRefused(caught: unknown): void {
		const key = isObject(caught) ? refusedKeys.get(caught) : undefined;
		if (key === undefined) this.gaps.rejected += 1;
		else this.recordKey(key, derivedId(this.owner, key));
	}

	private recordKey(key: string | undefined, id: string): void {
		if (!this.submission.settings.mirrors) return;
		if (key !== undefined && keyDemand(key, true)) this.brokenKey = key;
		if (!this.seen.has(id.toLowerCase())) this.seen.set(id.toLowerCase(), undefined);
	}

	/** A document with its ID. One without an ID gets a new one, so that requests can be repeated. */
	private asDocument(found: FoundDocument, origin: Origin): ReadyDocument<Origin> {
		const { key, file } = found;
		const ownId = key === undefined ? found.record.id : derivedId(this.owner, key);
		const id = ownId || randomUUID();
		const record = inFolder({ ...found.record, id }, this.knowledgebaseId);
		origin.name = record.name ?? undefined;
		origin.isUploaded = file !== undefined;
		const isNew = id !== ownId || !isUuid(id);
		// For a summary, records are not tracked: there may be too many, and nothing else of them is kept. Neither are
		// documents whose ID cannot come again.
		const isKept = this.submission.settings.output !== 'summary';
		origin.isTracked = isKept || (origin.isUploaded && !isNew);
		return { record, ...serialize(record), origin, id, isNew, key, file };
	}

	/** Records the ID of a document. A document whose ID is new cannot be recognized again, so it is not recorded. */
	private recordSeen(document: ReadyDocument<Origin>, found: FoundDocument): void {
		const { warnings, report } = this.submission;
		const { id, key, origin } = document;
		warnings.addDocument(document, found);
		if (document.isNew) return;
		const lowerCaseId = id.toLowerCase();
		const earlier = origin.isTracked && this.seen.get(lowerCaseId);
		if (earlier) warnings.addReplaced(key ?? id);
		if (earlier) report.addReplaced(earlier);
		if (origin.isTracked) this.seen.set(lowerCaseId, origin);
		this.recordKey(key, id);
	}
}

/** The content hash of a document, its bytes as characters: of its record and its file's content, never its address. */
async function hashOf({ json, record, file }: ReadyDocument<Origin>): Promise<string> {
	const { fileUrl } = record;
	const unsigned = fileUrl && unsignedAddress(fileUrl);
	const isSigned = unsigned !== fileUrl;
	const text = isSigned ? JSON.stringify({ ...record, fileUrl: unsigned }) : json;
	// A name in NFD is the same as in NFC, and so is its key.
	const canonical = text.normalize('NFC');
	if (!file) return hash('sha256', canonical, 'binary');
	const digest = createHash('sha256').update(canonical);
	const { content } = await file();
	for await (const piece of Buffer.isBuffer(content) ? [content] : content.open())
		digest.update(piece);
	return digest.digest('binary');
}
