import { difference, isFunction, isRegExp, isString } from 'lodash';

import { isCoded } from '../../../nodes/XpertAi/execution/operation';
import { anonymous } from '../../../sandbox';
import { OPERATIONS, propertiesOf } from '../../nodes/support/properties';
import type { Case } from './cases';
import { ONE_RECORD } from './records';

/** What each part of a case is; those after `answer` may be left out. */
const PARTS: Record<keyof Case, [words: string, isRight: (value: unknown) => boolean]> = {
	calls: ['a resource and an operation, as "thread: get"', isString],
	good: ['a function that gives parameters', isFunction],
	sends: ['method and path, as "GET /threads/{threadId}"', (value) => SENT.test(String(value))],
	bad: ['a function that gives parameters', isFunction],
	refusal: ['a pattern of the message', isRegExp],
	answer: ['what a server answers', () => true],
	body: ['the body', () => true],
	looked: ['what a server answers', () => true],
};
const SENT = /^[A-Z]+ \/\S*$/;
const NAMES = Object.keys(PARTS) as Array<keyof Case>;
const REQUIRED = NAMES.slice(0, NAMES.indexOf('answer') + 1);

/** @throws Error that says in one sentence what is wrong with a case */
export function checkCase(one: Case): void {
	const wrong = wrongIn(one);
	if (wrong) throw new Error(`test/engine/support/cases.ts, "${one.calls}": ${wrong}`);
}

function wrongIn(one: Case): string | undefined {
	const [missing] = difference(REQUIRED, Object.keys(one));
	if (missing) return `\`${missing}\` is missing, ${PARTS[missing as keyof Case][0]}`;
	const [unknown] = difference(Object.keys(one), NAMES);
	if (unknown) return `\`${unknown}\` is none of ${NAMES.join(', ')}`;
	const broken = NAMES.find((name) => !PARTS[name][1](one[name]));
	if (broken) return `\`${broken}\` is not ${PARTS[broken][0]}`;

	const called = OPERATIONS.find(({ title }) => title === one.calls);
	if (!called) return 'nodes/XpertAi/catalogue.ts has no such operation';
	const { resource, operation } = called;
	const named = [...one.sends.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
	const [record] = difference(named, Object.keys(ONE_RECORD));
	if (record) return `test/engine/support/records.ts has no {${record}}, which \`sends\` names`;
	const sent = isCoded(operation) ? one.sends : `${operation.method} ${operation.path}`;
	if (anonymous(sent) !== anonymous(one.sends))
		return `the operation sends ${sent}, and \`sends\` says ${one.sends}`;
	const fields = propertiesOf(resource, operation).map(({ name }) => name);
	for (const name of ['good', 'bad'] as const) {
		const [field] = difference(Object.keys(one[name](ONE_RECORD)), fields);
		if (field) return `\`${name}\` sets ${field}, which is no field of the operation`;
	}
	return undefined;
}
