import { counted } from '../../../ingest/summary';
import { failureMessage } from '../../../transport/failure';
import { sentences } from './sentences';
import type { Submission } from './submission';
import type { Target } from './target';

/**
 * Sees the processing that was started while documents were stored to its end, of all knowledgebases side by
 * side: they share one wait. Documents stay stored whatever comes of it.
 */
export async function followProcessing({ report }: Submission, targets: Target[]): Promise<void> {
	let unfinished = 0;
	const follow = async ({ processing }: Target) => {
		const end = await processing?.end();
		if (end?.hasNoRoute) report.remark(DECIDES_BY_ITSELF);
		else if (end?.failure) {
			report.processingBroken = true;
			const what = end.allStarted ? 'followed' : 'started';
			report.remark(
				sentences(
					`The documents are stored, but their processing could not be ${what}`,
					failureMessage(end.failure),
				),
			);
		}
		unfinished += end?.unfinished ?? 0;
	};
	await Promise.all(targets.map(follow));
	if (unfinished > 0) {
		const documents = counted(unfinished, 'document was', 'documents were');
		const next = targets.some(({ memory }) => memory) ? '; the next run asks for the end' : '';
		report.remark(`${documents} still being processed when the wait ended${next}.`);
	}
}

const DECIDES_BY_ITSELF =
	'This server decides by itself when documents are found: it takes no request to process them.';
