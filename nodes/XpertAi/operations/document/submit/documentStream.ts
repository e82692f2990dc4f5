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

/** An item whose turn comes; read when it does, unless it was read before. */
interface QueuedItem {
	item: Item;
	documents?: ReturnType<DocumentSource['read']>;
}

/** What is told of documents while they are brought. */
interface StreamEvents {
	/** The turn of one has come. */
	onDocument: () => void;
	/** One comes when nothing new is sent any more. */
	onNotSent: (document: ReadyDocument<Origin>) => void;
}

/** What the items bring for one knowledgebase: documents under their ids, none kept longer than it is asked for. */
export class DocumentStream {
	/** The ids, in lower case, of the documents that were brought; needed to tell what is gone. */
	readonly seenIds = new Set<string>();
	/** Items that may still have something to bring. */
	private queue: QueuedItem[] = [];
	/** The latest document of each id. */
	private readonly latestOrigin = new Map<string, Origin>();
	private readonly owner: string;

	constructor(
		private readonly submission: Submission,
		private readonly knowledgebaseId: string,
		private readonly events: StreamEvents,
	) {
		this.owner = keyOwner(knowledgebaseId, submission.settings.sourceName);
	}

	/** Gives an item its turn, after those that came before. */
	enqueue(item: QueuedItem): void {
		this.queue.push(item);
	}

	/** The documents whose turn comes as they are asked for. With Stop, the first flaw ends them. */
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
				// Where a file broke off, what came before is sent all the same.
				report.addFlaw({ item, position }, caught);
			}
			if (!submission.canRead) return;
		}
	}

	/** The documents whose files can be had: the others would not be sent. */
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

	/** A document under its ID; one that brings none gets a new one, so that a request can always be repeated. */
	private asDocument(found: FoundDocument, origin: Origin): ReadyDocument<Origin> {
		const { key, file } = found;
		const own = inFolder(withId(found, this.owner), this.knowledgebaseId);
		const id = own.id || randomUUID();
		const record = own.id ? own : { ...own, id };
		origin.name = record.name ?? undefined;
		origin.isUploaded = file !== undefined;
		// Records are too many to remember each where only a summary is asked for, and nothing else of them is kept.
		origin.isTracked = origin.isUploaded || this.submission.settings.output !== 'summary';
		return {
			record,
			...serialize(record),
			origin,
			id,
			isNew: id !== own.id || !isUuid(id),
			...(key === undefined ? {} : { key }),
			...(file ? { file } : {}),
		};
	}

	/** A document as it is sent; none where its file cannot be read. */
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

	/** A second run can only know a document by its id. */
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

/** What is compared with earlier runs: what the document says and what is in its file, never where the file lies. */
async function contentOf(json: string, { contents }: FoundDocument): Promise<string> {
	if (!contents) return hash('sha256', json, 'base64');
	const digest = createHash('sha256').update(json);
	for await (const piece of contents()) digest.update(piece);
	return digest.digest('base64');
}
