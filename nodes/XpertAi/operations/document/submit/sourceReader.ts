import { createHash } from 'crypto';
import { isObject } from 'lodash';

import type { ItemError } from '../../../execution/apiError';
import type { Item } from '../../../execution/item';
import { HASH_KIND_MARKS } from '../../../ingest/memory';
import { derivedId } from '../../../payloads/ids';
import { hashOf, makeReadyDocument, type SubmitDocument } from './makeReadyDocument';
import { keyNamespace } from '../sourceIdentity';
import type { SourceContents } from './sourceContents';
import type { FactRecorder } from './factRecorder';
import {
	documentKeyByError,
	type InputDocument,
	type ItemDocuments,
} from './sources/inputDocument';
import type { Submission } from './submission';
import { addRowKeys } from './tally';

/** Maximum number of documents that are passed on together. */
const MAX_DOCUMENTS_IN_GROUP = 10;

/** Maximum number of documents that a hint names. */
const MAX_VERSIONLESS_NAMES = 3;

interface QueuedItem {
	item: Item;
	/** The documents of the item, if it was read in advance. */
	documents?: ItemDocuments;
}

/** Reads the items of a source as documents that are ready to be compared and sent. */
export class SourceReader {
	/** Items of this source that the run has not handled yet. */
	readonly queue: QueuedItem[] = [];
	/** Number of documents without a version, although the user filled in its field. */
	versionless = 0;
	/** The names or keys of the first of these documents. */
	readonly versionlessNames: string[] = [];
	/** Number of documents with a version. */
	versioned = 0;
	/** The first two different versions: enough to tell whether all documents have the same one. */
	readonly versions = new Set<string>();
	private readonly place: Record<'knowledgebaseId' | 'idNamespace', string>;

	constructor(
		private readonly submission: Submission,
		knowledgebaseId: string,
		sourceName: string,
		private readonly contents: SourceContents,
		private readonly recorder: FactRecorder,
	) {
		this.place = { knowledgebaseId, idNamespace: keyNamespace(knowledgebaseId, sourceName) };
	}

	/**
	 * Reads the queued items one after another, and yields their documents in groups. If sending has stopped, reports
	 * the documents as not sent instead.
	 *
	 * @param isHashed whether to set `comparisonHash`, for the comparison with earlier runs
	 */
	async *readQueuedDocuments({ isHashed } = { isHashed: false }): AsyncGenerator<SubmitDocument[]> {
		const group: SubmitDocument[] = [];
		for (const queued of this.takeQueued())
			try {
				yield* this.readInto(group, queued, isHashed);
			} catch (caught) {
				// Does not throw, because the documents before the error must still be sent.
				this.handleUnread(queued.item, caught);
			}
		yield group;
	}

	/** Takes one item after another from the queue, until the execution is stopped. */
	private *takeQueued(): Generator<QueuedItem> {
		// Reverses the queue once, because `shift` is slow for many items.
		this.queue.reverse();
		while (!this.submission.signal?.aborted) {
			const queued = this.queue.pop();
			if (!queued) return;
			yield queued;
		}
	}

	/** Reads the documents of an item into `group`. Yields and empties the group whenever it is to be passed on. */
	private async *readInto(
		group: SubmitDocument[],
		{ item, documents }: QueuedItem,
		isHashed: boolean,
	): AsyncGenerator<SubmitDocument[]> {
		const { submission } = this;
		const found = documents ?? submission.readItemDocuments(item);
		if (Array.isArray(found)) {
			for (const one of found)
				if (await this.addAndCheckIfDue(group, one, item, isHashed)) yield group.splice(0);
			return;
		}
		let isEmpty = true;
		for await (const records of found)
			for (const record of records) {
				isEmpty = false;
				if (await this.addAndCheckIfDue(group, record, item, isHashed)) yield group.splice(0);
				// The rest of the file is not read.
				if (submission.stoppedBy) return;
			}
		if (!isEmpty) return;
		this.contents.filesWithoutRecords += 1;
		submission.recordFact({ outcome: 'noRecords' });
	}

