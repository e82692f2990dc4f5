import { WITH_A_FILE } from './sources';
import { files } from './sources/files';

/** What servers say of a document that they could not process (recorded), and how to go on. */
const ADVICE: Array<[said: RegExp, advice: string]> = [
	[
		/embedding model not set/i,
		'The knowledgebase has no embedding model. Give it one with Knowledgebase: Create or Update, field Embedding Model: the ID of a copilot that offers it stands in the address of its page on the server.',
	],
	[
		/Symbol\.asyncIterator/,
		`Servers read files and nothing else, and this document has none. Send its text ${WITH_A_FILE}.`,
	],
	[
		/unable to resolve a readable file/i,
		`The server looks for File Path on its own disk. Leave it out, and send the file with "Documents From" set to ${files.name}.`,
	],
	[
		/EISDIR/,
		'The server cannot read sheets. A CSV is read as text with Type set to txt and MIME Type to text/plain; turn an Excel file into text first, e.g. with Extract From File.',
	],
	[
		/server shows no progress/i,
		'With "Runs Again" set to "Send What Is New or Changed", the next run sends it again. If that does not help, process it by hand in the list of documents on the server, or store it under another key or ID.',
	],
	[
		/did not begin, though/i,
		'The next run sends it again. Look up on the server whether it is working, and whether its queue is.',
	],
	[
		/ECONNREFUSED|ENOTFOUND|ETIMEDOUT|failed to get/i,
		`The server could not fetch the file from its address, which must be reachable from there and without a token. Upload it instead, with "Documents From" set to ${files.name}.`,
	],
];

/** How to go on with a document that is stored and not found, where what the server says tells. */
export function adviceFor(said: string): string {
	const known = ADVICE.find(([words]) => words.test(said))?.[1];
	const what = 'It is stored, and assistants do not find it.';
	return known ? `${what} ${known}` : what;
}
