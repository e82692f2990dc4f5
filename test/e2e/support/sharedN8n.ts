import { pick } from 'lodash';
import {
	N8nRestClient,
	type CredentialInput,
	type CredentialReference,
	type Session,
	type Workflow,
} from '../../../host/n8nRestClient';
import { ownN8n, type Lodging } from './ownN8n';

/** How jest's workers, which are processes of their own, learn where the shared n8n is. */
const VARIABLE = 'XPERTAI_SHARED_N8N';

interface SharedN8n {
	url: string;
	documents: string;
	ownDocuments: string;
	session: Session;
}

let started: Lodging | undefined;

/** Starts the n8n that test files share, before jest starts its workers. */
export async function startSharedN8n(): Promise<void> {
	started = await ownN8n();
	const { rest, ...where } = pick(started.n8n, 'url', 'documents', 'ownDocuments', 'rest');
	const shared: SharedN8n = { ...where, session: rest.session };
	process.env[VARIABLE] = JSON.stringify(shared);
}

/** Ends it, in the process that started it. */
export async function endSharedN8n(): Promise<void> {
	await started?.leave();
}

/** The shared n8n; leaving it archives the workflows and deletes the credentials brought in from here. */
export function sharedN8n(): Lodging {
	const text = process.env[VARIABLE];
	if (text === undefined) throw new Error('No n8n was started to be shared');
	const { session, ...where } = JSON.parse(text) as SharedN8n;
	const rest = new TidyRestClient(where.url, session);
	return { n8n: { ...where, rest }, leave: async () => await rest.tidyUp() };
}

/** A client that can take away what was created through it. */
class TidyRestClient extends N8nRestClient {
	private readonly created: Array<() => Promise<void>> = [];

	override async createCredential(input: CredentialInput): Promise<CredentialReference> {
		const credential = await super.createCredential(input);
		this.created.push(async () => await this.deleteCredential(credential.id));
		return credential;
	}

	override async createWorkflow(input: Record<string, unknown>): Promise<Workflow> {
		const workflow = await super.createWorkflow(input);
		this.created.push(async () => await this.archiveWorkflow(workflow.id));
		return workflow;
	}

	async tidyUp(): Promise<void> {
		for (const remove of this.created.splice(0).reverse()) await remove();
	}
}
