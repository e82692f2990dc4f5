import type { SequenceExchange } from './recordings';

/** The recordings from `one-question-1` on: of another model, which counts in a way of its own, on a server that was slow. */
export const LATER =
	/^(?:knowledge-filter|filters-|folder-|one-question|server-|two-processes|one-thread-(?:two-conv|status|first|two-owners-2)|decision-after|dead-run|cancel-of)/;

/** Fields whose values the sandbox does not reproduce, though it has them where the server has; and why. */
export const OWN_VALUES: Record<string, string> = {
	createdAt: 'a moment',
	updatedAt: 'a moment',
	recordedAt: 'a moment',
	parsedAt: 'a moment',
	created_at: 'a moment',
	updated_at: 'a moment',
	created_date: 'a moment',
	end_date: 'a moment',
	expires_at: 'a moment',
	client_secret: 'a secret',
	embeddingCollectionName: 'how a server calls its vectors',
	pendingEmbeddingCollectionName: 'how a server calls its vectors',
	embeddingModelFingerprint: 'a hash',
	pendingEmbeddingModelFingerprint: 'a hash',
	rebuildTaskId: 'how a server calls its work',
	version: 'how often a server writes a row',
	processingHash: 'a hash',
	contentHash: 'a hash',
	source: 'where a server keeps its files',
	score: 'how near two meanings are to a model',
	jobId: 'how many jobs a server has had',
	filterHash: 'a hash',
	filterLatency: 'a time',
	vectorLatency: 'a time',
	query: 'the words of a database',
	parameters: 'the words of a database',
	driverError: 'the words of a database',
	detail: 'the words of a database',
	constraint: 'the words of a database',
	length: 'the words of a database',
	line: 'the words of a database',
	file: 'the words of a database, and where a server keeps its files',
	where: 'the words of a database',
};

/** Fields that the sandbox does not have at all, or has otherwise than the server; and why. */
export const OWN_FIELDS: Record<string, string> = {
	usageMetadata: 'the same as `usage`, in what a message was made of',
	responseLatency: 'a time',
	elapsedTime: 'a time',
	interruptBefore: 'how an assistant was drawn',
	knowledge: 'how an assistant was drawn',
	workflow: 'how an assistant was drawn',
	copilot: 'what a server says of the provider of a model',
};

/** Events that the sandbox does not send: what the graph says of its own step that counted, after the same event was sent. */
export const isOwnEvent = (data: Record<string, unknown>): boolean =>
	'tags' in data && !('error' in data);

/**
 * The numbers of tokens that are not compared: of all, where texts are in them that differ (paths, scores, times); of
 * what a model was given as well, where it counts that in a way of its own.
 */
export function OWN_TOKENS({ sequence = '', recording = '' }: SequenceExchange): string[] {
	// Its model repeats the beginning of what it found, in which addresses and scores are of another length.
	if (recording.startsWith('filters-')) return [...TOKENS, ...TOKENS_TOLD, 'outputTokens'];
	if (LATER.test(recording)) return [...TOKENS, ...TOKENS_TOLD];
	return ['usage', ...LOOKS].includes(sequence) ? TOKENS : [];
}
const TOKENS = ['tokens', 'totalTokens', 'total_tokens'];
const TOKENS_TOLD = [
	'prompt_tokens',
	'contextTokens',
	'context_tokens',
	'inputTokens',
	'input_tokens',
];

/** What stands within texts and is not compared; and why. */
export const OWN_WORDS: Array<{ words: RegExp; why: string }> = [
	{ words: /^(?:word\d+ ?)+$/, why: 'How many words had come when a run was cancelled.' },
	{ words: /(?<="score": )[\d.e-]+/g, why: 'How near an embedding model finds a passage.' },
	{ words: /(?<="(?:vector|filter)Latency": )\d+/g, why: 'A time.' },
	{ words: /(?<="contentHash": ")[^"]*/g, why: 'A hash.' },
	{ words: /(?<="source": ")[^"]*/g, why: 'Where a server keeps its files.' },
	{ words: /^(?:g-chat|fake-parts|fake-chat)$/, why: 'The name of a model.' },
	{ words: /SAY {2,}/g, why: 'An older model hands SAY to its tools, a newer one does not.' },
];

