import { assistantFilter } from '../../payloads/assistant';
import { answerMustBe } from '../../transport/answer';
import { declare } from '../../execution/operation';
import { FILTER_IDS, METADATA_SOURCES, assistantFilters, withMetadata } from './filters';

export const count = declare({
	value: 'count',
	name: 'Count',
	action: 'Count assistants',
	description: 'Count the assistants you may use',
	endpoint: 'E9',
	method: 'POST',
	path: '/assistants/count',
	body: {
		fields: [assistantFilters],
		schema: assistantFilter,
		compose: withMetadata,
		sources: METADATA_SOURCES,
		ids: FILTER_IDS,
		notShown: true,
		example: '{}',
	},
	repeatable: true,
	checkAnswer: answerMustBe((answer) => typeof answer === 'number', 'it is not a number'),
	shape: (answer) => [{ count: answer as number }],
});
