import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

/** What a host puts out for a node, sorted by whether the item has failed. */
export interface Outputs {
	success: IDataObject[];
	error: IDataObject[];
}

/** By which rule a host knows a failed item (`handleNodeErrorOutput` in n8n-core's `workflow-execute.js`). */
type Rule = (item: INodeExecutionData) => boolean;

/** The rule of n8n-core 1.122.48 (n8n 1.123.81) and 2.8.1 (n8n 2.8.4). */
const byErrorOrMessage: Rule = ({ error, json }) => {
	const keys = Object.keys(json).length;
	if (error) return true;
	return Boolean(json.error && (keys === 1 || (json.message && keys === 2)));
};

/** The rule of n8n-core 2.41.1. */
const byKnownKeys: Rule = ({ error, json }) => {
	const known = ['error', 'message', 'details'];
	return Boolean(error ?? (json.error && Object.keys(json).every((key) => known.includes(key))));
};

/** The hosts whose source was read. */
export const HOSTS: Array<{ host: string; rule: Rule }> = [
	{ host: 'n8n 1.123.81', rule: byErrorOrMessage },
	{ host: 'n8n 2.8.4', rule: byErrorOrMessage },
	{ host: 'n8n 2.41.1', rule: byKnownKeys },
];

/** What a host does with the items of a node whose On Error is "Continue (using error output)". */
export function sorted(rule: Rule, items: INodeExecutionData[], input: IDataObject[]): Outputs {
	const failed = items.filter(rule).map((item) => {
		const { item: index = 0 } = item.pairedItem as { item?: number };
		return { ...item, json: { ...input[index], ...item.json } };
	});
	const success = items.filter((item) => !rule(item));
	return { success: putOut(success), error: putOut(failed) };
}

/** What every one of these hosts does with all items in the end: it drops the JSON beside an `error`. */
export function putOut(items: INodeExecutionData[]): IDataObject[] {
	return items.map(({ error, json }) => (error === undefined ? json : { error: error.message }));
}
