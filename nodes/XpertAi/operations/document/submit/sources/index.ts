import type { INodeProperties } from 'n8n-workflow';

import { displayedIf } from '../../../../execution/fields';
import type { Field } from '../../../../execution/fields';
import { addresses } from './addresses';
import { fields } from './fields';
import { files } from './files';
import { json } from './json';
import { records } from './records';
import type { Source } from './source';
import { text } from './text';

/** All sources, in the order in which their fields stand. */
export const SOURCES: Source[] = [text, files, addresses, fields, json, records];

/** What the input items are. */
export const sourceField: INodeProperties = {
	displayName: 'Documents From',
	name: 'source',
	type: 'options',
	noDataExpression: true,
	options: SOURCES.map(({ name, value, description }) => ({ name, value, description })).sort(
		(one, other) => (one.name < other.name ? -1 : 1),
	),
	default: 'text',
	description: 'What each input item is',
	builderHint: {
		propertyHint: 'What one item holds: each choice says it in its description.',
	},
};

/** The fields that each source alone has. */
export const ownFields: Field[] = SOURCES.flatMap((source) => shownFor([source], source.fields));

/** What documents get their ids by. */
export const identityFields = sharedFields(({ identity }) => identity);

/** What else may be said of documents. */
export const settingsFields = sharedFields(({ settings }) => settings);

/** How a document is brought that servers can read, for messages. */
export const WITH_A_FILE = `with "Documents From" set to ${text.name}, or its file with ${files.name}`;

function sharedFields(of: (source: Source) => Field[]): Field[] {
	return [...new Set(SOURCES.flatMap(of))].flatMap((field) =>
		shownFor(
			SOURCES.filter((source) => of(source).includes(field)),
			[field],
		),
	);
}

function shownFor(sources: Source[], shown: Field[]): Field[] {
	return displayedIf({ show: { source: sources.map(({ value }) => value) } }, shown);
}
