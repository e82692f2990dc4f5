import type { ApiRequest, Outcome, Send } from '../../../../../nodes/XpertAi/transport/request';
import type { VirtualTime } from '../../../support/virtualTime';
import { checked, fail, faulty } from './faults';
import type { Fault } from './faults';

/** What goes wrong with the requests of each kind, one after another; nothing after that. */
export interface Troubles {
	lookups?: Array<Fault | undefined>;
	creations?: Array<Fault | undefined>;
	reads?: Array<Fault | undefined>;
	runs?: Array<Fault | undefined>;
	others?: Array<Fault | undefined>;
	/** What goes wrong with one request, by its place among all of them. */
	once?: { at: number; fault: Fault };
	/** How long a run takes. */
	runMs?: number;
}

type Kind = 'lookups' | 'creations' | 'reads' | 'runs' | 'others';

interface Run {
	threadId: string;
	text: string;
	/** How many persons' messages the assistant has seen. */
	seen: number;
	endsAt: number;
}

interface Conversation {
	id: string;
	threadId: string;
	owner: string;
	createdAt: string;
}

/** The answer to a message, which is the so many-eth that the assistant has heard. */
export const answerTo = (text: string, seen = 1): string => `answer to ${text}, heard ${seen}`;

/**
 * A model of an Xpert server that keeps conversations and their threads, as recorded: a second conversation on a
 * thread is made without a word, everybody sees only their own, whoever runs a thread hears all that was said on it,
 * and a thread that has never run cannot be read.
 */
export class KeyServer {
	readonly conversations: Conversation[] = [];
	readonly runs: Run[] = [];
	/** All requests so far, by their kind. */
	readonly requests: Kind[] = [];
	/** How often a run was begun while another was on its thread, which loses messages. */
	overlaps = 0;
	private readonly asked = { lookups: 0, creations: 0, reads: 0, runs: 0, others: 0 };

	constructor(
		private readonly troubles: Troubles,
		private readonly time: VirtualTime,
	) {}

	readonly send: Send = async (request) => await this.sendAs('ann', request);

	/** The requests of another person. */
	readonly sendOf =
		(owner: string): Send =>
		async (request) =>
			await this.sendAs(owner, request);

	private async sendAs(owner: string, request: ApiRequest): Promise<Outcome> {
		const kind = kindOf(request);
		const { once } = this.troubles;
		const fault =
			once?.at === this.requests.length ? once.fault : this.troubles[kind]?.[this.asked[kind]];
		this.requests.push(kind);
		this.asked[kind] += 1;
		await Promise.resolve();
		const arrived = !fault || fault.arrives ? this.handle(kind, owner, request) : undefined;
		if (fault) {
			this.time.pass(Math.min(fault.afterMs ?? request.timeoutMs, request.timeoutMs));
			return faulty(request, fault);
		}
		return arrived ? checked(request, arrived()) : fail(request, { kind: 'timeout' });
	}

	/** Does what is asked, and gives what answers it. */
	private handle(kind: Kind, owner: string, request: ApiRequest): () => Outcome {
		const body = JSON.parse(String(request.body ?? '{}')) as Body;
		const threadId =
			body.where?.threadId ?? body.threadId ?? decodeURIComponent(request.path.split('/')[2] ?? '');
		if (kind === 'lookups') return () => success({ items: this.listed(owner, threadId) });
		if (kind === 'reads') return () => this.thread(request, threadId);
		// In words of its own, which are not those of the recorded server.
		if (kind === 'others')
			return () => fail(request, { kind: 'status', status: 404, reason: 'Nothing here' });
		if (kind === 'creations') {
			const id = `conversation ${this.conversations.length + 1}`;
			const createdAt = new Date(this.time.now()).toISOString();
			this.conversations.push({ id, threadId, owner, createdAt });
			return () => success({ id, threadId, createdAt });
		}
		return this.run(request, threadId, body.input?.message.input.input ?? '');
	}

	private run(request: ApiRequest, threadId: string, text: string): () => Outcome {
		const { runMs = 0 } = this.troubles;
		if (this.isBusy(threadId)) this.overlaps += 1;
		const seen = this.runsOf(threadId).length + 1;
		this.runs.push({ threadId, text, seen, endsAt: this.time.elapsed() + runMs });
		return () => {
			this.time.pass(Math.min(runMs, request.timeoutMs));
			if (runMs > request.timeoutMs) return fail(request, { kind: 'timeout' });
			return success({ role: 'ai', content: answerTo(text, seen) });
		};
	}

	private runsOf(threadId: string): Run[] {
		return this.runs.filter((run) => run.threadId === threadId);
	}

	private listed(owner: string, threadId: string) {
		const isBusy = this.isBusy(threadId);
		const status = isBusy ? 'busy' : this.runsOf(threadId).length > 0 ? 'idle' : null;
		return this.conversations
			.filter((one) => one.threadId === threadId && one.owner === owner)
			.map(({ id, createdAt }) => ({ id, threadId, createdAt, status }));
	}

	private thread(request: ApiRequest, threadId: string): Outcome {
		const runs = this.runsOf(threadId);
		if (runs.length === 0) return fail(request, { kind: 'status', status: 500 });
		const ended = runs.filter(({ endsAt }) => endsAt <= this.time.elapsed());
		const messages = ended.flatMap(({ text, seen }) => [
			{ id: `person ${text}`, content: text },
			{ id: `assistant ${text}`, content: answerTo(text, seen), tool_calls: [] },
		]);
		const status = this.isBusy(threadId) ? 'busy' : 'idle';
		const updated_at = `${runs.length} begun, ${ended.length} ended`;
		const input = runs.at(-1)?.text;
		return success({ thread_id: threadId, status, updated_at, values: { input, messages } });
	}

	private isBusy(threadId: string): boolean {
		const now = this.time.elapsed();
		return this.runsOf(threadId).some((run) => run.endsAt > now);
	}
}

interface Body {
	where?: { threadId: string };
	threadId?: string;
	input?: { message: { input: { input: string } } };
}

/** It knows nothing but the contract. */
function kindOf({ method, path }: ApiRequest): Kind {
	if (method === 'GET') return /^\/threads\/[^/]+$/.test(path) ? 'reads' : 'others';
	if (path === '/conversations/search') return 'lookups';
	if (path === '/conversations') return 'creations';
	return path.endsWith('/runs/wait') ? 'runs' : 'others';
}

const success = (answer: unknown): Outcome => ({ ok: true, status: 201, answer });
