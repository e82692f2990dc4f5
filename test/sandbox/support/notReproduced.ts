import type { SequenceExchange } from './recordings';

/** Fields whose values the sandbox does not reproduce, though it has them where the server has; and why. */
export const OWN_VALUES: Record<string, string> = {
	createdAt: 'a moment',
	updatedAt: 'a moment',
	recordedAt: 'a moment',
	created_at: 'a moment',
	updated_at: 'a moment',
	created_date: 'a moment',
	version: 'how often a server writes a row',
	processingHash: 'a hash',
	jobId: 'how many jobs a server has had',
	query: 'the words of a database',
	parameters: 'the words of a database',
	driverError: 'the words of a database',
	detail: 'the words of a database',
	length: 'the words of a database',
	line: 'the words of a database',
	file: 'the words of a database, and where a server keeps its files',
	where: 'the words of a database',
};

/** Fields that the sandbox does not have at all, or has otherwise than the server; and why. */
export const OWN_FIELDS: Record<string, string> = {
	usage: 'what a model counts of its tokens',
	usageMetadata: 'what a model counts of its tokens',
};

/** Exchanges of the sequences that are sent but whose answer is not compared; and why. */
export const OWN_ANSWERS: Array<{ is: (exchange: SequenceExchange) => boolean; why: string }> = [
	{
		is: ({ sequence, label }) =>
			sequence === 'two changed, confirmed twice' && label === 'confirm again',
		why: 'Two helpers that work at once speak in no order; here they speak in that of their calls.',
	},
	{
		is: ({ label }) => label === 'process once more' || label === 'process what is disabled',
		why: 'What the server has noted of an earlier processing: hashes, a snapshot, times. `status` tells how it ended.',
	},
	{
		is: ({ endpoint }) => !/^(E\d+|process|status)$/.test(endpoint),
		why: 'The sandbox has not got the route yet.',
	},
	{
		is: ({ sequence = '' }) => /^(follow up|steer)/.test(sequence),
		why: 'The sandbox does not take a follow-up for one yet.',
	},
];

/** Exchanges that are not sent: what they made is there before, since later requests name the moments of it. */
export const IS_THERE_BEFORE = ({ endpoint, label }: SequenceExchange): boolean =>
	endpoint === 'E13' && /^create \d$/.test(label);

/** Parts of E15's values that no run says anything about: that they are there is compared. */
export const isInternal = (key: string) =>
	key === 'sys' || key === '__pregel_tasks' || key.endsWith('_channel');
