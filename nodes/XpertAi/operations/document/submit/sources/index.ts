import type { INodeProperties } from 'n8n-workflow';

import { displayedIf, inPanelOrder, answerOutput } from '../../../../execution/fields';
import type { Field } from '../../../../execution/fields';
import { addresses } from './addresses';
import { fields } from './fields';
import { files } from './files';
import { json } from './json';
import { records } from './records';
import { documentSettings } from './shared';
import type { DocumentSource } from './source';
import { text } from './text';

/** All sources, in the order of their fields. */
export const SOURCES: DocumentSource[] = [text, files, addresses, fields, json, records];

/** Selects what the input items are. */
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

/** The fields of each source. */
export const sourceFields: Field[] = SOURCES.flatMap((source) => shownFor([source], source.fields));

/** Fields that sources share: Simplify and Document Settings. */
export const settingsFields: Field[] = [
	...shownFor(
		SOURCES.filter(({ simplifies }) => simplifies),
		answerOutput,
	),
	documentSettings(inPanelOrder(settingsOfAll())),
];

/** How to send a document that servers can read, for messages. */
export const WITH_A_FILE = `with "Documents From" set to ${text.name}, or its file with ${files.name}`;

/** Each setting once, shown for the sources that use it. */
function settingsOfAll(): INodeProperties[] {
	return [...new Set(SOURCES.flatMap(({ settings }) => settings))].flatMap((setting) => {
		const sources = SOURCES.filter(({ settings }) => settings.includes(setting));
		return displayedIf({ show: { '/source': sources.map(({ value }) => value) } }, [setting]);
	});
}

function shownFor(sources: DocumentSource[], shown: Field[]): Field[] {
	return displayedIf({ show: { source: sources.map(({ value }) => value) } }, shown);
}
