import type { Readable } from 'node:stream';

import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { INode, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import type { FaultRule, Sandbox } from '../../../sandbox';
import { startCaseSandbox } from './caseOperations';
import { clock, useClock } from './clock';
import type { CredentialData } from './credentials';
import { createEngine, type Engine, type NodeResult } from './engine';
import type { NodeRun } from './nodeEngine';
import { createWorld, type World } from './records';

/** The engine, a sandbox and the records on it, fresh for every test. */
export interface Fixture {
	engine: Engine;
	sandbox: Sandbox;
	world: World;
	/** Runs the node with the sandbox's credential; items without binary data get the world's file. */
	run: (parameters: INodeParameters, options?: RunOptions) => Promise<NodeResult>;
	add: (...rules: FaultRule[]) => void;
	/** The requests that have arrived at an endpoint; all of them without it. */
	sent: (endpoint?: string) => ReturnType<Sandbox['requests']['of']>;
}

interface RunOptions
	extends Pick<
		NodeRun,
		| 'mode'
		| 'name'
		| 'calledFrom'
		| 'loops'
		| 'behind'
		| 'beside'
		| 'trigger'
		| 'onChunk'
		| 'isTool'
	> {
	items?: INodeExecutionData[];
	onError?: INode['onError'];
	credential?: Partial<CredentialData>;
	onStart?: (execution: { cancel: () => void }) => void;
}

/** Longer than a test: what takes the server an hour is still under way when the node has ended. */
export const AN_HOUR = 3_600_000;

/** Measures how many milliseconds pass from now on. */
export function measureWaiting(): () => number {
	const began = clock.now();
	return () => clock.now() - began;
}

/** Stops an execution once it has got so far and is at rest, and tells how long it then waited before it ended. */
export function stopOnce(gotSoFar: () => boolean): {
	onStart: NonNullable<RunOptions['onStart']>;
	waitedMs: () => number;
} {
	let waitedMs = () => Infinity;
	return {
		onStart: async ({ cancel }) => {
			await clock.until(gotSoFar);
			await clock.settled();
			waitedMs = measureWaiting();
			cancel();
		},
		waitedMs: () => waitedMs(),
	};
}

/** Watches the files of binary data that are opened from now on, until jest restores its mocks. */
export function watchOpenedFiles(): Readable[] {
	const opened: Readable[] = [];
	const service = Container.get(BinaryDataService);
	const open = service.getAsStream.bind(service);
	jest.spyOn(service, 'getAsStream').mockImplementation(async (id, chunkSize) => {
		const stream = await open(id, chunkSize);
		opened.push(stream);
		return stream;
	});
	return opened;
}

/** Checks that one file was opened, and that it is closed now or soon. */
export async function expectClosed(opened: Readable[]): Promise<void> {
	expect(opened).toHaveLength(1);
	for (const stream of opened) {
		if (!stream.closed) await new Promise((resolve) => stream.once('close', resolve));
	}
}

/** Sets up a fixture for the tests of a file. Waits take no real time: see `clock`. */
export function useFixture(): Fixture {
	const fixture = {
		add: (...rules) => fixture.sandbox.faults.add(...rules),
		sent: (endpoint) => {
			const { requests } = fixture.sandbox;
			return endpoint === undefined ? [...requests.all] : requests.of(endpoint);
		},
	} as Fixture;
	useClock();

	beforeAll(async () => {
		const engine = await createEngine();
		fixture.engine = { ...engine, run: async (run) => await clock.during(engine.run(run)) };
		fixture.sandbox = await startCaseSandbox({ clock });
	});

	beforeEach(async () => {
		fixture.sandbox.reset();
		const binary = await fixture.engine.binary(
			Buffer.from('hello world'),
			'hello.txt',
			'text/plain',
		);
		fixture.world = await createWorld(fixture.sandbox);
		fixture.run = async (parameters, { items, credential, ...options } = {}) =>
			await fixture.engine.run({
				parameters,
				credential: {
					baseUrl: fixture.sandbox.url,
					accessToken: fixture.sandbox.accessToken,
					...credential,
				},
				items: (items ?? [{ json: {} }]).map((item) => ({ binary: { data: binary }, ...item })),
				...options,
			});
	});

	afterAll(async () => await fixture.sandbox?.close());
	return fixture;
}
