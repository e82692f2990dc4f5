import groupBy from 'lodash/groupBy';
import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';

import type { FieldValues } from '../../../execution/fields';
import { enumOptions } from '../../../execution/fields';
import { splitIds } from '../../../execution/ids';
import type { Item } from '../../../execution/item';
import type { RunInput } from '../../../runs/input';
import { idList } from '../../../payloads/common';
import { ID_PLACEHOLDER } from '../../../pickers/locators';

const KINDS = ['environment', 'fileContext', 'project', 'storageFile'] as const;

/** Rows of records that a message names by ID. */
export const idRows: INodeProperties = {
	displayName: 'IDs',
	name: 'ids',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add ID',
	default: {},
	description: 'Uploaded files to send along, or the environment and project of the run',
	options: [
		{
			displayName: 'ID',
			name: 'values',
			values: [
				{
					displayName: 'Of',
					name: 'kind',
					type: 'options',
					options: enumOptions(KINDS, {
						environment: 'Environment',
						fileContext: 'File Context',
						project: 'Project',
						storageFile: 'Storage File',
					}),
					default: 'fileContext',
					description: 'What it is the ID of. File: Upload gives those of storage files.',
				},
				{
					displayName: 'ID',
					name: 'id',
					type: 'string',
					default: '',
					placeholder: ID_PLACEHOLDER,
					description: 'The ID, of files also several, separated by commas',
				},
			],
		},
	],
};

const rowsOfIds = z.object({
	ids: z.array(z.object({ kind: z.enum(KINDS).default('fileContext'), id: z.unknown() })),
});

const LABEL = 'ID" in "IDs';
const SUBJECT = `"${LABEL}"`;

/** The IDs of a message, as its input needs them. */
type MessageIds = Pick<
	Extract<RunInput, { kind: 'message' }>,
	'fileContextIds' | 'storageFileIds' | 'environmentId' | 'projectId'
>;

/**
 * The IDs that a message names.
 *
 * @throws NodeOperationError for invalid IDs, and for more than one environment or project
 */
export function messageIds(item: Item, { ids = [] }: FieldValues): MessageIds {
	const { ids: rows } = item.check(rowsOfIds, { ids }, { fields: [idRows] });
	const byKind = groupBy(rows, 'kind');
	const all = (kind: (typeof KINDS)[number]) =>
		(byKind[kind] ?? []).flatMap(({ id }) => idsOf(item, id));
	const one = (kind: (typeof KINDS)[number]) => {
		const [id, ...more] = all(kind);
		const demand = `must name one ${kind} at most`;
		return more.length === 0 ? id : item.refuse({ subject: SUBJECT, demand });
	};
	return {
		fileContextIds: all('fileContext'),
		storageFileIds: all('storageFile'),
		environmentId: one('environment'),
		projectId: one('project'),
	};
}

/** IDs as text with commas or as a list. */
function idsOf(item: Item, raw: unknown): string[] {
	const ids = typeof raw === 'string' ? splitIds(raw) : (raw ?? []);
	const list: unknown[] = Array.isArray(ids) ? ids : [ids];
	const texts = list.map((id) => (typeof id === 'number' ? String(id) : id));
	if (texts.length === 0) return [];
	const checked = item.check(idList, texts, { parameter: LABEL });
	for (const id of checked) item.checkId({ subject: SUBJECT, id });
	return checked;
}
