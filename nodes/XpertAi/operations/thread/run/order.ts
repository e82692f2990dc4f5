import truncate from 'lodash/truncate';
import { z } from 'zod';

import { chatSessionOf, readAnswerOutput } from '../../../execution/audience';
import type { AnswerOutput } from '../../../execution/audience';
import { checkedKey, keyOf } from '../../../execution/keys';
import type { BinaryField, Item } from '../../../execution/item';
import { derivedId } from '../../../payloads/derivedId';
import { intentOf } from '../../../runs/input';
import type { RunBody, RunInput } from '../../../runs/input';
import { runBodyOf } from './body';
import { runSettings, startSettings } from './options';
import type { RunOptions, StartOptions } from './options';

const threadSource = z.enum(['auto', 'new', 'key', 'existing']);

/** Where a run takes place, after Automatic is resolved. */
type ThreadSource = Exclude<z.infer<typeof threadSource>, 'auto'>;

const TITLE_LENGTH = 80;

/** What to send for one item, read and checked. */
export interface Message {
	item: Item;
	/** A new conversation, the conversation of a key, or an existing thread. */
	runOn: ThreadSource;
	/** The thread to run; undefined for a new conversation. */
	threadId?: string;
	/** Names no assistant if the thread has one. */
	body: RunBody;
	/** The binary fields of the files to send. */
	attachments: BinaryField[];
	title: string;
}

/** A message with a wait for its answer. */
export interface Order extends Message, AnswerOutput {
	options: RunOptions;
	failuresAsReplies: boolean;
}

/** A message without a wait. */
export interface StartOrder extends Message {
	options: StartOptions;
}

/**
 * Reads the parameters of a run.
 *
 * @param kind what the operation sends to the assistant
 * @throws NodeOperationError naming the parameter, the item and the requirement
 */
export function readOrder(item: Item, kind: RunInput['kind'], failuresAsReplies: boolean): Order {
	const { options } = item.settings(runSettings);
	return {
		...readMessage(item, kind, options),
		options,
		...readAnswerOutput(item),
		failuresAsReplies,
	};
}

/**
 * Reads the parameters of Start Run.
 *
 * @throws NodeOperationError naming the parameter, the item and the requirement
 */
export function readStart(item: Item): StartOrder {
	const { options } = item.settings(startSettings);
	const message = readMessage(item, 'message', options);
	if (intentOf(message.body).kind !== 'decision') return { ...message, options };
	const demand = 'must not decide: use Thread: Decide';
	return item.refuse({ subject: `"${item.labelOf('options.jsonBody')}"`, demand });
}

function readMessage(item: Item, kind: RunInput['kind'], options: StartOptions): Message {
	const isMessage = kind === 'message';
	const { runOn, session } = isMessage ? threadSourceOf(item) : { runOn: 'existing' as const };
	const body = runBodyOf(item, kind);
	if (runOn === 'new' && intentOf(body).kind !== 'message') {
		const demand =
			'must be "Conversation With a Key" or "Existing Thread", as a new conversation has nothing to decide or to answer again';
		return item.refuse({ subject: `"${item.labelOf('threadSource')}"`, demand });
	}
	const withMessage = isMessage && !item.isJsonBody;
	return {
		item,
		runOn,
		threadId: threadIdOf(item, runOn, body, session),
		body,
		attachments: withMessage ? item.binaries('options.attachments') : [],
		title: options.title || (withMessage ? titleOf(item.text('message')) : ''),
	};
}

/** Where a run takes place. Automatic uses the chat session as the key; without one, a new conversation. */
function threadSourceOf(item: Item): { runOn: ThreadSource; session?: string } {
	const chosen = item.setting('threadSource', threadSource);
	if (chosen !== 'auto') return { runOn: chosen };
	const session = chatSessionOf(item);
	return session === undefined ? { runOn: 'new' } : { runOn: 'key', session };
}

/** The chosen thread, or the thread derived from assistant and key. */
function threadIdOf(
	item: Item,
	runOn: ThreadSource,
	{ assistant_id: assistantId }: RunBody,
	session?: string,
): string | undefined {
	if (runOn === 'new') return undefined;
	if (runOn === 'existing') return item.id('threadId');
	const key =
		session === undefined
			? keyOf(item, 'conversationKey', true)
			: checkedKey(item, session, 'The sessionId of the Chat Trigger', true);
	if (typeof assistantId === 'string' && assistantId !== '') return derivedId(assistantId, key);
	const subject = `"${item.labelOf('options.jsonBody')}"`;
	return item.refuse({ subject, demand: 'must name the assistant_id, to which the key belongs' });
}

function titleOf(message: string): string {
	return truncate(message.trim(), { length: TITLE_LENGTH });
}
