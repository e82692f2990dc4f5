import axios from 'axios';
import { isPlainObject, mapValues, sortBy } from 'lodash';
import { EVERY_UUID_PATTERN } from 'nodes/XpertAi/payloads/ids';
import { startSandbox, type Sandbox } from 'sandbox';
import { alike } from './support/alike';
import { put } from './support/happenings';
import { readOf } from './support/read';
import { endpointRecordings, sendable, type Exchange } from './support/recordings';
import { ofEndpoints } from './support/servers';

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
	JSON.parse((JSON.stringify(body) ?? 'null').replace(EVERY_UUID_PATTERN, 'an id'));

async function replay(sandbox: Sandbox, endpoint: string, exchange: Exchange, session?: string) {
	const { request, response, token = 'plain' } = exchange;
	const { contentType, data } = sendable(request);
	const sent = token === '<session>' ? session : token;
	const answer = await axios.request<string>({
		method: request.method,
		url: sandbox.url + request.path,
		headers: {
			...request.headers,
			...(sent && { authorization: `Bearer ${sent}` }),
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
	const isCut = 'beginning' in response;
	const route = endpoint.replace('E0', 'E');
	const whole = inOrder(isCut ? response.beginning : response.body);
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

describe.each(endpointRecordings)('$endpoint is read as recorded', (recording) => {
	const { endpoint, exchanges, servers } = recording;
	describe.each(servers)('from $from', (server) => {
		const { from, options, before } = server;
		const end = servers[servers.indexOf(server) + 1]?.from ?? exchanges.length;
		const own = exchanges.slice(from, end).map((one) => [one.label, one] as const);
		let sandbox: Sandbox;
		let session: string | undefined;

		beforeAll(async () => {
			sandbox = await startSandbox(ofEndpoints[options]);
			for (const step of before) put(sandbox, step);
		});
		afterAll(() => sandbox.close());

		it.each(own)('%s', async (_label, exchange) => {
			session = (await replay(sandbox, endpoint, exchange, session)) ?? session;
		});
	});
});

it('leaves nothing out', () => {
	expect(replayed).toBe(endpointRecordings.flatMap(({ exchanges }) => exchanges).length);
});
