import { assistantFilter } from '../../payloads/assistant';
import { answerThat, isJsonObject } from '../../transport/answer';
import type { DeclaredOperation } from '../operation';
import { FILTER_IDS, METADATA_LABELS, assistantFilters, withMetadata } from './filters';

export const count: DeclaredOperation = {
	value: 'count',
	name: 'Count',
	action: 'Count assistants',
	description: 'Count the assistants the token may use',
	endpoint: 'E9',
	method: 'POST',
	path: '/assistants/count',
	body: {
		fields: [assistantFilters],
		schema: assistantFilter,
		compose: withMetadata,
		labels: METADATA_LABELS,
		ids: FILTER_IDS,
		notShown: true,
		example: '{}',
	},
	repeatable: true,
	flawIn: answerThat(
		(answer) => typeof answer === 'number' || isJsonObject(answer),
		'it is not a number',
	),
	shape: (answer) => [isJsonObject(answer) ? answer : { count: answer as number }],
};
