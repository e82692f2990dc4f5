import { exampleFiles, readExample } from './examples';
import type { Host } from './host';
import { userFolderPaths } from './paths';
import { SANDBOX_CREDENTIAL, type SandboxAccess } from './setUp';

/** What of a running n8n its user is told. */
export type Welcomed = Pick<Host, 'url' | 'login' | 'loggedIn' | 'userFolder'> & {
	state: Pick<Host['state'], 'examples'>;
};

/** What `npm start` says at the end: the two clicks that show what the node does, and then all else. */
export function welcome(host: Welcomed, sandbox: SandboxAccess): string {
	const [folder, question] = exampleFiles();
	const login = host.loggedIn
		? `${host.login.email}  /  ${host.login.password}`
		: 'your own (the password was changed, so nothing new was set up)';
	return [
		'Two clicks:',
		'',
		`  1. Open   ${addressOf(host, folder)}`,
		`     Login  ${login}`,
		'     Click "Execute workflow": the files of a handbook are uploaded, stored and processed.',
		'',
		`  2. Open   ${addressOf(host, question)}`,
		'     Click "Open chat" and ask "How long does the warranty last?".',
		'',
		`  Sandbox   ${sandbox.url}  (token ${sandbox.token})`,
		`  Log       ${userFolderPaths(host.userFolder).log}`,
		'  The list of workflows shows all examples in the order to open. For one of your own: "+",',
		`  search "Xpert AI", pick the credential "${SANDBOX_CREDENTIAL}". Ctrl-C ends everything.`,
	].join('\n');
}

/** Where an example is; by its name, where n8n has it no more or never had. */
function addressOf({ url, state }: Welcomed, fileName = ''): string {
	const id = state.examples[fileName];
	return id === undefined ? `${url}, "${readExample(fileName).name}"` : `${url}/workflow/${id}`;
}
