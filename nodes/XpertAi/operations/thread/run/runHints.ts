import { compact, filter, isEmpty, map, uniq } from 'lodash';
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isTool } from '../../../execution/n8nExecution';
import { filterHint, type FilterReport } from './filterReport';

/** Returns hints about runs, from the output of their items. */
export function runHints(context: IExecuteFunctions, output: INodeExecutionData[]): string[] {
	const runs = map(output, 'json');
	// An agent reads the states in the output of its tool.
	return [...(isTool(context) ? [] : stateHints(context, runs)), ...resultHints(runs)];
}

/** Hints about runs that wait for a person, messages that ended such a wait, and empty answers. */
function stateHints(context: IExecuteFunctions, runs: IDataObject[]): string[] {
	const waiting = filter(runs, { status: 'interrupted' }).length;
	const ended = filter(runs, 'discarded').length;
	const wordless = runs.filter(hasEmptyAnswer).length;
	return compact([
		waiting > 0 &&
			`${waiting === 1 ? '1 run waits' : `${waiting} runs wait`} for a person. Branch on "status" (interrupted), show the person {{ $json.interrupt.toJsonString() }}, and go on with Thread: Decide.`,
		waiting > 0 &&
			`Behind a form, $json is the answer of the person, so "Thread" of Decide takes {{ $(${JSON.stringify(context.getNode().name)}).item.json.threadId }}.`,
		ended > 0 &&
			`Messages that ended a wait for a person: ${ended}. What was asked is in "discarded".`,
		wordless > 0 && `Answers without words: ${wordless}.`,
	]);
}

/** Hints about lost answers, and about searches, of successful runs. */
function resultHints(runs: IDataObject[]): string[] {
	const lost = filter(runs, { remembered: false }).length;
	const lostHint = `Answers overwritten on the thread by another run at the same time: ${lost}.`;
	const filterHints = runs.map((run) => filterHint(run.filter as FilterReport | undefined));
	return uniq(compact([lost > 0 && lostHint, ...filterHints]));
}

/**
 * Whether a run completed, but its answer has no words and no other parts such as pictures. False if a decision rejected
 * the waiting tool calls.
 */
const hasEmptyAnswer = ({ output, content = output, parts, rejected, status }: IDataObject) =>
	content === '' && status === 'completed' && isEmpty(parts) && !rejected;
