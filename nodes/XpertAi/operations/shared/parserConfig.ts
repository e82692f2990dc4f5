import type { INodeProperties } from 'n8n-workflow';

/**
 * The contract's parserConfig of a knowledgebase. Xpert stores it and does not use it (service behaviour, "How a file
 * is cut").
 */
export function parserConfigField(description: string): INodeProperties {
	return {
		displayName: 'Parser Config',
		name: 'parserConfig',
		type: 'collection',
		placeholder: 'Add field',
		default: {},
		description,
		options: [
			{
				displayName: 'Chunk Overlap',
				name: 'chunkOverlap',
				type: 'number',
				typeOptions: { numberPrecision: 0 },
				default: 200,
				description: 'How much of a chunk is repeated in the next one',
			},
			{
				displayName: 'Chunk Size',
				name: 'chunkSize',
				type: 'number',
				typeOptions: { numberPrecision: 0 },
				default: 1000,
				description: 'How large a chunk is at most',
			},
			{
				displayName: 'Delimiter',
				name: 'delimiter',
				type: 'string',
				default: '',
				placeholder: 'e.g. ; , .',
				description: 'Characters to cut at where possible, separated by spaces',
			},
		],
	};
}
