import truncate from 'lodash/truncate';
import { z } from 'zod';

import type { BinaryField, Item } from '../../../execution/item';
import { derivedId } from '../../../payloads/derivedId';
import { askedBy, rejectsWithPayload } from '../../../runs/input';
import type { RunBody } from '../../../runs/input';
import { isJsonObject } from '../../../transport/answer';
import { RUN_NAMING, inputKind, runBodyOf } from './body';
import { attachments } from './fields';
import { runSettings } from './options';
import type { RunOptions } from './options';

const threadSource = z.enum(['new', 'key', 'existing']);

type ThreadSource = z.infer<typeof threadSource>;

const TITLE_LENGTH = 80;

/** What is to be run for one item, read and checked. */
export interface Order {
	item: Item;
	/** Where it runs: in a conversation that is made, that may have to be made, or that is there. */
	runOn: ThreadSource;
	/** The thread to run; a new conversation gets one of its own. */
	threadId?: string;
	body: RunBody;
	/** The binary fields whose files go along with the message. */
	attachments: BinaryField[];
	title: string;
	options: RunOptions;
	simplify: boolean;
	failuresAsReplies: boolean;
}

/**
 * Reads the parameters of an item's run.
 *
 * @throws NodeOperationError naming the parameter, the item and what is expected
 */
export function readOrder(item: Item, failuresAsReplies: boolean): Order {
	const runOn = item.choice('threadSource', threadSource);
	const body = runBodyOf(item);
	if (!isJsonObject(body)) {
		const subject = `"${item.labelOf('jsonBody')}"`;
		return item.refuse({ subject, demand: 'must be an object (JSON)', value: body });
	}
	item.checkText(body, item.isJsonBody ? {} : RUN_NAMING);
	if (rejectsWithPayload(body)) {
		const demand =
			'must not give a rejection a "payload", as the server then carries out what was rejected';
		return item.refuse({ subject: `"${item.labelOf('jsonBody')}"`, demand });
	}
	if (runOn === 'new' && askedBy(body).kind !== 'message') {
		const demand =
			'must be "Conversation With a Key" or "Existing Thread", as a new conversation has nothing to decide or to answer again';
		return item.refuse({ subject: `"${item.labelOf('threadSource')}"`, demand });
	}
	const { simplify, options } = item.settings(runSettings);
	return {
		item,
		runOn,
		threadId: threadIdOf(item, runOn, body),
		body,
		attachments: attachedTo(item),
		title: options.title || titleOf(item.parameter('message', '')),
		options,
		simplify,
		failuresAsReplies,
	};
}

/** The thread that is chosen, or that belongs to the key and the assistant. */
function threadIdOf(
	item: Item,
	runOn: ThreadSource,
	{ assistant_id: assistantId }: RunBody,
): string | undefined {
	if (runOn === 'new') return undefined;
	if (runOn === 'existing') return item.id('threadId');
	const key = item.key('conversationKey');
	if (typeof assistantId === 'string' && assistantId !== '') return derivedId(assistantId, key);
	const subject = `"${item.labelOf('jsonBody')}"`;
	return item.refuse({ subject, demand: 'must name the assistant_id, to which the key belongs' });
}

/** The binary fields that a message takes its files from; a body of the user's own takes none. */
function attachedTo(item: Item): BinaryField[] {
	const isMessage = !item.isJsonBody && item.choice('inputType', inputKind) === 'message';
	return isMessage ? item.binaries(attachments.name) : [];
}

function titleOf(message: unknown): string {
	return typeof message === 'string' ? truncate(message.trim(), { length: TITLE_LENGTH }) : '';
}
