import {
	exampleFiles,
	readExample,
	toNewWorkflow,
	wantsActivation,
	filledIn,
	sandboxValues,
} from './examples';
import type { Host } from './host';
import type { Say } from './messages';
import type { CredentialInput } from './n8nRestClient';

/** The name that the example workflows know the sandbox's credential by. */
export const SANDBOX_CREDENTIAL = 'Xpert AI (sandbox)';

/** Where a sandbox listens and what it wants to see. */
export interface SandboxAccess {
	url: string;
	token: string;
}

/**
 * Brings the credential for the sandbox and the example workflows into an n8n. What an earlier
 * start brought is left as the user has made it, deleted included; only a sandbox that has moved is
 * followed, as long as the credential still points at its old place.
 *
 * @throws N8nRestError when n8n refuses something
 */
export async function setUpWorkspace(host: Host, sandbox: SandboxAccess, say: Say): Promise<void> {
	await setUpCredential(host, sandbox, say);
	// n8n lists the workflow that was changed last first, so the first to open is brought last.
	const missing = exampleFiles().filter((fileName) => !(fileName in host.state.examples));
	if (missing.length > 0) say(`Importing ${missing.length} examples`);
	for (const fileName of missing.reverse()) await importExample(host, fileName);
}

async function setUpCredential(host: Host, { url, token }: SandboxAccess, say: Say): Promise<void> {
	const { state, rest } = host;
	const input: CredentialInput = {
		name: SANDBOX_CREDENTIAL,
		type: 'xpertAiApi',
		data: { baseUrl: url, accessToken: token, allowInsecureHttp: false },
	};
	if (state.credential === undefined) {
		say(`Creating the credential "${SANDBOX_CREDENTIAL}"`);
		const { id } = await rest.createCredential(input);
		state.credential = { id, baseUrl: url };
		host.saveState();
		return;
	}
	if (state.credential.baseUrl === url) return;
	const existing = await rest.findCredential(state.credential.id);
	if (existing?.data.baseUrl === state.credential.baseUrl) {
		say(`The sandbox is now at ${url}: updating its credential`);
		await rest.updateCredential(existing.id, { ...input, name: existing.name });
		state.credential.baseUrl = url;
		host.saveState();
	}
}

async function importExample(host: Host, fileName: string): Promise<void> {
	const file = readExample(fileName);
	const { credential } = host.state;
	const known = credential ? [{ id: credential.id, name: SANDBOX_CREDENTIAL }] : [];
	const ready = filledIn(file, sandboxValues(host.url, file.name));
	const { id } = await host.rest.createWorkflow(toNewWorkflow(ready, known));
	host.state.examples[fileName] = id;
	host.saveState();
	if (wantsActivation(file)) await host.rest.activateWorkflow(id);
}
