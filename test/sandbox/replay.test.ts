import axios from 'axios';
import { isPlainObject, mapValues, sortBy } from 'lodash';
import { EVERY_UUID } from '../../nodes/XpertAi/payloads/common';
import { startSandbox, type Sandbox } from '../../sandbox';
import { alike } from './support/alike';
import { arrangeEndpoint, STAGES, tokenOf } from './support/arrangements';
import { readOf } from './support/read';
import { recordings, repaired, sendable, type Exchange } from './support/recordings';

const ALL = recordings();
const TOTAL = [...ALL.values()].flat().length;
let replayed = 0;

/** What must be as recorded, and not only of the same type. */
const EXACT = ['content', 'total', 'reason', 'missing', 'originalName', 'sourceType'];

/** What the sandbox answered, with the recorded values where these are of the same type, or none. */
function ofOneType(recorded: unknown, actual: unknown, key = ''): unknown {
	if (recorded === null) return null;
	if (Array.isArray(recorded) && Array.isArray(actual)) {
		return actual.map((one, place) =>
			place < recorded.length ? ofOneType(recorded[place], one, key) : one,
		);
	}
	if (isPlainObject(recorded) && isPlainObject(actual)) {
		const known = recorded as Record<string, unknown>;
		return mapValues(actual as object, (one: unknown, name) =>
			name in known ? ofOneType(known[name], one, name) : one,
		);
	}
	return typeof recorded === typeof actual && !EXACT.includes(key) ? recorded : actual;
}

/** The server lists assistants in no order of its own, and differently from call to call. */
const inOrder = (body: unknown) => (Array.isArray(body) ? sortBy(body, 'assistant_id') : body);

/** Ids also stand in reasons. */
const withoutIds = (body: unknown): unknown =>
	JSON.parse((JSON.stringify(body) ?? 'null').replace(EVERY_UUID, 'an id'));

async function replay(sandbox: Sandbox, exchange: Exchange, endpoint: string, token?: string) {
	const { contentType, data } = sendable(exchange);
	const { request, response, label } = exchange;
	const answer = await axios.request<string>({
		method: request.method,
		url: sandbox.url + request.path,
		headers: {
			...(token && { authorization: `Bearer ${token}` }),
			...(label === 'with x-api-key only' && { 'x-api-key': tokenOf(endpoint, 0) }),
			// axios sets a content type of its own unless told not to.
			'content-type': contentType ?? false,
		},
		data,
		responseType: 'text',
		transformRequest: (body: unknown) => body,
		transformResponse: (text: string) => text,
		validateStatus: () => true,
		maxBodyLength: Infinity,
	});
	const isCut = typeof response.body === 'string';
	const route = endpoint.replace('E0', 'E');
	const whole = inOrder(isCut ? repaired(String(response.body)) : response.body);
	const given: unknown = inOrder(JSON.parse(answer.data));
	const isCutList = isCut && Array.isArray(whole) && Array.isArray(given);
	const [wanted, body] = alike(
		whole,
		isCutList ? given.slice(0, whole.length) : given,
		isCut && response.status < 400,
	);
	const recorded = readOf(route, response.status, withoutIds(wanted));
	const read = ofOneType(recorded, readOf(route, answer.status, withoutIds(body)));
	expect({ status: answer.status, read }).toEqual({ status: response.status, read: recorded });
	replayed += 1;
	return (JSON.parse(answer.data) as { client_secret?: string }).client_secret;
}

describe.each([...ALL])('%s is read as recorded', (endpoint, exchanges) => {
	const stages = STAGES[endpoint] ?? [];
	describe.each(stages)('from $from', (stage) => {
		const { from, options } = stage;
		const end = stages[stages.indexOf(stage) + 1]?.from ?? exchanges.length;
		const own = exchanges
			.slice(from, end)
			.map((one, place) => [from + place, one.label, one] as const);
		let sandbox: Sandbox;
		let session: string | undefined;

		beforeAll(async () => {
			sandbox = await startSandbox(options);
			arrangeEndpoint(endpoint, from, sandbox, exchanges);
		});
		afterAll(() => sandbox.close());

		it.each(own)('%s %s', async (index, label, exchange) => {
			const isMinting = label === 'client_secret to mint another';
			const token = isMinting ? session : tokenOf(endpoint, index, exchange);
			session = (await replay(sandbox, exchange, endpoint, token)) ?? session;
		});
	});
});

it('leaves nothing out', () => {
	expect([replayed, TOTAL]).toEqual([422, 422]);
});
