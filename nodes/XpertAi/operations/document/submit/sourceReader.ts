import { createHash } from 'crypto';
import { isObject } from 'lodash';

import type { ItemError } from '../../../execution/apiError';
import type { Item } from '../../../execution/item';
import { MARKS } from '../../../ingest/memory';
import { derivedId } from '../../../payloads/ids';
import { type Document, hashOf, readyDocument } from './readyDocument';
import { keyOwner } from './settings';
import type { SourceContents } from './sourceContents';
import type { SourceOutcomes } from './sourceOutcomes';
import { type FoundDocument, rejectedKeys, type SourceDocuments } from './sources/found';
import type { Submission } from './submission';

/** Maximum number of documents that are passed on together. */
const MAX_DOCUMENTS_IN_GROUP = 10;

/** Reads the items of a source as documents that are ready to be compared and sent. */
export class SourceReader {
	/** Items of this source that the run has not handled yet. `documents` is set if the item was read in advance. */
	readonly queue: Array<{ item: Item; documents?: SourceDocuments }> = [];
	/** Number of documents without a version, although the user filled in its field. */
	versionless = 0;
	/** Number of documents with a version. */
	versioned = 0;
	/** The different versions of the documents, at most two. */
	readonly versions = new Set<string>();
	private readonly place: Record<'knowledgebaseId' | 'owner', string>;

	constructor(
		private readonly submission: Submission,
		knowledgebaseId: string,
		sourceName: string,
		private readonly contents: SourceContents,
		private readonly outcomes: SourceOutcomes,
	) {
		this.place = { knowledgebaseId, owner: keyOwner(knowledgebaseId, sourceName) };
	}

	/**
	 * Reads the queued items one after another, and yields their documents in groups. If sending has stopped, reports
	 * the documents as not sent instead.
	 *
	 * @param isHashed whether to set `contentHash`, for the comparison with earlier runs
	 */
	async *documents(isHashed = false): AsyncGenerator<Document[]> {
		const { submission } = this;
		const group: Document[] = [];
		this.queue.reverse();
		while (!submission.signal?.aborted) {
			const queued = this.queue.pop();
			if (!queued) break;
			const { item } = queued;
			let count = 0;
			try {
				const documents = queued.documents ?? submission.read(item);
				const isFile = !Array.isArray(documents);
				const isOver = () => isFile && submission.stoppedBy;
				for await (const some of isFile ? documents : [documents]) {
					for (const found of some) {
						count += 1;
						const document = this.prepare(found, item, isHashed);
						if (document && (!document.file || (await this.hashFile(document))))
							group.push(document);
						// A file is passed on at once, so that its upload starts while the next file is read.
						if (document?.file || group.length >= MAX_DOCUMENTS_IN_GROUP) yield group.splice(0);
						if (isOver()) break;
					}
					if (isOver()) break;
				}
				if (count === 0 && isFile) {
					this.contents.emptyFiles += 1;
					submission.add({ outcome: 'noRecords' });
				}
			} catch (caught) {
				// Does not throw, because the documents before the error must still be sent.
				this.handleUnread(item, caught);
			}
		}
		yield group;
	}

	/**
	 * Prepares a document for sending, and reports it as read.
	 *
	 * @returns undefined if the document must not be sent
	 */
	private prepare(found: FoundDocument | ItemError, item: Item, isHashed: boolean) {
		if (found instanceof Error) return this.handleUnread(item, found);
		const { submission } = this;
		const isTracked = submission.settings.output !== 'summary';
		const document = readyDocument(found, item, this.place, isTracked);
		const { unusedColumns } = found;
		submission.add({ outcome: 'read', report: document.report, unusedColumns });
		if (!submission.canSend) return void this.outcomes.handleFact({ outcome: 'notSent', document });
		this.contents.recordSeen(document);
		this.countVersion(found);
		submission.tally.inputHints.missingMetadata += found.missingMetadata ?? 0;
		if (isHashed) document.contentHash = hashOf(document, found.version);
		return document;
	}

	private countVersion({ lacksVersion, version }: FoundDocument): void {
		if (lacksVersion) this.versionless += 1;
		if (version === undefined) return;
		this.versioned += 1;
		if (this.versions.size < 2) this.versions.add(version);
	}

	/** Adds the content of the file to the hash, unless it is the hash of a version. Returns whether this was possible. */
	private async hashFile(document: Document): Promise<boolean> {
		const { contentHash = '', file } = document;
		if (!file || !contentHash.startsWith(MARKS.content)) return true;
		const given = createHash('sha256').update(contentHash);
		try {
			const { content, digest = given } = await file(given);
			if (Buffer.isBuffer(content)) digest.update(content);
			document.contentHash = MARKS.content + digest.digest('binary');
			return true;
		} catch (error) {
			this.outcomes.handleFact({ outcome: 'unreadable', document, error });
			return false;
		}
	}

	/** Records a document that could not be read. If the key is known, the document counts as present in the source. */
	private handleUnread(item: Item, caught: unknown): undefined {
		const key = isObject(caught) ? rejectedKeys.get(caught) : undefined;
		if (key === undefined) this.contents.gaps += 1;
		else this.contents.recordSeenAs(derivedId(this.place.owner, key), 'unreadable');
		this.submission.addFailedItem(item, caught);
	}
}
