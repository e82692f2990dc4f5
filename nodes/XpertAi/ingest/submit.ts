import type { Failure } from '../transport/failure';
import type { Outcome } from '../transport/request';
import { batchBody, batches } from './batches';
import type { BatchLimits, Serialized } from './batches';

/** What became of one document. */
export type DocumentOutcome<Origin> =
	| { stored: true; origin: Origin; batch: number; status: number; record: unknown }
	| { stored: false; origin: Origin; batch: number; failure: Failure };

/** What submission needs from outside: it knows neither n8n nor HTTP. */
export interface Submission<Origin> {
	records: Iterable<Serialized<Origin>>;
	limits: BatchLimits;
	/** Sends the JSON array of a batch (E3). */
	sendBatch: (body: string) => Promise<Outcome>;
	/** Asked after a batch failed: whether the next ones are sent all the same. */
	goOn: () => boolean;
}

/**
 * Submits documents in batches, one after another.
 *
 * @returns the outcome of each document that was attempted, in order
 */
export async function submitDocuments<Origin>({
	records,
	limits,
	sendBatch,
	goOn,
}: Submission<Origin>): Promise<Array<DocumentOutcome<Origin>>> {
	const outcomes: Array<DocumentOutcome<Origin>> = [];
	let number = 0;
	for (const batch of batches(records, limits)) {
		number += 1;
		const outcome = await sendBatch(batchBody(batch));
		for (const document of documentOutcomes(batch, number, outcome)) outcomes.push(document);
		if (!outcome.ok && !goOn()) break;
	}
	return outcomes;
}

/** The server answers with the stored records in the order sent (E3, service behaviour). */
function documentOutcomes<Origin>(
	batch: Array<Serialized<Origin>>,
	number: number,
	outcome: Outcome,
): Array<DocumentOutcome<Origin>> {
	return batch.map(({ origin }, index) => {
		if (!outcome.ok) return { stored: false, origin, batch: number, failure: outcome.failure };
		const { answer, status } = outcome;
		const matches = Array.isArray(answer) && answer.length === batch.length;
		return {
			stored: true,
			origin,
			batch: number,
			status,
			record: matches ? answer[index] : undefined,
		};
	});
}
