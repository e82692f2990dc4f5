import { readFileSync } from 'node:fs';
import axios from 'axios';
import {
	readExample,
	toNewWorkflow,
	type WorkflowFile,
	filledIn,
	sandboxValues,
} from '../../../host/examples';
import type { Host, HostOptions, N8n } from '../../../host/host';
import type { CredentialReference, CredentialTest } from '../../../host/n8nRestClient';
import { SANDBOX_CREDENTIAL } from '../../../host/setUp';
import { waitFor } from '../../../host/waitFor';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../sandbox';
import { Execution } from './execution';
import { ownN8n, type Lodging } from './ownN8n';
import { sharedN8n } from './sharedN8n';

export const NODE_TYPE = 'n8n-nodes-xpertai.xpertAi';
export const CREDENTIAL_TYPE = 'xpertAiApi';

/** The fields of the credential; the sandbox's own values where left out. */
export interface CredentialData {
	baseUrl?: string;
	accessToken?: string;
	allowInsecureHttp?: boolean;
}

/** What an execution left, a moment after n8n 1.123.81 says that it has ended. */
const NOT_STORED_YET = '[]';

const FINISHED = ['success', 'error', 'canceled', 'crashed', 'waiting'];

/** A real n8n with the packed node in it, a sandbox beside it, and what tests do with them. */
export class Harness<Used extends N8n = Host> {
	private lodging: Lodging<Used> | undefined;

	private runningSandbox: Sandbox | undefined;

	/** The running n8n; one of the test's own can be stopped, killed and restarted as well. */
	get host(): Used {
		return present(this.lodging, 'n8n').n8n;
	}

	/** The sandbox in this process: what it stores, what arrived, what is to go wrong. */
	get sandbox(): Sandbox {
		return present(this.runningSandbox, 'sandbox');
	}

	/** Moves into an n8n and starts a sandbox beside it. */
	async start(lodging: Lodging<Used>, sandbox: SandboxOptions = {}): Promise<void> {
		this.lodging = lodging;
		this.runningSandbox = await startSandbox(sandbox);
	}

	/** Ends the sandbox and leaves the n8n as its kind is left. */
	async end(): Promise<void> {
		await this.runningSandbox?.close();
		await this.lodging?.leave();
	}

	/** Creates a credential for the sandbox, by default under the name the examples use. */
	async createCredential(
		data: CredentialData = {},
		name = SANDBOX_CREDENTIAL,
	): Promise<CredentialReference> {
		return await this.host.rest.createCredential({
			name,
			type: CREDENTIAL_TYPE,
			data: this.credentialData(data),
		});
	}

	/** Stores a credential and runs its test, as the editor does on saving. */
	async testCredential(data: CredentialData = {}): Promise<CredentialTest> {
		const { id, name } = await this.createCredential(data, 'Xpert AI (under test)');
		return await this.host.rest.testCredential(id, {
			name,
			type: CREDENTIAL_TYPE,
			data: this.credentialData(data),
		});
	}

	/**
	 * Brings a workflow into n8n, ready to run with the sandbox.
	 *
	 * @param workflow an exported workflow, or the file name of an example
	 * @param credentials those that its nodes refer to by name
	 * @returns the workflow's id
	 */
	async importWorkflow(
		workflow: WorkflowFile | string,
		...credentials: CredentialReference[]
	): Promise<string> {
		const file = typeof workflow === 'string' ? readExample(workflow) : workflow;
		const ready = filledIn(file, sandboxValues(this.host.url, file.name));
		const { id } = await this.host.rest.createWorkflow(toNewWorkflow(ready, credentials));
		return id;
	}

	/**
	 * Clicks "Execute workflow" and waits for the end, good or bad.
	 *
	 * @param trigger the name of the node to start at; the workflow's first trigger when left out
	 */
	async runManually(workflowId: string, trigger?: string): Promise<Execution> {
		const id = await this.startManually(workflowId, trigger);
		return await this.execution(id);
	}

