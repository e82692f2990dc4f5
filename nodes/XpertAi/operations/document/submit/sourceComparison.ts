import { compact, map, sumBy } from 'lodash';

import { outermostMode } from '../../../execution/n8nExecution';
import { HASH_KIND_MARKS, type SourceMemory } from '../../../ingest/memory';
import { compareDocuments, planDocuments } from '../../../ingest/compareDocuments';
import type { KnowledgebaseRoutes } from '../../../transport/knowledgebaseRoutes';
import { type FetchedStatuses, fetchStatuses, processingState } from '../../../ingest/statuses';
import { derivedId } from '../../../payloads/ids';
import type { SubmitDocument } from './makeReadyDocument';
import { type FactRecorder, SHARED_KEYS_HINT } from './factRecorder';
import type { SourceReader } from './sourceReader';
import type { Submission } from './submission';

/** Maximum number of documents, and about how many bytes of JSON, to look up on the server for a new source. */
const MAX_FIRST_DOCUMENTS = 100;
const MAX_FIRST_DOCUMENTS_BYTES = 8 * 1024 * 1024;

const STORED_TWICE_HINT =
	'also found without a Source Name. Later, Document: Disable with Source Name empty takes those out.';

const KEEP_TWICE_STORED_HINT =
	'Unless another node stores them: then leave them, and give that node a Source Name as well.';

const STORED_BEFORE_HINT =
	'stored before this source was remembered. If some have left it, Document: Disable takes them out.';

const MAY_BE_NEWER_REASON = 'Not sent: this is a retry, and other content is stored, perhaps newer';

/** What `SourceComparison` needs of a run over one source. */
interface ComparisonContext {
	submission: Submission;
	knowledgebaseId: string;
	sourceName: string;
	memory: SourceMemory;
	statusRoutes: Pick<KnowledgebaseRoutes, 'send' | 'statusPathOf'>;
	reader: SourceReader;
	recorder: FactRecorder;
}

/** Takes the documents to look up for a new source. They are held in memory until the server has answered. */
async function firstDocuments(
	documents: AsyncGenerator<SubmitDocument[]>,
): Promise<SubmitDocument[]> {
	const held: SubmitDocument[] = [];
	let bytes = 0;
	while (held.length < MAX_FIRST_DOCUMENTS && bytes < MAX_FIRST_DOCUMENTS_BYTES) {
		const { done, value } = await documents.next();
		if (done) break;
		held.push(...value);
		bytes += sumBy(value, 'sizeInBytes');
	}
	return held;
}

/** Compares the documents of a source with what earlier runs stored. */
export class SourceComparison {
	/** Number of documents that have a version, but were stored without it. */
	unversioned = 0;
	/** Number of documents that a retry skipped, because their stored content may be newer. */
	older = 0;

	constructor(private readonly compared: ComparisonContext) {}

	/** Yields the documents to send, and reports the others. */
	async *documentsToSend(): AsyncGenerator<SubmitDocument[]> {
		const { recorder, submission } = this.compared;
		const isRetry = outermostMode(submission.first.context) === 'retry';
		const all = compareDocuments(this.hashedDocuments(), { ...this.options, isRetry });
		for await (const group of all) {
			const toSend: SubmitDocument[] = [];
			for (const { document, standing, status } of group)
				if (standing === 'unchanged') recorder.handleFact({ document, outcome: standing, status });
				else if (standing === 'older') {
					this.older += 1;
					recorder.handleFact({ document, outcome: 'notSent', reason: MAY_BE_NEWER_REASON });
				} else toSend.push(document);
			yield toSend;
		}
	}

	/** Tells what the next run would do with each document. */
	plans() {
		return planDocuments(this.hashedDocuments(), this.options);
	}

	/** Makes the options of `compareDocuments` from the memory and the settings. */
	private get options() {
		const { memory, submission } = this.compared;
		const { startsProcessing, remembers, resendAll } = submission.settings;
		return {
			fingerprints: memory.known,
			mustBeProcessed: startsProcessing ?? !memory.lastRunOnlyStored,
			lastRunOnlyStored: memory.lastRunOnlyStored,
			sendsUnchanged: resendAll || !remembers,
			statusesOf: async (ids: string[]) => await this.statusesOf(ids),
		};
	}

	/** Fetches the processing statuses of documents. Records the first failure in `failures`. */
	private async statusesOf(ids: string[]): Promise<FetchedStatuses> {
		const { memory, statusRoutes } = this.compared;
		const asked = await fetchStatuses(ids, statusRoutes, memory.requiredId);
		memory.failures.statusesFailure ??= asked.failure;
		return asked;
	}

	/**
	 * Yields the documents of this source with their hashes. Before the documents of a new source, looks for documents
	 * that the server already has.
	 */
	private async *hashedDocuments(): AsyncGenerator<SubmitDocument[]> {
		const { memory, reader } = this.compared;
		const documents = reader.readQueuedDocuments({ isHashed: true });
		const held = memory.isNew ? await firstDocuments(documents) : [];
		if (held.length > 0) await this.recordStoredBefore(held.slice(0, MAX_FIRST_DOCUMENTS));
		this.addStoredBeforeHints();
		// The first documents are not counted in `unversioned`: the memory is new, so it knows none of them.
		yield held;
		for await (const group of documents) {
			this.unversioned += group.filter((document) => this.lacksStoredVersion(document)).length;
			yield group;
		}
	}

	/** Whether a document has a version, but was stored without it. */
	private lacksStoredVersion({ comparisonHash = '', id }: SubmitDocument): boolean {
		const { known } = this.compared.memory;
		return (
			comparisonHash.startsWith(HASH_KIND_MARKS.version) &&
			known.hasMark(id, HASH_KIND_MARKS.content)
		);
	}

	/**
	 * Looks for documents of a new source on the server. Records two separate numbers: how many are stored under their
	 * IDs, and how many have a processing status other than `none` under the IDs that they have without a Source Name.
	 */
	private async recordStoredBefore(documents: SubmitDocument[]): Promise<void> {
		const { knowledgebaseId, memory, sourceName } = this.compared;
		const ids = documents.flatMap(({ id, lacksStableId }) => (lacksStableId ? [] : id));
		const keys = sourceName === '' ? [] : compact(map(documents, 'key'));
		const unnamedIds = keys.map((key) => derivedId(knowledgebaseId, key));
		const { statuses } = await this.statusesOf([...ids, ...unnamedIds]);
		const stored = ids.filter((id) => statuses.has(id.toLowerCase())).length;
		// Documents in the state `none` are not counted, because assistants do not find them.
		const twice = unnamedIds.filter((id) => processingState(statuses.get(id)) !== 'none').length;
		if (stored + twice > 0) memory.recordUnsaid({ stored, twice });
	}

	/** Adds hints about what `recordStoredBefore` found, now or in an earlier run, until a run has told the user. */
	private addStoredBeforeHints(): void {
		const { memory, sourceName, submission } = this.compared;
		const { stored = 0, twice = 0 } = memory.unsaid ?? {};
		submission.addCountedHint(stored, STORED_BEFORE_HINT);
		if (stored > 0 && sourceName === '') submission.addHint(SHARED_KEYS_HINT);
		// If a linked node has another source, the documents without a Source Name may be the only copies. So do not advise
		// the user to disable them.
		if (twice === 0 || submission.settings.linkedNodesHint) return;
		submission.addCountedHint(twice, STORED_TWICE_HINT);
		submission.addHint(KEEP_TWICE_STORED_HINT);
	}
}
