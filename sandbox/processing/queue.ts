import { isEqual } from 'lodash';
import { timestamp } from '../clock';
import type { Context } from '../context';
import type { StoredDocument } from '../entities';
import { textsOfFile } from './loader';
import { cutOf, split } from './splitter';
import { askedOf, type Processing, type ProcessState } from './stages';

/** So many requests are worked through side by side; the documents of one request one after another. */
const REQUESTS_AT_ONCE = 5;

const FAILED: Record<'error' | 'cancel', string> = {
	error: 'The document could not be processed',
	cancel: 'Cancelled',
};

interface Result {
	state: ProcessState;
	chunks?: string[];
	/** Nothing was embedded: the file cannot be read, or has the chunks it had. */
	isQuick?: boolean;
}

/** The part of the time that it takes where nothing is embedded. */
const QUICK = 0.1;

/** A document whose turn comes, and the processing that was asked for: another one may be asked for meanwhile. */
interface Job {
	document: StoredDocument;
	processing: Processing;
}

/** The documents waiting to be processed, by the request that sent them. */
export class ProcessingQueue {
	private readonly waiting: Job[][] = [];
	private working = 0;
	private jobs = 0;

	constructor(private readonly context: () => Context) {}

	/** Queues the documents of one request; they are `running` from now on, whenever their turn comes. */
	add(documents: StoredDocument[]): void {
		const { store, processMs, clock } = this.context();
		if (documents.length === 0) return;
		this.jobs += 1;
		const jobs = documents.map((document) => {
			const processing: Processing = { ms: askedOf(document).processMs ?? processMs };
			store.processing.set(document.id, processing);
			Object.assign(document, {
				status: 'running',
				progress: 0,
				processMsg: '',
				jobId: String(this.jobs),
				version: document.version + 1,
				updatedAt: timestamp(clock),
			});
			return { document, processing };
		});
		this.waiting.push(jobs);
		this.next();
	}

	clear(): void {
		this.waiting.length = 0;
	}

	private next(): void {
		if (this.working >= REQUESTS_AT_ONCE) return;
		const jobs = this.waiting.shift();
		if (jobs === undefined) return;
		this.working += 1;
		void this.workThrough(jobs).finally(() => {
			this.working -= 1;
			this.next();
		});
	}

	/** A document that was stored anew or deleted before its turn is left as it is. */
	private async workThrough(jobs: Job[]): Promise<void> {
		const { store } = this.context();
		for (const job of jobs) {
			if (store.processing.get(job.document.id) === job.processing) await this.work(job);
		}
	}

	/**
	 * What came of it goes to the document as it is then: one that is stored anew while it is worked on ends with its
	 * old text (`replaced-while-processing` "status when all is quiet"), unless it was queued anew as well.
	 */
	private async work({ document, processing }: Job): Promise<void> {
		const { store, clock } = this.context();
		processing.startedAt = clock.now();
		const quickly = processing.ms * QUICK;
		const [result] = await Promise.all([resultOf(this.context(), document), clock.sleep(quickly)]);
		if (!result.isQuick) await clock.sleep(processing.startedAt + processing.ms - clock.now());
		processing.end = result.state;
		const latest = store.documents.get(document.id);
		const newer = store.processing.get(document.id);
		if (latest === undefined || (newer !== undefined && newer !== processing)) return;
		const updatedAt = timestamp(clock);
		Object.assign(latest, result.state, { updatedAt, version: latest.version + 1 });
		if (result.chunks === undefined) return;
		latest.chunkNum = result.chunks.length;
		store.putFindable(latest, result.chunks);
	}
}

async function resultOf(context: Context, document: StoredDocument): Promise<Result> {
	const { outcome, processMsg } = askedOf(document);
	if (outcome === 'error' || outcome === 'cancel') {
		return failed(processMsg ?? FAILED[outcome], outcome);
	}
	try {
		const owner = context.store.knowledgebases.get(document.knowledgebaseId);
		if (owner === undefined) return failed(FAILED.cancel, 'cancel');
		const texts = await textsOfFile(context, owner, document);
		const cut = cutOf(document.parserConfig);
		const chunks = texts.flatMap((text) => split(text, cut));
		const isQuick = isEqual(chunks, context.store.findable(document.id)?.chunks);
		return { ...finished(chunks, processMsg), isQuick };
	} catch (error) {
		if (outcome === 'finish') return finished([], processMsg);
		return { ...failed(error instanceof Error ? error.message : String(error)), isQuick: true };
	}
}

const failed = (processMsg: string, status = 'error'): Result => ({
	state: { status, progress: 0, processMsg },
});

const finished = (chunks: string[], processMsg = ''): Result => ({
	state: { status: 'finish', progress: 100, processMsg },
	chunks,
});
