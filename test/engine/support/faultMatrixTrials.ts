import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';

import { builtModule } from './builtModule';
import type { Engine, NodeResult } from './engine';
import { FAULTS } from './faultMatrixFaults';
import type { Fault } from './faultMatrixFaults';
import { matrixOperations } from './faultMatrixOperations';
import type { Kind, MatrixOperation } from './faultMatrixOperations';
import type { Cell, FaultServer } from './faultMatrixServer';
import { byId } from './locators';

/** How long an answer is waited for where none comes. */
const SOON_SECONDS = 2.4;

/** The access token of every trial, to be looked for in all that comes out. */
export const MARK = 'token-9c41f7-stays-home';

/** How a cell ended. */
export interface Trial {
	cell: Cell;
	onError?: 'continueErrorOutput';
	result: NodeResult;
}

type Start = () => Promise<Trial>;

/** Meets every operation with every fault, with On Error set to stop and to the error output. */
export async function runTrials(engine: Engine, server: FaultServer): Promise<Trial[]> {
	const binary = await engine.binary(Buffer.from('hello world'), 'hello.txt', 'text/plain');
	const items = [{ json: {}, binary: { data: binary } }];
	const operations = matrixOperations();
	const trials = (hurried: boolean): Start[] =>
		[true, false].flatMap((lasting) =>
			FAULTS.flatMap((fault) =>
				operations
					.filter((operation) => isHurried({ operation, fault, lasting }) === hurried)
					.flatMap((operation) =>
						([undefined, 'continueErrorOutput'] as const).map(
							(onError) => () =>
								attempt(engine, server, { operation, fault, lasting }, items, onError),
						),
					),
			),
		);
	const done = await inPool(trials(false), 60);
	// A busy machine must not let a request time out before it has arrived.
	const fields = builtModule<Record<'DEFAULT_TIMEOUT_SECONDS', number>>(
		'nodes/XpertAi/execution/fields.js',
	);
	// What only reads has no option for it.
	const shortened = jest.replaceProperty(fields, 'DEFAULT_TIMEOUT_SECONDS', SOON_SECONDS);
	const hurried = await inPool(trials(true), 18);
	shortened.restore();
	return [...done, ...hurried];
}

/** Whether requests have a second or so: where timeouts are tried, and for a last look at the deadline. */
function isHurried({
	operation,
	fault,
	lasting,
}: Pick<Cell, 'operation' | 'fault' | 'lasting'>): boolean {
	return isTimeout(fault) || (operation.kind === 'follow' && lasting);
}

async function inPool(starts: Start[], size: number): Promise<Trial[]> {
	const queue = [...starts];
	const done: Trial[] = [];
	const work = async () => {
		for (let next = queue.shift(); next; next = queue.shift()) done.push(await next());
	};
	await Promise.all(Array.from({ length: size }, work));
	return done;
}

async function attempt(
	engine: Engine,
	server: FaultServer,
	given: Pick<Cell, 'operation' | 'fault' | 'lasting'>,
	items: INodeExecutionData[],
	onError?: 'continueErrorOutput',
): Promise<Trial> {
	const { baseUrl, cell } = server.add(given);
	const credential = { baseUrl, accessToken: MARK };
	const parameters = onThread(given.operation, inTime(given));
	const result = await engine.run({ parameters, credential, items, onError });
	return { cell, onError, result };
}

const TAKING_TURNS: Kind[] = ['run', 'runFile', 'start'];

/** A thread of its own for each run: those of one thread wait for each other. */
function onThread({ kind }: MatrixOperation, parameters: INodeParameters): INodeParameters {
	return TAKING_TURNS.includes(kind) ? { ...parameters, threadId: byId(randomUUID()) } : parameters;
}

/** Whether the fault is that no answer comes. */
export const isTimeout = ({ title }: Fault) => title.includes('Timeout');

/** A timeout comes soon where it is what is tested; what follows a run ends at once where the fault has passed. */
function inTime({
	operation: { parameters, kind },
	fault,
	lasting,
}: Pick<Cell, 'operation' | 'fault' | 'lasting'>): INodeParameters {
	const soon = isTimeout(fault);
	const options =
		kind === 'follow'
			? { deadlineMinutes: lasting || soon ? 0.2 : 15 }
			: TAKING_TURNS.includes(kind)
				? { deadlineMinutes: soon ? 0.03 : 15 }
				: { timeout: soon ? SOON_SECONDS : 60 };
	return { ...parameters, options: { ...(parameters.options as INodeParameters), ...options } };
}
