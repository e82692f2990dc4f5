import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import axios, { type AxiosInstance, type Method } from 'axios';
import { z } from 'zod';

import { PATIENCE_MS } from './waitFor';

const envelopeSchema = z.object({ data: z.unknown() });
const failureSchema = z.object({ message: z.string() });
const identified = z.object({ id: z.string() }).passthrough();
const workflowSchema = z
	.object({ id: z.string(), name: z.string(), versionId: z.string() })
	.passthrough();
const credentialTestSchema = z.object({ status: z.enum(['OK', 'Error']), message: z.string() });
const referenceSchema = z.object({ id: z.string(), name: z.string() });
const credentialSchema = referenceSchema.extend({ data: z.record(z.unknown()) });

export type Workflow = z.infer<typeof workflowSchema>;
export type CredentialReference = z.infer<typeof referenceSchema>;
export type Credential = z.infer<typeof credentialSchema>;
export type CredentialTest = z.infer<typeof credentialTestSchema>;

export interface CredentialInput {
	name: string;
	type: string;
	data: Record<string, unknown>;
}

/** The cookie in which n8n keeps who is logged in. */
export const SESSION_COOKIE = 'n8n-auth';

/** Who is logged in; a browser is so as well once it has both. */
export interface Session {
	/** n8n ties a session to this. */
	readonly browserId: string;
	/** The value of the cookie, once somebody has logged in. */
	token?: string;
}

/** n8n refused a request; `status` and the message are n8n's own. */
export class N8nRestError extends Error {
	override readonly name = 'N8nRestError';

	constructor(
		readonly status: number,
		request: string,
		reason: string,
	) {
		super(`${request} answered ${status}: ${reason}`);
	}
}

/**
 * The part of n8n's editor API that the host and the tests use, with the session of one user.
 * Every method throws N8nRestError when n8n refuses, and axios' own error when it does not answer.
 */
export class N8nRestClient {
	private readonly http: AxiosInstance;

	/**
	 * @param url the address of the n8n
	 * @param session that of another client, which this one goes on with
	 */
	constructor(
		readonly url: string,
		readonly session: Session = { browserId: randomUUID() },
	) {
		// n8n is on this machine, where a proxy the user may have does not lead. A connection that is used again may
		// be closed by an n8n that was busy for longer than it keeps one.
		const httpAgent = new Agent({ keepAlive: false });
		const own = {
			timeout: PATIENCE_MS,
			proxy: false,
			httpAgent,
			validateStatus: () => true,
		} as const;
		this.http = axios.create({ baseURL: url, ...own });
	}

	/** Sends any request of the editor API, e.g. `request('GET', '/rest/settings')`. */
	async request(method: Method, path: string, body?: unknown): Promise<unknown> {
		const { browserId, token } = this.session;
		const response = await this.http.request<unknown>({
			method,
			url: path,
			data: body,
			headers: { 'browser-id': browserId, ...(token && { cookie: `${SESSION_COOKIE}=${token}` }) },
		});
		this.keepSession(response.headers['set-cookie']);
		if (response.status >= 400) {
			const failure = failureSchema.safeParse(response.data);
			const reason = failure.success ? failure.data.message : JSON.stringify(response.data);
			throw new N8nRestError(response.status, `${method} ${path}`, reason);
		}
		return envelopeSchema.parse(response.data).data;
	}

	/** Whether the API answers with its settings, which it does only once all routes are there. */
	async isReady(): Promise<boolean> {
		try {
			await this.request('GET', '/rest/settings');
			return true;
		} catch {
			return false;
		}
	}

	async setUpOwner(login: { email: string; password: string }): Promise<void> {
		await this.request('POST', '/rest/owner/setup', {
			...login,
			firstName: 'Xpert',
			lastName: 'Owner',
		});
	}

	async logIn({ email, password }: { email: string; password: string }): Promise<void> {
		await this.request('POST', '/rest/login', { emailOrLdapLoginId: email, password });
	}

	async createCredential(input: CredentialInput): Promise<CredentialReference> {
		return referenceSchema.parse(await this.request('POST', '/rest/credentials', input));
	}

