import type { Item } from '../../../../execution/item';
import type { ItemError } from '../../../../execution/outputs';
import type { UploadFile } from '../../../../transport/multipart';
import type { Identified } from './identity';

/** Where a document came from, its place among the documents of its item, and what became of it. */
export interface Origin {
	item: Item;
	position: number;
	name?: string;
	outcome?: 'found' | 'stored' | 'unchanged' | 'rejected' | 'unknown' | 'notSent';
	/** Whether it is remembered to the end of the run. */
	isTracked?: boolean;
	/** Whether it has a file that is uploaded before it is sent. */
	isUploaded?: boolean;
	/** Whether a later one of the run came with its key or ID. */
	isReplaced?: boolean;
}

/**
 * A document as a source gives it: read and checked, so that it can be sent. Its id is made when its turn comes.
 */
export interface FoundDocument extends Identified {
	/** The file to upload before it is sent; its address is not yet in the record. */
	file?: () => UploadFile | Promise<UploadFile>;
	/** What is in that file, to tell whether it has changed. */
	contents?: () => AsyncIterable<Uint8Array | string> | string[];
	/** Whether a table is sent as text, because servers cannot read it otherwise. */
	readAsText?: boolean;
	/** Columns of its item that match no field of a document (Map Automatically). */
	unusedColumns?: string[];
}

/** Why a part of an item is no document, where others of it may be. */
export interface FlawedDocument {
	flaw: ItemError;
}
