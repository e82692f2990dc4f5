import truncate from 'lodash/truncate';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import type { BinaryField, Item } from '../../../execution/item';
import type { Run } from '../../../runs/run';
import { isJsonObject } from '../../../transport/answer';
import { MINUTE_MS } from '../../../transport/clock';
import { RUN_NAMING, inputKind, runBodyOf } from './body';
import { attachments } from './fields';

/** Minutes that a timer of Node.js can wait. */
const deadline = z.number().positive().min(0.001).max(35_791);

const whenBusy = z.enum(['wait', 'fail', 'run']);

const threadSource = z.enum(['existing', 'new']);

const TITLE_LENGTH = 80;

/** What is to be run for one item, read and checked. */
export interface Order {
	item: Item;
	/** The thread to run; without it, a new conversation is started. */
	threadId?: string;
	body: IDataObject;
	/** The body as it is sent. */
	bodyText: string;
	/** The binary fields whose files go along with the message. */
	attachments: BinaryField[];
	title: string;
	whenBusy: Run['whenBusy'];
	deadlineMs: number;
	simplify: boolean;
}

/**
 * Reads the parameters of an item's run.
 *
 * @throws NodeOperationError naming the parameter, the item and what is expected
 */
export function readOrder(item: Item): Order {
	const isNew = item.choice('threadSource', threadSource) === 'new';
	const body = runBodyOf(item);
	if (!isJsonObject(body)) {
		const subject = `"${item.labelOf('jsonBody')}"`;
		return item.refuse({ subject, demand: 'must be an object (JSON)', value: body });
	}
	return {
		item,
		...(isNew ? {} : { threadId: item.id('threadId') }),
		body,
		bodyText: item.jsonText(body, item.isJsonBody ? {} : RUN_NAMING),
		attachments: attachedTo(item),
		title: item.text('options.title') || titleOf(item.parameter('message', '')),
		whenBusy: item.choice('options.whenBusy', whenBusy),
		deadlineMs: item.number('options.deadlineMinutes', deadline) * MINUTE_MS,
		simplify: item.switch('simplify'),
	};
}

/** The binary fields that a message takes its files from; a body of the user's own takes none. */
function attachedTo(item: Item): BinaryField[] {
	const isMessage = !item.isJsonBody && item.choice('inputType', inputKind) === 'message';
	return isMessage ? item.binaries(attachments.name) : [];
}

function titleOf(message: unknown): string {
	return typeof message === 'string' ? truncate(message.trim(), { length: TITLE_LENGTH }) : '';
}
