import { IDS_PER_ADDRESS } from '../transport/api';
import type { Documents, ReadyDocument } from './batches';
import { changedOnly } from './changedOnly';
import type { Unchanged } from './changedOnly';
import type { Fingerprints } from './memory';
import { processingWord } from './processing';
import type { ProcessingStatus } from './processing';

/** What the next run would do: `back` is on the server where nobody finds it, as after it was disabled, and comes again. */
export type Plan = 'new' | 'changed' | 'back' | 'unchanged' | 'gone';

/** What a plan needs from outside. */
export type Planning<Origin> = Omit<Unchanged<Origin>, 'onUnchanged'> & {
	/** Told each document once, unless it is read no further. */
	onPlanned: (document: ReadyDocument<Origin>, plan: Plan) => void;
};

/** What was known of a document before it was compared. */
interface Before {
	isKnown: boolean;
	isSame: boolean;
}

/** Tells what the next run would do with each document, as it decides itself (`changedOnly`); what is known is forgotten by that. */
export async function planDocuments<Origin>(
	given: Documents<Origin>,
	{ onPlanned, ...comparing }: Planning<Origin>,
): Promise<void> {
	const before = new WeakMap<ReadyDocument<Origin>, Before>();
	const onUnchanged = (document: ReadyDocument<Origin>) => onPlanned(document, 'unchanged');
	let toSend: Array<ReadyDocument<Origin>> = [];
	const tell = async () => {
		const ids = toSend.flatMap(({ id }) => id?.toLowerCase() ?? []);
		const { statuses } = await comparing.statusesOf(ids);
		for (const document of toSend) {
			const status = statuses.get(document.id?.toLowerCase() ?? '');
			onPlanned(document, planOf(status, before.get(document)));
		}
		toSend = [];
	};
	const noted = noting(given, comparing.memory, before);
	for await (const document of changedOnly(noted, { ...comparing, onUnchanged })) {
		toSend.push(document);
		if (toSend.length >= IDS_PER_ADDRESS) await tell();
	}
	if (toSend.length > 0) await tell();
}

async function* noting<Origin>(
	given: Documents<Origin>,
	known: Fingerprints,
	before: WeakMap<ReadyDocument<Origin>, Before>,
): AsyncGenerator<ReadyDocument<Origin>> {
	for await (const document of given) {
		const { id = '', content = '' } = document;
		before.set(document, { isKnown: known.knows(id), isSame: known.has(id, content) });
		yield document;
	}
}

/** What sending a document does, by what the server has of it. */
function planOf(status: ProcessingStatus | undefined, before: Before | undefined): Plan {
	if (!status) return 'new';
	const word = processingWord(status);
	if (word === 'finish' || word === 'running') return 'changed';
	return !before?.isKnown || before.isSame ? 'back' : 'changed';
}