/** Exchanges of the sequences of whose answer only the status is compared; and why. */
export const OWN_BODIES: Array<{ is: (exchange: SequenceExchange) => boolean; why: string }> = [
	{
		is: ({ request, label }) =>
			/assistants\/(search|count)$/.test(request.path) || label === 'search conversations',
		why: 'What else a server has: other assistants, and other conversations in no order anyone asked for.',
	},
	{
		is: ({ label }) => /^the same source(,| once)|^process (then|after the failed)/.test(label),
		why: 'What the server has noted of an earlier processing: hashes, a snapshot, times. `status` tells how it ended.',
	},
];

/** Exchanges of the sequences that are sent but whose answer is not compared; and why. */
export const OWN_ANSWERS: Array<{ is: (exchange: SequenceExchange) => boolean; why: string }> = [
	{
		is: ({ sequence = '', recording, endpoint }) =>
			recording === 'knowledge-filter' &&
			endpoint === 'E15' &&
			/^(?:requestFilter|no filter at all)/.test(sequence),
		why: 'A tool that tells a model which filters it may make: the sandbox has none. The answer of E4 is compared.',
	},
	{
		is: ({ endpoint, recording = '', label, response }) =>
			endpoint === 'E15' &&
			LATER.test(recording) &&
			/^(?:while it runs)?$/.test(label) &&
			'status' in response &&
			(response.status === 500 || recording === 'one-thread-status-null'),
		why: 'How soon the first step of a run is stored: the recorded server was slow.',
	},
	{
		is: ({ sequence, label }) =>
			label === 'two helpers at once' ||
			(sequence === 'two changed, confirmed twice' && /^confirm again|^messages of/.test(label)),
		why: 'Two helpers that work at once speak in no order; here they speak in that of their calls.',
	},
	{
		is: ({ label }) => label === 'a long answer, cancelled after 3 s',
		why: 'How many words had come when a run was cancelled: that depends on how quick a server is.',
	},
	{
		is: ({ label }) => label === 'process once more' || label === 'process what is disabled',
		why: 'What the server has noted of an earlier processing: hashes, a snapshot, times. `status` tells how it ended.',
	},
	{
		is: ({ label }) => /^list with (limit|offset)/.test(label),
		why: 'A page of runs is cut from an order that changes from call to call.',
	},
	{
		is: ({ sequence = '', endpoint, label }) =>
			/^E(5|15)$/.test(endpoint) &&
			((sequence === 'two at once' && label === 'thread, while both run') ||
				(sequence === 'a decision that names the run' && label === 'thread, after the decision') ||
				/^thread, (right after the cancel|9 s after)|as A's run has ended|as soon as nothing runs/.test(
					label,
				)),
		why: 'How soon a step is stored, and an end is shown: the sandbox is quicker, or slower, by parts of a second.',
	},
	{
		is: ({ endpoint, recording = '' }) =>
			endpoint === 'GET /conversations/{id}/messages' && !LATER.test(recording),
		why: 'The messages of runs at once stand in the order in which a server stores them, and a cancelled answer says `aborted` for a moment.',
	},
];

/** The sequences in which an assistant looks in a knowledgebase. */
const LOOKS = [
	'nothing found',
	'one knowledgebase, as a tool',
	'text before the tool call',
	'two knowledgebases',
	'a knowledge step of a workflow',
	'in the stream',
	'after a decision',
	'a document with metadata of its own (year, url)',
];

/** Whether a DOCX was uploaded, looked after or asked for (`file-context-parsing`). */
const isOfDocx = (label: string, atMs: number): boolean =>
	/^(zeta|status of it .outside|status 4 s later|ask with it)/.test(label) &&
	atMs >= 35_179 &&
	atMs < 77_061;

