import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ZodTypeAny } from 'zod';

import {
	assistantFilter,
	chatSession,
	fileContextParts,
	fileParts,
	storeNamespace,
	storeSearch,
} from '../../../../nodes/XpertAi/payloads/bodies';
import { conversation, conversationSearch } from '../../../../nodes/XpertAi/payloads/conversation';

/** What a real server takes (service behaviour) where the contract says "not shown", and which path it refuses. */
const MEASURED = JSON.parse(readFileSync(join(__dirname, 'notShown.json'), 'utf8')) as Record<
	string,
	{ good: unknown[]; bad: Array<[unknown, path: string]> }
>;

const SCHEMAS: Array<[string, ZodTypeAny]> = [
	['E5', conversationSearch],
	['E6', chatSession],
	['E7 and E9', assistantFilter],
	['E8', storeSearch],
	['E11', storeNamespace],
	['E12', fileContextParts],
	['E13', conversation],
	['E16', fileParts],
];

describe.each(SCHEMAS)('the body of %s', (name, schema) => {
	const { good = [], bad = [] } = MEASURED[name] ?? {};

	it.each(good.map((body) => [body]))('takes %j unchanged', (body) => {
		expect(schema.parse(body)).toEqual(body);
	});

	it.each(bad)('refuses %j at %s', (body, path) => {
		const { issues = [] } = schema.safeParse(body).error ?? {};
		expect(issues.map((issue) => issue.path.join('.'))).toEqual([path]);
	});
});
