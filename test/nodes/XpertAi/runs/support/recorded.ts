import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { threadState } from '../../../../../nodes/XpertAi/payloads/run';
import type { ThreadState } from '../../../../../nodes/XpertAi/payloads/run';

interface Exchange {
	label: string;
	response: { body?: unknown };
}

const FOLDER = join(__dirname, '..', '..', '..', '..', 'recordings');

/** The body of an answer in a recorded sequence; the first with this label. */
export function recordedBody(sequence: 'runs' | 'interrupts', label: string): unknown {
	const text = readFileSync(join(FOLDER, `${sequence}.json`), 'utf8');
	const { exchanges } = JSON.parse(text) as { exchanges: Exchange[] };
	const found = exchanges.find((one) => one.label === label);
	if (!found) throw new Error(`"${label}" is not recorded in ${sequence}`);
	return found.response.body;
}

/** A thread as E15 answered it in a recorded sequence. */
export const recordedThread = (sequence: 'runs' | 'interrupts', label: string): ThreadState =>
	threadState.parse(recordedBody(sequence, label));