/** Exchanges of the sequences that are not sent; and why. */
const UNSENT: typeof OWN_ANSWERS = [
	{
		is: ({ recording, sequence }) =>
			recording === 'knowledge-filter-4' &&
			/^(?:only id and metadata sent|hr again)$/.test(sequence ?? ''),
		why: 'What was sent before it was not recorded.',
	},
	{
		is: ({ recording = '', endpoint }) =>
			/^(?:knowledge-filter|folder-)/.test(recording) && endpoint === 'E16',
		why: 'Files whose content was not recorded: they are there before.',
	},
	{
		is: ({ sequence = '' }) => sequence.includes('pairs of POST /threads'),
		why: 'Whether two that ask for one thread at the same moment both make a conversation is a race of the server.',
	},
	{
		is: ({ sequence }) => sequence === 'references',
		why: 'What is quoted beside a question, and goes into it: the sandbox takes no references.',
	},
	{
		is: ({ recording, label }) =>
			recording === 'server-killed' && /^documents: (?:just|35|after)/.test(label),
		why: 'When a server takes documents up again after its return: 36 and 65 s after it; the sandbox works on without a break.',
	},
	{
		is: ({ recording, label }) => recording === 'server-killed' && label.startsWith('upload'),
		why: 'Files whose content was not recorded: they are there before.',
	},
	{
		is: ({ sequence }) => sequence === 'the younger is an E4, cancelled too early',
		why: 'A cancel that comes before a run has truly begun answers 500, or 201 and does nothing: a race of the server.',
	},
	{
		is: ({ sequence }) => sequence === 'five at once',
		why: 'Which of five that begin at the same moment is the older one is a race.',
	},
	{
		is: ({ sequence }) =>
			sequence === 'nobody gives way, one says it was interrupted' ||
			sequence === 'the older ends while the younger is cancelled',
		why: 'A run that says it was interrupted though nobody cancelled it: 2 of 80, a race of the server.',
	},
	{
		is: ({ endpoint, label }) => endpoint === 'E13' && /^create \d$/.test(label),
		why: 'What they made is there before, since later requests name the moments of it.',
	},
	{
		is: ({ endpoint, label }) =>
			/runtime-capabilities|task-summary|\/goal$|\/state$/.test(endpoint) ||
			/^(task-summary|goal|state)$/.test(label),
		why: 'Routes that tell what others tell, or of what the sandbox has none of: skills, goals, task summaries.',
	},
	{
		is: ({ label }) => label === 'ask something like it',
		why: 'What a model was given before the question.',
	},
	{
		is: ({ sequence = '' }) =>
			['nginx E4', 'the chat route of v1', 'joined after a restart of the server'].includes(
				sequence,
			),
		why: 'A proxy gives up in the place of the server; a route that nothing builds on; what outlives a restart.',
	},
	{
		is: ({ label }) => label === 'join again with the Last-Event-ID that was seen last',
		why: 'Which event a client saw last that left in the middle: a matter of milliseconds.',
	},
	{
		is: ({ label, atMs = 0 }) =>
			isOfDocx(label, atMs) && (atMs < 51_618 || label.startsWith('ask with it')),
		why: 'What is in a DOCX: the file itself was not recorded, so that a reader of the sandbox would have nothing to read.',
	},
	{
		is: ({ sequence, label }) => sequence === 'what is refused at once' && label === 'no assistant',
		why: 'Which assistant the server takes where none is named; the sandbox takes its first.',
	},
	{
		is: ({ request }) => !request.path.startsWith('/api/ai'),
		why: 'The interface of the server itself, which is no part of the API.',
	},
	{
		is: ({ sequence = '', label }) =>
			sequence.startsWith('an embedding') && label.startsWith('ask'),
		why: 'Asks for texts that were not recorded.',
	},
];

/** Neither are notes of what was seen elsewhere, in the database say, which stand among the exchanges. */
export const NOT_SENT = (exchange: Partial<SequenceExchange>): boolean =>
	exchange.request === undefined || UNSENT.some(({ is }) => is(exchange as SequenceExchange));

/** Parts of E15's values that no run says anything about: that they are there is compared. */
export const isInternal = (key: string) =>
	key === 'sys' || key === '__pregel_tasks' || /^(agent_.*|title)_channel$/.test(key);
