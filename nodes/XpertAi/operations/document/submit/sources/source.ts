import type { INodeProperties } from 'n8n-workflow';

import type { Field } from '../../../../execution/fields';
import type { Item } from '../../../../execution/item';
import type { FlawedDocument, FoundDocument } from './identity';
import type * as reading from './reading';

/** One way to bring documents (Documents From). Nothing else knows how many there are: `index.ts` lists them. */
export interface DocumentSource {
	value: string;
	/** As the editor shows it. */
	name: string;
	description: string;
	/** What it reads, in the order a user sees it. */
	fields: Field[];
	/** What else may be said of its documents, and what they get their ids by. */
	settings: INodeProperties[];
	/** Whether its documents come out simplified, unless that is switched off. */
	simplifies?: boolean;
	/**
	 * The documents of an item; asynchronous where they are too many to be held at once.
	 *
	 * @param tools what reads and checks them, which only runs load
	 * @throws NodeOperationError naming the field, the item and what is expected
	 */
	read: (
		item: Item,
		tools: typeof reading,
	) => FoundDocument[] | AsyncIterable<FoundDocument | FlawedDocument>;
}
