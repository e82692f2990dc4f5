import type { INodeParameters } from 'n8n-workflow';

import { type Operation, isCoded } from '../../../nodes/XpertAi/execution/operation';
import { endpoints, startSandbox } from '../../../sandbox';
import type { Endpoint, Sandbox, SandboxOptions } from '../../../sandbox';
import { operationOf } from '../../nodes/support/operations';
import { OPERATIONS } from '../../nodes/support/properties';
import { ALL_CASES, type OperationCase } from './cases';
import { ONE_RECORD } from './records';

/** Parameters of a good call, where it does not matter which records there are. */
export function goodParameters({ good }: OperationCase): INodeParameters {
	return good(ONE_RECORD);
}

export const titleOf = ({ calls }: OperationCase): string => calls;

export function calledBy({ calls }: OperationCase): Operation {
	const [resource = '', operation = ''] = calls.split(': ');
	return operationOf(resource, operation);
}

export function caseTitled(title: string): OperationCase {
	const found = ALL_CASES.find((one) => titleOf(one) === title);
	if (!found) throw new Error(`test/engine/support/cases.ts has no case for "${title}"`);
	return found;
}

/** A token of the sandbox that is the key of a user; its usual one is the key of a workspace. */
export const USER_KEY = 'key-of-a-user';

/** Starts a sandbox; what it does not have of its own is answered as the case of its operation says. */
export async function startCaseSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
	const tokens = [{ token: USER_KEY, kind: 'plain' as const }];
	return await startSandbox({ endpoints: OTHERS, tokens, processMs: 10, ...options });
}

/**
 * The route of a case for which the sandbox has none.
 *
 * @throws Error where its operation sends more than one request, which needs a route of its own
 */
function routeOf(one: OperationCase): Endpoint {
	const operation = calledBy(one);
	if (isCoded(operation))
		throw new Error(`${titleOf(one)} has an \`execute\`: write its route in sandbox/routes/`);
	const path = operation.path.replace(/\?.*/, '').replace(/\{(\w+)\}/g, ':$1');
	const handle = () => one.answer;
	return { id: one.endpoint, method: operation.method, path, status: 200, handle };
}

for (const { title } of OPERATIONS) caseTitled(title);

/** Made as soon as this is loaded, so that a missing route is reported once a file, not by each of its tests. */
const OTHERS = ALL_CASES.filter(({ endpoint }) => endpoints.every(({ id }) => id !== endpoint)).map(
	routeOf,
);
