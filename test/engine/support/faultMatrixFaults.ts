import { mapValues } from 'lodash';

import type { FaultRule } from '../../../sandbox';
import { clock } from './clock';
import * as REACTIONS from './faultMatrixReactions';
import type { Reactions } from './faultMatrixReactions';
import ROWS from './faults.json';

/** The access token of every cell. */
export const MARK = 'token-9c41f7-stays-home';

/** Something that goes wrong with a request. */
export interface Fault {
	title: string;
	/** What the message says of it; `…` stands for any words. */
	words: string;
	/** What each kind of operation does about it. */
	reactions: Reactions;
	/** Status of the answer, or Node's code where none comes; as it stands in the error. */
	code: string;
	/** Whether the fault comes with a whole head, and so with a request ID. */
	isAnswered: boolean;
	/** Whether the answer is one of another server, which is tried three times at most. */
	isForeign: boolean;
	/** How the sandbox misbehaves, given what it would answer, before or after it has done the work. */
	rules?: (answer: string, when: 'before' | 'after') => FaultRule[];
	/** What keeps the request from being sent. */
	unreachable?: 'refused' | 'unknownHost';
	/** Whether the server never reads the request. */
	isUnread?: boolean;
}

type Row = Partial<Omit<Fault, 'reactions' | 'rules'>> &
	Pick<Fault, 'title' | 'words' | 'code'> & {
		reactions: keyof typeof REACTIONS;
		rules?: Array<Record<string, unknown>>;
	};

/** What stands in the rules for a text that is known later; the token stands where no message may take it from. */
const LATER: Record<string, (answer: string) => string> = {
	'{token}': () => MARK,
	'{answer}': (answer) => answer.padEnd(1_000),
	/** Another ID in the place of each. */
	'{ofAnother}': (answer) =>
		answer.replace(
			/("(?:run_)?id":|"canceledExecutionIds":\[)"[^"]*"/g,
			'$1"9d0b5d29-99cd-433a-8aed-09da49af7099"',
		),
	// A date has no parts of a second, so it is five to six seconds ahead.
	'{inSixSeconds}': () => new Date(clock.now() + 6_000).toUTCString(),
};

function filled(value: unknown, answer: string): unknown {
	if (typeof value === 'string') {
		return value.replace(/\{\w+\}/g, (name) => LATER[name]?.(answer) ?? name);
	}
	return value instanceof Object ? mapValues(value, (one) => filled(one, answer)) : value;
}

/** Every fault of the matrix. */
export const FAULTS = (ROWS as Row[]).map(
	({ reactions, rules, ...row }): Fault => ({
		isAnswered: true,
		isForeign: false,
		...row,
		reactions: REACTIONS[reactions] as Reactions,
		rules:
			rules &&
			((answer, when) =>
				rules.map((rule) => ({ when, ...(filled(rule, answer) as object) }) as FaultRule)),
	}),
);
