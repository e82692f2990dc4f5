import type { Failure } from '../../../../../nodes/XpertAi/transport/failure';
import type { ApiRequest, Outcome, Send } from '../../../../../nodes/XpertAi/transport/request';
import type { VirtualTime } from '../../../support/virtualTime';
import type { Fault } from './faults';

/** What goes wrong with the requests of each kind, one after another; nothing after that. */
export interface Troubles {
	lookups?: Array<Fault | undefined>;
	creations?: Array<Fault | undefined>;
	reads?: Array<Fault | undefined>;
	runs?: Array<Fault | undefined>;
	/** How long a run takes. */
	runMs?: number;
}

interface Run {
	threadId: string;
	text: string;
	endsAt: number;
}

/** The answer to a message. */
export const answerTo = (text: string): string => `answer to ${text}`;

/**
 * A model of an Xpert server that keeps conversations and their threads, as recorded: a second
 * conversation on a thread is made without a word, and a thread that has never run cannot be read.
 */
export class KeyServer {
	/** The conversations that were made, by the thread of each. */
	readonly conversations: string[] = [];
	readonly runs: Run[] = [];
	/** How often a run was begun while another was on its thread, which loses messages. */
	overlaps = 0;
	private readonly asked = { lookups: 0, creations: 0, reads: 0, runs: 0 };

	constructor(
		private readonly troubles: Troubles,
		private readonly time: VirtualTime,
	) {}

	readonly send: Send = async (request) => {
		const { method, path } = request;
		const kind =
			method === 'GET'
				? 'reads'
				: path === '/conversations/search'
					? 'lookups'
					: path === '/conversations'
						? 'creations'
						: 'runs';
		const fault = this.troubles[kind]?.[this.asked[kind]++];
		await Promise.resolve();
		const arrived = !fault || fault.arrives ? this.handle(kind, request) : undefined;
		if (fault) {
			this.time.pass(Math.min(fault.afterMs ?? request.timeoutMs, request.timeoutMs));
			return fail(request, fault.failure);
		}
		return arrived?.() ?? fail(request, { kind: 'timeout' });
	};

	/** Does what is asked, and gives what answers it. */
	private handle(kind: keyof Troubles, request: ApiRequest): () => Outcome {
		const body = JSON.parse(String(request.body ?? '{}')) as Body;
		const threadId = body.where?.threadId ?? body.threadId ?? request.path.split('/')[2] ?? '';
		if (kind === 'lookups') return () => success({ items: this.listed(threadId) });
		if (kind === 'reads') return () => this.thread(request, threadId);
		if (kind === 'creations') {
			const id = `conversation ${this.conversations.push(threadId)}`;
			return () => success({ id, threadId });
		}
		return this.run(request, threadId, body.input?.message.input.input ?? '');
	}

	private run(request: ApiRequest, threadId: string, text: string): () => Outcome {
		const { runMs = 0 } = this.troubles;
		if (this.isBusy(threadId)) this.overlaps += 1;
		this.runs.push({ threadId, text, endsAt: this.time.elapsed() + runMs });
		return () => {
			this.time.pass(Math.min(runMs, request.timeoutMs));
			if (runMs > request.timeoutMs) return fail(request, { kind: 'timeout' });
			return success({ role: 'ai', content: answerTo(text) });
		};
	}

	private listed(threadId: string) {
		const status = this.isBusy(threadId) ? 'busy' : null;
		return this.conversations.flatMap((one, index) =>
			one === threadId ? [{ id: `conversation ${index + 1}`, threadId, status }] : [],
		);
	}

	private thread(request: ApiRequest, threadId: string): Outcome {
		const runs = this.runs.filter((run) => run.threadId === threadId);
		if (runs.length === 0) return fail(request, { kind: 'status', status: 500 });
		const ended = runs.filter(({ endsAt }) => endsAt <= this.time.elapsed());
		const messages = ended.flatMap(({ text }) => [
			{ id: `person ${text}`, content: text },
			{ id: `assistant ${text}`, content: answerTo(text), tool_calls: [] },
		]);
		const status = this.isBusy(threadId) ? 'busy' : 'idle';
		const updated_at = `${runs.length} begun, ${ended.length} ended`;
		return success({ thread_id: threadId, status, updated_at, values: { messages } });
	}

	private isBusy(threadId: string): boolean {
		const now = this.time.elapsed();
		return this.runs.some((run) => run.threadId === threadId && run.endsAt > now);
	}
}

interface Body {
	where?: { threadId: string };
	threadId?: string;
	input?: { message: { input: { input: string } } };
}

const success = (answer: unknown): Outcome => ({ ok: true, status: 201, answer });

function fail(
	{ method, path }: ApiRequest,
	facts: Omit<Failure, 'method' | 'path'>,
): Extract<Outcome, { ok: false }> {
	return { ok: false, failure: { ...facts, method, path: `/api/ai${path}` } };
}
