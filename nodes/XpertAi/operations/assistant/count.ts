import { z } from 'zod';

import { declare } from '../../execution/operation';
import { filterBody, IDENTIFYING } from './search';

export const count = declare({
	value: 'count',
	name: 'Count',
	action: 'Count assistants',
	endpoint: 'E9',
	description: 'Count the assistants you may use',
	route: 'POST /assistants/count',
	body: filterBody,
	identifying: IDENTIFYING,
	repeatable: true,
	answer: z.number({ message: 'it is not a number' }),
	shape: (answer) => [{ count: answer as number }],
});
