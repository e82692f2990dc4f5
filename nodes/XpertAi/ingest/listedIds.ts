import { answerMustBe } from '../transport/answer';
import type { AnswerCheck } from '../transport/answer';
import { idOf } from './answeredRecords';
import { askStatuses } from './processingStatus';
import type { ProcessingRoutes, Statuses } from './processingStatus';

/**
 * Makes the check of an answer that lists documents: one that leaves out what is certainly there is none,
 * as a proxy may answer with an empty list, or for another server.
 *
 * @param ids the documents that are there
 */
export function listOf(ids: string[]): AnswerCheck {
	return answerMustBe((answer) => {
		if (!Array.isArray(answer)) return false;
		const listed = new Set(answer.map(idOf));
		return ids.every((id) => listed.has(id.toLowerCase()));
	}, 'it does not list the documents that it should');
}

/**
 * Asks where documents stand, so that those the answer leaves out are certainly not on the server.
 *
 * @param witness a document that is certainly there, which is asked for in each request as well
 */
export async function askWhere(
	ids: string[],
	witness: string | undefined,
	routes: ProcessingRoutes,
): Promise<Statuses> {
	const there = witness === undefined ? [] : [witness];
	return await askStatuses(ids, {
		...routes,
		statusPath: (part) => routes.statusPath([...part, ...there]),
		send: async (request) => await routes.send({ ...request, checkAnswer: listOf(there) }),
	});
}
