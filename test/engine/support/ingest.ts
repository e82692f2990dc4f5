import { omit, pick, reject } from 'lodash';
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { COPILOT_ID } from '../../../sandbox';
import type { NodeResult } from './engine';
import { type Fixture, useFixture } from './fixture';

/** Longer than the server's column for a source type: the schema takes it, the server does not. */
export const REFUSED_SOURCE_TYPE = 'x'.repeat(21);

/** Documents from columns of the input items. */
export const BY_NAME: INodeParameters = {
	documentFields: { mappingMode: 'autoMapInputData', value: null, schema: [] },
};

/** Texts from columns of the input items, until assistants find them. */
export const TEXTS: INodeParameters = {
	source: 'text',
	name: '={{ $json.name }}',
	text: '={{ $json.text }}',
	afterStoring: 'wait',
};

/** What of Options may stand beside them here. */
const OPTIONS = ['output', 'resendAll', 'maxGonePercent'];

/** A fixture with what tests of ingestion do. Without an embedding model, its knowledgebase processes nothing. */
export function useIngest({ embeds = true } = {}) {
	const fixture = useFixture();
	const { add, sent } = fixture;
	if (embeds) embedsDocuments(fixture);
	/** All documents and notes of the world's knowledgebase. */
	const documents = () => fixture.sandbox.store.documentsOf(fixture.world.knowledgebaseId);
	return {
		fixture,
		add,
		sent,
		documents,
		/** Submits documents to the world's knowledgebase; some of Options may stand beside them. */
		submit: async (
			{ afterStoring = 'nothing', options, ...parameters }: INodeParameters,
			run?: Parameters<Fixture['run']>[1],
		) =>
			await fixture.run(
				{
					resource: 'document',
					operation: 'submit',
					source: 'fields',
					knowledgebaseId: fixture.world.knowledgebaseId,
					...omit(parameters, OPTIONS),
					options: { afterStoring, ...pick(parameters, OPTIONS), ...(options as object) },
				},
				run,
			),
		/** An item with this text as its file. */
		file: async (text: string) => ({
			json: { source: 'file' },
			binary: {
				data: await fixture.engine.binary(Buffer.from(text), 'documents.json', 'application/json'),
			},
		}),
		/** Names of the documents on the server, in the order they were first stored. */
		storedNames: () => documents().flatMap((one) => (isNote(one) ? [] : [one.name as unknown])),
		/** How many documents each bulk request held. */
		batchSizes: () =>
			sent('E3')
				.map(({ body }) => reject(body as IDataObject[], isNote).length)
				.filter((size) => size > 0),
	};
}

interface Row {
	name?: unknown;
	disabled?: unknown;
	sourceType?: unknown;
}

/** Whether a row is no document of the user's: what the node remembers, or a folder. */
export const isNote = ({ name, disabled, sourceType }: Row): boolean =>
	sourceType === 'folder' ||
	(disabled === true && typeof name === 'string' && name.startsWith('n8n: '));

/** Gives the world's knowledgebase an embedding model, without which nothing is processed. */
export function embedsDocuments(fixture: Fixture): void {
	beforeEach(() => {
		const { sandbox, world } = fixture;
		const knowledgebase = sandbox.store.knowledgebases.get(world.knowledgebaseId);
		Object.assign(knowledgebase ?? {}, { copilotModelId: COPILOT_ID });
	});
}

/** What a document says so that its processing ends this way in the sandbox, after so long. */
export const ending = (process: string, processMs = 10, processMsg?: string): IDataObject => ({
	metadata: { sandbox: { process, processMs, ...(processMsg ? { processMsg } : {}) } },
});

/** So many items, each a document with a name and more columns if asked for. */
export function rows(
	count: number,
	more: (index: number) => IDataObject = () => ({}),
): INodeExecutionData[] {
	return Array.from({ length: count }, (_, index) => ({
		json: { name: `doc ${index}`, ...more(index) },
	}));
}

/** One field of the items of an output. */
export function column(items: INodeExecutionData[] | undefined, name: string): unknown[] {
	return (items ?? []).map(({ json }) => json[name]);
}

/** The lines shown in the output pane. */
export function hintsOf({ hints }: NodeResult): string[] {
	return hints.map(({ message }) => message);
}