	/** Clicks "Execute workflow" and returns the execution's id at once. */
	async startManually(workflowId: string, trigger?: string): Promise<string> {
		const start = trigger ?? firstTrigger(await this.host.rest.getWorkflow(workflowId));
		return await this.host.rest.runWorkflow(workflowId, start);
	}

	/** Waits until an execution has ended and reads what it left. */
	async execution(id: string): Promise<Execution> {
		const ask = async () => {
			const stored = await this.host.rest.findExecution(id);
			const ended = FINISHED.includes(String(stored?.status)) && stored?.data !== NOT_STORED_YET;
			return ended ? new Execution(id, String(stored?.status), String(stored?.data)) : undefined;
		};
		return await waitFor(`execution ${id} to end`, ask);
	}

	/** The newest execution of a workflow, e.g. the one behind a webhook call, once it has ended. */
	async latestExecution(workflowId: string): Promise<Execution> {
		const id = await waitFor(
			`an execution of workflow ${workflowId}`,
			async () => (await this.host.rest.listExecutions(workflowId))[0],
		);
		return await this.execution(id);
	}

	/** Publishes a workflow, so that its webhooks and schedules work. */
	async activate(workflowId: string): Promise<void> {
		await this.host.rest.activateWorkflow(workflowId);
	}

	/** The same where it begins with our trigger: waits for the poll that n8n makes then, and what the first one leaves. */
	async startPolling(workflowId: string): Promise<void> {
		const polls = () => this.sandbox.requests.of('E5').length;
		const before = polls();
		await this.activate(workflowId);
		await waitFor('the first poll', async () => polls() > before || undefined);
		// n8n stores what a poll leaves a moment after it has activated the workflow.
		const { rest } = this.host;
		const stored = async () => (await rest.getWorkflow(workflowId)).staticData ?? undefined;
		await waitFor('what the poll leaves', stored);
	}

	/** Calls an active webhook by its path, waiting until n8n has published it. */
	async callWebhook(path: string, body?: unknown) {
		const url = `${this.host.url}/webhook/${path}`;
		return await waitFor(`the webhook ${path}`, async () => {
			const { status, data } = await axios.post<unknown>(url, body, {
				timeout: 400_000,
				validateStatus: () => true,
			});
			// n8n says so in several ways; no workflow here answers so itself.
			return status === 404 ? undefined : { status, data };
		});
	}

	/** A file in the folder that workflows may read, e.g. `handbook/safety.md`. */
	readDocument(name: string): string {
		return readFileSync(`${this.host.documents}/${name}`, 'utf8');
	}

	private credentialData(data: CredentialData) {
		return {
			baseUrl: this.sandbox.url,
			accessToken: this.sandbox.accessToken,
			allowInsecureHttp: false,
			...data,
		};
	}
}

/**
 * Gives every test of a file one n8n of its own and one sandbox, started before the first test and
 * ended after the last.
 */
export function useHarness(options?: Partial<HostOptions>, sandbox?: SandboxOptions): Harness {
	const harness = new Harness();
	beforeAll(async () => await harness.start(await ownN8n(options), sandbox));
	afterAll(async () => await harness.end());
	return harness;
}

/**
 * Gives every test of a file a sandbox, and the n8n that it shares with other files: for tests that
 * neither end n8n nor look at what others may have put there.
 */
export function useSharedHarness(): Harness<N8n> {
	const harness = new Harness<N8n>();
	beforeAll(async () => await harness.start(sharedN8n()));
	afterAll(async () => await harness.end());
	return harness;
}

function firstTrigger({ nodes }: Record<string, unknown>): string {
	const list = Array.isArray(nodes) ? (nodes as Array<Record<string, unknown>>) : [];
	const trigger = list.find(({ type }) => /trigger$|\.webhook$/i.test(String(type)));
	return String(present(trigger, 'trigger').name);
}

function present<T>(value: T | undefined, what: string): T {
	if (value === undefined) throw new Error(`There is no ${what}`);
	return value;
}