	/** A credential with its data, passwords blanked out, or undefined when there is none. */
	async findCredential(id: string): Promise<Credential | undefined> {
		return await this.unlessMissing(async () =>
			credentialSchema.parse(await this.request('GET', `/rest/credentials/${id}?includeData=true`)),
		);
	}

	async deleteCredential(id: string): Promise<void> {
		await this.request('DELETE', `/rest/credentials/${id}`);
	}

	async updateCredential(id: string, input: CredentialInput): Promise<void> {
		await this.request('PATCH', `/rest/credentials/${id}`, input);
	}

	/** Runs the test of a stored credential; `data` replaces what is stored, as in the dialog. */
	async testCredential(id: string, input: CredentialInput): Promise<CredentialTest> {
		return credentialTestSchema.parse(
			await this.request('POST', '/rest/credentials/test', { credentials: { id, ...input } }),
		);
	}

	async createWorkflow(workflow: Record<string, unknown>): Promise<Workflow> {
		// An n8n as old as 1.123.81 wants to be told that it is off.
		const inactive = { active: false, ...workflow };
		return workflowSchema.parse(await this.request('POST', '/rest/workflows', inactive));
	}

	async getWorkflow(id: string): Promise<Workflow> {
		return workflowSchema.parse(await this.request('GET', `/rest/workflows/${id}`));
	}

	/** Publishes the newest version of a workflow. Its webhooks answer a moment later. */
	async activateWorkflow(id: string): Promise<void> {
		const { versionId } = await this.getWorkflow(id);
		await this.request('POST', `/rest/workflows/${id}/activate`, { versionId });
	}

	async deactivateWorkflow(id: string): Promise<void> {
		await this.request('POST', `/rest/workflows/${id}/deactivate`, {});
	}

	/** Takes a workflow out of use, its webhooks with it. They are gone a moment later. */
	async archiveWorkflow(id: string): Promise<void> {
		await this.request('POST', `/rest/workflows/${id}/archive`, {});
	}

	/** Starts a manual run at the trigger named. Returns the execution's id. */
	async runWorkflow(id: string, triggerName: string): Promise<string> {
		const started = await this.request('POST', `/rest/workflows/${id}/run`, {
			triggerToStartFrom: { name: triggerName },
			// An n8n as old as 2.8.4 runs what the request holds, a new one what it has stored.
			workflowData: await this.getWorkflow(id),
		});
		return z.object({ executionId: z.string() }).parse(started).executionId;
	}

	/** An execution as n8n stores it, or undefined while it is not there yet. */
	async findExecution(id: string): Promise<Record<string, unknown> | undefined> {
		try {
			return await this.unlessMissing(async () =>
				identified.parse(await this.request('GET', `/rest/executions/${id}`)),
			);
		} catch (error) {
			// What n8n 2.20.12 says while an execution goes on that has not stored anything yet.
			if (error instanceof N8nRestError && error.message.includes("'resultData'")) return undefined;
			throw error;
		}
	}

	/** The ids of a workflow's executions, newest first. */
	async listExecutions(workflowId: string): Promise<string[]> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId }));
		const list = await this.request('GET', `/rest/executions?filter=${filter}&limit=100`);
		return z
			.object({ results: z.array(identified) })
			.parse(list)
			.results.map(({ id }) => id);
	}

	async stopExecution(id: string): Promise<void> {
		await this.request('POST', `/rest/executions/${id}/stop`);
	}

	private async unlessMissing<T>(ask: () => Promise<T>): Promise<T | undefined> {
		try {
			return await ask();
		} catch (error) {
			if (error instanceof N8nRestError && error.status === 404) return undefined;
			throw error;
		}
	}

	private keepSession(cookies: string[] | undefined): void {
		const session = cookies?.find((cookie) => cookie.startsWith(`${SESSION_COOKIE}=`));
		const [pair] = session?.split(';') ?? [];
		if (pair !== undefined) this.session.token = pair.slice(SESSION_COOKIE.length + 1);
	}
}
