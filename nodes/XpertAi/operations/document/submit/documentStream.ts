import { createHash, hash, randomUUID } from 'crypto';

import type { Item } from '../../../execution/item';
import { serialize } from '../../../ingest/batches';
import type { ReadyDocument } from '../../../ingest/batches';
import { inFolder } from '../../../ingest/folders';
import { isUuid } from '../../../payloads/common';
import { keyOwner, withId } from './sources/identity';
import type { FoundDocument, Origin } from './sources/identity';
import type { DocumentSource } from './sources/source';
import type { Submission } from './submission';

/** An item in the queue. Its documents are read when its turn comes, unless they were read before. */
interface QueuedItem {
	item: Item;
	documents?: ReturnType<DocumentSource['read']>;
}

/** Events while documents are read. */
interface StreamEvents {
	/** A document was read. */
	onDocument: () => void;
	/** A document was read after sending had stopped. */
	onNotSent: (document: ReadyDocument<Origin>) => void;
}

/** The documents of all items for one knowledgebase, with their IDs. They are streamed: none is kept. */
export class DocumentStream {
	/** The IDs, in lower case, of the documents read so far. Used to find documents missing from the source. */
	readonly seenIds = new Set<string>();
	/** Items to be read. */
	private queue: QueuedItem[] = [];
	/** The origin of the latest document with each ID. */
	private readonly latestOrigin = new Map<string, Origin>();
	private readonly owner: string;

	constructor(
		private readonly submission: Submission,
		private readonly knowledgebaseId: string,
		private readonly events: StreamEvents,
	) {
		this.owner = keyOwner(knowledgebaseId, submission.settings.sourceName);
	}

	/** Adds an item to the queue. */
	enqueue(item: QueuedItem): void {
		this.queue.push(item);
	}

	/** Reads the documents of the queued items on demand. With Stop, the first flaw ends the stream. */
	async *documents(): AsyncGenerator<ReadyDocument<Origin>> {
		const { submission, events } = this;
		const { report, warnings } = submission;
		this.queue.reverse();
		for (let queued = this.queue.pop(); queued; queued = this.queue.pop()) {
			const { item } = queued;
			let position = 0;
			try {
				const documents = queued.documents ?? submission.read(item);
				const isStreamed = !Array.isArray(documents);
				for await (const found of documents) {
					const origin: Origin = { item, position: position++ };
					if ('flaw' in found) report.addFlaw(origin, found.flaw);
					else {
						if (isStreamed) report.read += 1;
						events.onDocument();
						if (submission.canSend) {
							const ready = await this.ready(found, origin);
							if (ready) yield ready;
						} else events.onNotSent(this.asDocument(found, origin));
					}
					if (!submission.canRead) return;
				}
				if (isStreamed && position === 0) warnings.emptyFiles += 1;
			} catch (caught) {
				// If a file breaks off, the documents before that are sent nevertheless.
				report.addFlaw({ item, position }, caught);
			}
			if (!submission.canRead) return;
		}
	}

	/** The documents whose files can be read: a run would not send the others. */
	async *withFiles(): AsyncGenerator<ReadyDocument<Origin>> {
		for await (const document of this.documents()) {
			try {
				await document.file?.();
			} catch (caught) {
				this.submission.report.addUnreadable(document.origin, caught);
				continue;
			}
			yield document;
		}
	}

	/** A document with its ID. One without an ID gets a new one, so that requests can be repeated. */
	private asDocument(found: FoundDocument, origin: Origin): ReadyDocument<Origin> {
		const { key, file } = found;
		const identified = inFolder(withId(found, this.owner), this.knowledgebaseId);
		const id = identified.id || randomUUID();
		const record = identified.id ? identified : { ...identified, id };
		origin.name = record.name ?? undefined;
		origin.isUploaded = file !== undefined;
		// For a summary, records are not tracked: there may be too many, and nothing else of them is kept.
		origin.isTracked = origin.isUploaded || this.submission.settings.output !== 'summary';
		return {
			record,
			...serialize(record),
			origin,
			id,
			isNew: id !== identified.id || !isUuid(id),
			...(key === undefined ? {} : { key }),
			...(file ? { file } : {}),
		};
	}

	/** A document ready to be sent; `undefined` if its file cannot be read. */
	private async ready(
		found: FoundDocument,
		origin: Origin,
	): Promise<ReadyDocument<Origin> | undefined> {
		const document = this.asDocument(found, origin);
		this.recordSeen(document, found);
		if (!this.submission.settings.remembers) return document;
		try {
			document.content = await contentOf(document.json, found);
			return document;
		} catch (caught) {
			this.submission.report.addUnreadable(origin, caught);
			return undefined;
		}
	}

	/** Records the ID of a document. A document whose ID is new cannot be recognized again, so it is not recorded. */
	private recordSeen(document: ReadyDocument<Origin>, found: FoundDocument): void {
		const { warnings, report, settings } = this.submission;
		const { id, key, origin } = document;
		warnings.note(document, found);
		if (document.isNew) return;
		const lowerCaseId = id.toLowerCase();
		if (origin.isTracked) {
			const earlier = this.latestOrigin.get(lowerCaseId);
			if (earlier) warnings.noteReplaced(key ?? id);
			if (earlier) report.addReplaced(earlier);
			this.latestOrigin.set(lowerCaseId, origin);
		}
		if (settings.mirrors) this.seenIds.add(lowerCaseId);
	}
}

/** The fingerprint of a document: of its record and the content of its file, never of the file's address. */
async function contentOf(json: string, { contents }: FoundDocument): Promise<string> {
	if (!contents) return hash('sha256', json, 'base64');
	const digest = createHash('sha256').update(json);
	for await (const piece of contents()) digest.update(piece);
	return digest.digest('base64');
}
