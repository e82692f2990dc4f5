import { sortBy } from 'lodash';
import axios, { type AxiosResponse } from 'axios';
import { startSandbox, type Sandbox } from '../../sandbox';
import { COMMON, STAGES, TOKENS, tokenOf, type Stage } from './support/arrangements';
import { recordings, sendable, type Exchange } from './support/recordings';
import { differences, repaired } from './support/shape';

const ALL = recordings();
const TOTAL = [...ALL.values()].flat().length;
let replayed = 0;

/** Sends a recorded request to the sandbox and takes whatever comes back, as text. */
function send(
	sandbox: Sandbox,
	exchange: Exchange,
	token?: string,
): Promise<AxiosResponse<string>> {
	const { contentType, data } = sendable(exchange);
	return axios.request<string>({
		method: exchange.request.method,
		url: sandbox.url + exchange.request.path,
		headers: {
			...(token && { authorization: `Bearer ${token}` }),
			...(exchange.label === 'with x-api-key only' && { 'x-api-key': TOKENS.plain }),
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
}

/** The server lists assistants in no order of its own, and differently from call to call. */
const ordered = (body: unknown) => (Array.isArray(body) ? sortBy(body, 'assistant_id') : body);

const family = (contentType: unknown) => String(contentType).split(';')[0];

/** Compares an answer with the recorded one: status, kind of content, and the shape of the body. */
function compare({ response, label }: Exchange, answer: AxiosResponse<string>) {
	const cut = typeof response.body === 'string';
	const recorded = cut ? repaired(String(response.body)) : response.body;
	const body = JSON.parse(answer.data) as unknown;
	expect({
		status: answer.status,
		type: family(answer.headers['content-type']),
		differences: differences(ordered(recorded), ordered(body), cut),
	}).toEqual({ status: response.status, type: family(response.contentType), differences: [] });
	expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
	if (typeof recorded === 'number') expect({ label, body }).toEqual({ label, body: recorded });
}

function replayStage(endpoint: string, stage: Stage, exchanges: Array<[number, Exchange]>) {
	let sandbox: Sandbox;
	let session: string | undefined;

	beforeAll(async () => {
		sandbox = await startSandbox({ ...COMMON, ...stage.options });
		stage.arrange?.(sandbox, ALL.get(endpoint) ?? []);
	});
	afterAll(() => sandbox.close());

	it.each(exchanges.map(([index, exchange]) => ({ index, label: exchange.label, exchange })))(
		'$index $label',
		async ({ index, exchange }) => {
			const minting = exchange.label === 'client_secret to mint another';
			const token = minting ? session : tokenOf(endpoint, index, exchange);
			const answer = await send(sandbox, exchange, token);
			compare(exchange, answer);
			if (endpoint === 'E06')
				session = (JSON.parse(answer.data) as Secret).client_secret ?? session;
			replayed += 1;
		},
	);
}

interface Secret {
	client_secret?: string;
}

for (const [endpoint, exchanges] of ALL) {
	describe(`${endpoint} answers as recorded`, () => {
		const stages = STAGES[endpoint] ?? [];
		stages.forEach((stage, place) => {
			const end = stages[place + 1]?.from ?? exchanges.length;
			const own = [...exchanges.entries()].slice(stage.from, end);
			describe(`from ${stage.from}`, () => replayStage(endpoint, stage, own));
		});
	});
}

it('leaves nothing out', () => {
	expect([replayed, TOTAL]).toEqual([422, 422]);
});