	/**
	 * Adds a document to the group. If it could not be read, or if sending has stopped, reports it instead.
	 *
	 * @returns whether the group is due, i.e. to be passed on now: if it is full, or after a document with a file
	 */
	private async addAndCheckIfDue(
		group: SubmitDocument[],
		found: InputDocument | ItemError,
		item: Item,
		isHashed: boolean,
	): Promise<boolean> {
		if (found instanceof Error) {
			this.handleUnread(item, found);
			return false;
		}
		const document = this.prepareDocument(found, item);
		if (!document) return false;
		if (isHashed) document.comparisonHash = hashOf(document, found.version);
		if (!document.readFile || (await this.addFileToHash(document))) group.push(document);
		// A file is passed on at once, so that its upload starts while the next file is read. The group is passed on even
		// if `addFileToHash` could not read the file. It may then be empty, which does no harm.
		return document.readFile !== undefined || group.length >= MAX_DOCUMENTS_IN_GROUP;
	}

	/**
	 * Makes a document that can be sent, and records it as read and as content of the source.
	 *
	 * @returns undefined if sending has stopped. Then the document is reported as not sent.
	 */
	private prepareDocument(found: InputDocument, item: Item): SubmitDocument | undefined {
		const { submission } = this;
		const isKeptToEnd = submission.settings.output !== 'summary';
		const document = makeReadyDocument(found, item, this.place, isKeptToEnd);
		const { unusedColumns } = found;
		submission.recordFact({ outcome: 'read', report: document.report, unusedColumns });
		addRowKeys(submission.tally, found.metadataRowKeys);
		if (!submission.canSend) {
			this.recorder.handleFact({ outcome: 'notSent', document });
			return undefined;
		}
		this.contents.recordSeen(document);
		this.countVersion(found);
		submission.tally.inputHints.missingMetadata += found.missingMetadataCount ?? 0;
		return document;
	}

	private countVersion({ key, lacksExpectedVersion, record, version }: InputDocument): void {
		if (lacksExpectedVersion) this.versionless += 1;
		if (lacksExpectedVersion && this.versionlessNames.length < MAX_VERSIONLESS_NAMES)
			this.versionlessNames.push(record.name ?? key ?? 'one without a name');
		if (version === undefined) return;
		this.versioned += 1;
		if (this.versions.size < 2) this.versions.add(version);
	}

	/**
	 * Adds the content of the file to `comparisonHash`, unless this is the hash of a version or unset.
	 *
	 * @returns false if the file cannot be read. Then the document is reported as unreadable.
	 */
	private async addFileToHash(document: SubmitDocument): Promise<boolean> {
		const { comparisonHash = '', readFile } = document;
		if (!readFile || !comparisonHash.startsWith(HASH_KIND_MARKS.content)) return true;
		const begun = createHash('sha256').update(comparisonHash);
		try {
			// Content in a buffer comes without `hasher`, and is hashed here. Otherwise, `hasher` is a copy of `begun` that
			// already has the content.
			const { content, hasher = begun } = await readFile(begun);
			if (Buffer.isBuffer(content)) hasher.update(content);
			document.comparisonHash = HASH_KIND_MARKS.content + hasher.digest('binary');
			return true;
		} catch (error) {
			this.recorder.handleFact({ outcome: 'unreadable', document, error });
			return false;
		}
	}

	/** Records a document that could not be read. If its key is known, the document counts as present in the source. */
	private handleUnread(item: Item, caught: unknown): void {
		const key = isObject(caught) ? documentKeyByError.get(caught) : undefined;
		if (key === undefined) this.contents.gaps += 1;
		else this.contents.recordSeenAs(derivedId(this.place.idNamespace, key), 'unreadable');
		this.submission.addFailedItem(item, caught);
	}
}
