import { sequence } from '../../sandbox/support/recordings';
import { conversationRecord } from '../../../nodes/XpertAi/payloads/conversation';
import { isJsonObject } from '../../../nodes/XpertAi/transport/answer';
import { eventOf } from '../../../nodes/XpertAiTrigger/conversations';

/** A recorded conversation, as E5 answered it. */
function recorded(name: 'runs' | 'interrupts', label: string) {
	const found = sequence(name).find((one) => one.label === label);
	const body = found && 'body' in found.response ? found.response.body : undefined;
	const items = isJsonObject(body) && Array.isArray(body.items) ? (body.items as unknown[]) : [];
	const { status, operation } = conversationRecord.parse(items[0]);
	return { status, tasks: operation?.tasks ?? [] };
}

describe('what has happened to a recorded conversation', () => {
	it.each([
		['runs', 'conversation after two runs', 'answered'],
		['runs', 'conversation after the failed run', 'failed'],
		['runs', 'conversation after the cancelled run', 'cancelled'],
		['interrupts', 'conversation that waits', 'waiting'],
		['interrupts', 'conversation after confirm', 'answered'],
		['runs', 'conversation while it goes on', undefined],
	] as const)('%s: "%s" is %s', (name, label, event) => {
		expect(eventOf(recorded(name, label))).toBe(event);
	});

	it('is nothing before its first run', () => {
		expect(eventOf({ tasks: [] })).toBeUndefined();
	});
});
