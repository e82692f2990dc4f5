import { z } from 'zod';

import { declare } from '../../execution/operation';
import { assistantFilterBody, IDENTITY_OPTIONS_BY_FILTER } from './search';

export const count = declare({
	value: 'count',
	name: 'Count',
	action: 'Count assistants',
	endpoint: 'E9',
	description: 'Count the assistants you may use',
	route: 'POST /assistants/count',
	body: assistantFilterBody,
	selectingFieldOptions: IDENTITY_OPTIONS_BY_FILTER,
	repeatable: true,
	answerSchema: z.number({ message: 'it is not a number' }),
	toOutput: (answer) => [{ count: answer as number }],
});
