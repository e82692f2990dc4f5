import { IDS_PER_ADDRESS } from '../transport/api';
import type { Documents, ReadyDocument } from './batches';
import { changedOnly } from './changedOnly';
import type { Unchanged } from './changedOnly';
import type { Fingerprints } from './memory';
import { processingWord } from './processingStatus';
import type { ProcessingStatus } from './processingStatus';

/** What the next run would do: `back` is on the server where nobody finds it, as after it was disabled, and comes again. */
export type Plan = 'new' | 'changed' | 'back' | 'unchanged' | 'gone';

/** What a plan needs from outside. */
export type Planning<Origin> = Omit<Unchanged<Origin>, 'onUnchanged'> & {
	/** Told each document once, unless it is read no further. */
	onPlanned: (document: ReadyDocument<Origin>, plan: Plan) => void;
};

/** A document, and what was known of it before it was compared. */
interface Noted<Origin> {
	document: ReadyDocument<Origin>;
	isKnown: boolean;
	isSame: boolean;
}

/** Tells what the next run would do with each document, as it decides itself (`changedOnly`); what is known is forgotten by that. */
export async function planDocuments<Origin>(
	given: Documents<Origin>,
	{ onPlanned, ...comparing }: Planning<Origin>,
): Promise<void> {
	const onUnchanged = ({ origin }: ReadyDocument<Noted<Origin>>) =>
		onPlanned(origin.document, 'unchanged');
	let toSend: Array<Noted<Origin>> = [];
	const tell = async () => {
		const ids = toSend.flatMap(({ document }) => document.id?.toLowerCase() ?? []);
		const { statuses } = await comparing.statusesOf(ids);
		for (const noted of toSend) {
			const { document } = noted;
			onPlanned(document, planOf(statuses.get(document.id?.toLowerCase() ?? ''), noted));
		}
		toSend = [];
	};
	const noted = noting(given, comparing.memory);
	for await (const { origin } of changedOnly(noted, { ...comparing, onUnchanged })) {
		toSend.push(origin);
		if (toSend.length >= IDS_PER_ADDRESS) await tell();
	}
	if (toSend.length > 0) await tell();
}

async function* noting<Origin>(
	given: Documents<Origin>,
	known: Fingerprints,
): AsyncGenerator<ReadyDocument<Noted<Origin>>> {
	for await (const document of given) {
		const { id = '', content = '' } = document;
		const before = { isKnown: known.knows(id), isSame: known.has(id, content) };
		yield { ...document, origin: { document, ...before } };
	}
}

/** What sending a document does, by what the server has of it. */
function planOf(status: ProcessingStatus | undefined, { isKnown, isSame }: Noted<unknown>): Plan {
	if (!status) return 'new';
	const word = processingWord(status);
	if (word === 'finish' || word === 'running') return 'changed';
	return !isKnown || isSame ? 'back' : 'changed';
}
