import isEqual from 'lodash/isEqual';
import type { IExecuteFunctions } from 'n8n-workflow';

import { readCredential, secretsOf } from './credential';
import type { ReadCredential } from './credential';
import { sendWith } from './request';
import type { Send } from './request';

/** What the requests of an item are sent with. Items with the same credential share a connection. */
export interface Connection {
	send: Send;
	/** All spellings of the token, which must not appear in output (`spellingsOf`). */
	secrets: string[];
}

/**
 * The connections of all items. Fields of a credential may be expressions, which n8n resolves for one item at a time.
 * Reading a credential queries n8n's database, so it is read for each item only if it may differ.
 */
export async function connectionsOf(context: IExecuteFunctions): Promise<Connection[]> {
	const items = context.getInputData();
	const first = await readCredential(context, 0);
	if (items.length <= 1 || (await isFixed(first, context, items.length))) {
		const connection = connect(first, context);
		return items.map(() => connection);
	}
	const byCredential = new Map<string, Connection>();
	const connections: Connection[] = [];
	for (const index of items.keys()) {
		const credential = await readCredential(context, index);
		const key = JSON.stringify(credential);
		const connection = byCredential.get(key) ?? connect(credential, forItem(index, context));
		byCredential.set(key, connection);
		connections.push(connection);
	}
	return connections;
}

const connect = (credential: ReadCredential, context: IExecuteFunctions): Connection => ({
	send: sendWith(credential, context),
	secrets: secretsOf(credential),
});

/**
 * Whether a credential is the same for all items. Then it can also be read for an item that does not exist; an
 * expression that uses its item fails there. Reading the last item excludes expressions that only count items.
 */
async function isFixed(
	first: ReadCredential,
	context: IExecuteFunctions,
	itemCount: number,
): Promise<boolean> {
	if ('refusal' in first) return false;
	for (const index of [itemCount, itemCount - 1])
		if (!isEqual(first, await readCredential(context, index))) return false;
	return true;
}

/** A context for the requests of one item: n8n reads the credential again for each request. */
function forItem(index: number, context: IExecuteFunctions): IExecuteFunctions {
	return Object.create(context, {
		getCredentials: { value: async (type: string) => await context.getCredentials(type, index) },
	}) as IExecuteFunctions;
}
