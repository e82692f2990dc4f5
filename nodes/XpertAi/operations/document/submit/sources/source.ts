import type { INodeProperties } from 'n8n-workflow';

import type { Field } from '../../../../execution/fields';
import type { Item } from '../../../../execution/item';
import type { FlawedDocument, FoundDocument } from './identity';
import type * as reading from './reading';

/** One kind of source (Documents From). Only `index.ts` lists all of them. */
export interface DocumentSource {
	value: string;
	/** The name in the editor. */
	name: string;
	description: string;
	/** Its fields, in the order that a user sees. */
	fields: Field[];
	/** The settings of its documents, including how they get their IDs. */
	settings: INodeProperties[];
	/** Whether it has the field Simplify. */
	simplifies?: boolean;
	/**
	 * Reads the documents of an item; asynchronously where they are too many to hold at once.
	 *
	 * @param tools functions that read and check documents; only runs load them
	 * @throws NodeOperationError naming the field, the item and what is expected
	 */
	read: (
		item: Item,
		tools: typeof reading,
	) => FoundDocument[] | AsyncIterable<FoundDocument | FlawedDocument>;
}
