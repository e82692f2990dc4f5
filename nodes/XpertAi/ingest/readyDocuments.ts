import type { Hash } from 'crypto';

import type { DocumentRecord } from '../payloads/document';
import type { UploadFile } from '../transport/multipart';

/** The file of a document, as read from the source. */
export interface SourceFile extends UploadFile {
	/** The record fields that depend on the format of the content. */
	recordFields?: Pick<DocumentRecord, 'name' | 'type' | 'mimeType'>;
	/** Whether the node removed U+0000 from the content or from the record. */
	hadNul?: boolean;
	/** A copy of the hash given to `ReadyDocument.readFile`, updated with the content. Unset if `content` is a buffer. */
	hasher?: Hash;
}

export interface ReadyDocument<Report> {
	/**
	 * The record. If the document has no file, the metadata is null here, and pages and chunks have only their IDs.
	 * `recordJson` is complete.
	 */
	record: DocumentRecord;
	/** The record as JSON text. The node measures, hashes and sends this text. */
	recordJson: string;
	/** Size of `recordJson` in bytes (UTF-8). */
	sizeInBytes: number;
	/** The ID of the document. The server replaces a stored document that has the same ID. */
	id: string;
	/** Whether later runs cannot recognize the document. True if its ID is random or is not a UUID. */
	lacksStableId?: boolean;
	/** The key from which the ID is derived, if any. */
	key?: string;
	/**
	 * The hash of the content or of the version, as a binary string. Begins with one of `HASH_KIND_MARKS`. Runs
	 * compare hashes to find changed documents.
	 */
	comparisonHash?: string;
	/**
	 * Reads the file to upload. Unset if the document has no file. A large stored file is opened a second time when it is
	 * sent.
	 *
	 * @param hasher a hash for the content (see `SourceFile.hasher`). With it, the content is not kept, to save memory.
	 */
	readFile?: (hasher?: Hash) => SourceFile | Promise<SourceFile>;
	/** Whether this run has uploaded the file. */
	isUploaded?: boolean;
	/** The input item of the document, and data for reports. */
	report: Report;
}

/** Documents in groups, because each step of an async iterable takes time. */
export type DocumentGroups<Report, One = ReadyDocument<Report>> =
	| Iterable<One[]>
	| AsyncIterable<One[]>;

/** Returns a record as JSON, with the size in bytes. */
export function recordJsonAndSize(
	record: DocumentRecord,
): Pick<ReadyDocument<unknown>, 'recordJson' | 'sizeInBytes'> {
	const recordJson = JSON.stringify(record);
	return { recordJson, sizeInBytes: Buffer.byteLength(recordJson) };
}
