import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import { asNodeError, errorItem, mayContinue } from '../../execution/items';
import type { ItemError } from '../../execution/items';
import { readOption } from '../../execution/readOptions';
import { inThreadOrder } from '../../runs/threadOrder';
import { systemClock } from '../../transport/clock';
import type { CodedOperation, OperationContext } from '../operation';
import { runProperties } from './run/fields';
import { prepareRun, runItem } from './run/runItem';
import type { PreparedRun } from './run/runItem';
import { runOptions } from './run/options';

export const run: CodedOperation = {
	value: 'run',
	name: 'Run and Wait',
	action: 'Ask an assistant',
	description:
		'Ask an assistant and wait for its answer, also for many minutes. A wait that breaks is taken up again.',
	endpoint: 'E4',
	properties: runProperties,
	execute,
};

type Result = { item: INodeExecutionData } | { error: ItemError };

/** Runs all items, those of the same thread one after another, and keeps their order in the output. */
async function execute(operation: OperationContext): Promise<INodeExecutionData[]> {
	const { context } = operation;
	const indexes = context.getInputData().map((_, itemIndex) => itemIndex);
	if (indexes.length === 0) return [];
	const concurrency = readOption(
		{ context, itemIndex: 0 },
		runOptions,
		'concurrency',
		z.number().int().min(1).max(50),
	);

	const prepared = indexes.map((itemIndex) => prepare(operation, itemIndex));
	let stopError = prepared.find(
		(entry): entry is Failed => 'error' in entry && !mayContinue(context),
	)?.error;
	const work = prepared.map((entry, itemIndex) => ({
		threadId: 'error' in entry ? undefined : entry.threadId,
		run: async (): Promise<Result> => {
			const result = 'error' in entry ? entry : await attempt(operation, entry, itemIndex);
			if (!('error' in result)) return result;
			if (!mayContinue(context)) stopError ??= result.error;
			return { item: errorItem(result.error, itemIndex, factsOf(result.error)) };
		},
	}));
	const results = await inThreadOrder(work, concurrency, () => stopError === undefined);
	if (stopError) throw stopError;
	return results.flatMap((result) => (result && 'item' in result ? [result.item] : []));
}

type Failed = { error: ItemError };

/** Every item is read before anything is sent, so that with Stop a bad one starts no run. */
function prepare({ context }: OperationContext, itemIndex: number): PreparedRun | Failed {
	try {
		return prepareRun({ context, itemIndex });
	} catch (caught) {
		return { error: asNodeError(context, caught, itemIndex) };
	}
}

async function attempt(
	operation: OperationContext,
	run: PreparedRun,
	itemIndex: number,
): Promise<Result> {
	try {
		const json = await runItem(operation, run, systemClock);
		return { item: { json, pairedItem: { item: itemIndex } } };
	} catch (caught) {
		return { error: asNodeError(operation.context, caught, itemIndex) };
	}
}

/** The thread of a failed run, so that the user can look it up. */
function factsOf(error: ItemError): IDataObject {
	const { threadId, conversationId, verdict } = (error.context.data ?? {}) as IDataObject;
	return threadId === undefined ? {} : { threadId, conversationId, status: verdict };
}
