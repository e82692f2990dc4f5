import { markdownTable } from '../../support/generated';
import { FAULTS } from './faultMatrixFaults';
import { KINDS, KIND_TITLES } from './faultMatrixOperations';
import type { Kind } from './faultMatrixOperations';
import { NOT_UPLOADED, NO_UPLOADS, rowOf } from './faultMatrixTable';
import type { Reaction } from './faultMatrixTable';
import { mutationSection } from './mutationPage';
import { NETWORK_SECTIONS } from './networkPage';

const INTRO = `# Reliability

What the node does when a request goes wrong. A test stands behind every cell of this page: it runs every
operation of the node against a server with the fault, counts the requests that arrive, compares the words, and
looks for the access token in all that comes out. The page is generated from the table the test
uses (\`npm run generate\`).

Every failure names what happened, how to go on, the request, and status and request ID where the server gave
them. With _On Error_ set to one of the _Continue_ settings, the item comes out with the same words and the
others run on.

## The kinds of operation

`;

const KIND_ROWS = [
	[
		'Writes',
		'_Create_, _Delete_ and _Copy_ of every resource; _Store: Create Namespace_; _Document: Start Processing_',
	],
	['Updates', '_Knowledgebase: Update_, which changes nothing more when it arrives twice'],
	[
		'Reads',
		'_Search_, _Count_ and _Get_ of every resource; each page of a list is a request; the lists to choose from in the editor',
	],
	['Uploads', '_File Context: Upload_, _File: Upload_'],
	['Submit', '_Document: Submit_, whose documents always carry an ID'],
	[
		'Submit, uploads',
		'the files and texts that _Document: Submit_ uploads before it stores their documents',
	],
	['Submit, memory', 'what _Runs Again_ asks of earlier runs, before anything is sent'],
	['Run and Wait', '_Thread: Run and Wait_'],
	[
		'Run and Wait, files',
		'the files that _Attach Files_ names, uploaded before the message is sent',
	],
	['Start Run', '_Thread: Start Run_'],
	['Wait for Run', '_Thread: Wait for Run_, which goes on looking until the run has ended'],
	['Cancel Run', '_Thread: Cancel Run_, which looks first whether the run goes on'],
	[
		'Trigger',
		'a poll of _Xpert AI Trigger_. One that fails gives nothing and forgets nothing: the next one gives what there is, once',
	],
];

const WORDS_HEADING = '\n\n## What the words in the table mean\n\n';

const LEGEND: Array<[Reaction, string]> = [
	[
		'fails',
		'one request; the item fails with the words given. Nothing is sent a second time. Where a success was no answer of this operation, it is said that the server may have done the work.',
	],
	[
		'goes through',
		'one request; what the server sent is taken as its answer. So is an empty list where the answer is a list.',
	],
	[
		'asks twice',
		'the same request again after a second. What the server says twice in a row is believed: the item fails with the words given. Nothing was done.',
	],
	[
		'sends again',
		'sent again after a wait, never before the time in Retry-After: up to 3 tries within half a minute; _Submit_ as long as _Retry for (Minutes)_ says, ten minutes at first; the message of _Run and Wait_ up to 5 tries. Where somebody else than the server seems to answer (a 404 that is not of the API, a success that is not its answer), it is sent up to three times in a row, a second apart; the 404 of an address that has answered in this execution counts as any passing fault. If the fault passes, nothing is noticed; if it lasts, the item fails with the words given. Nothing was stored or begun by it; an update may have been done, or a file uploaded.',
	],
	[
		'sends again (?)',
		'as _sends again_; if the fault lasts, the documents are reported as _unknown_. Sending them once more under their IDs replaces them, and a batch of several documents that gets no answer in time three times in a row is sent in halves.',
	],
	[
		'sends halves',
		'the batch is cut in two and both halves are sent, down to single documents; those the server takes are stored, the others fail with the words given.',
	],
	[
		'sends halves (?)',
		'as _sends halves_; those that the server does not take are reported as _unknown_: the batch as a whole may have stored them.',
	],
	[
		'reads the thread',
		'the message is not sent again. The node reads the thread and takes the answer from it when the run ends; if the message is not there, the item fails with “The message did not reach the assistant.” before the words given.',
	],
	[
		'looks in the list',
		'the run is not started again. The node looks for a run on the thread that was not there before; where it finds none, the item fails with “The run may have begun, but nothing of it is to be seen.” before the words given.',
	],
	[
		'looks until the deadline',
		'the run is read again and again. If the fault lasts until _Deadline (Minutes)_, or for a minute of a run that could not be read once, the item fails with the words given.',
	],
	[
		'looks at the deadline',
		'the request may take as long as _Deadline (Minutes)_; then the node looks at the thread once. If the run has ended, the answer is taken from there; else the item fails with “The run was still going on when the deadline came” or, where the thread shows nothing of it, “The message may have reached the assistant, but nothing of it was to be seen when the deadline came”.',
	],
];

const OUTRO = `
An upload of _Submit_ or of a run may be sent again at any time: the file that an earlier try has left on the
server is named by nothing, and no assistant finds it.

- One of _Submit_ that fails for good takes out its own document and no other. Of a server without uploads (404 of the API for its route)
  it says: “${NO_UPLOADS}”.
- One of a run that fails for good fails its item, and the message is not sent. Before the words given stands
  which binary field it is: “${NOT_UPLOADED}”. Its uploads have the time until the deadline.

Waits grow from half a second to half a minute, with chance in them. _Retry for (Minutes)_ of _Submit_ limits
them. A Retry-After that goes beyond the time for tries ends them at once, and the item says how
long the server asks to wait.

## Very large answers

An answer is held in memory as a whole, as n8n's HTTP helper gives it. One of 200 MB comes through, or fails
with the words of its status, and takes up to about a gigabyte while it is read. Ask servers for less at
once with _Limit_.

## When n8n itself is the fault

- Pressing Stop, or n8n's own time limit for executions, ends a submission, a wait for the next try and a run
  that is followed within a second; nothing is sent after it.
- n8n killed in the middle of a submission, or a worker in queue mode: the execution counts as crashed or failed,
  and n8n does not begin it again. Run the workflow again: documents with an ID are neither lost nor doubled
  ([bulk-ingestion.md](bulk-ingestion.md)).
- _Retry On Fail_ runs the whole node again, for all items. Use it for operations that may be done twice and
  for documents with an ID; a thread would be asked again.
- When an execution has ended, no connection, timer or file of it is left open, however it ended.
- 100,000 items of 1 KB go through _Submit_ in an n8n with 1 GB of heap.
- A file of 500 MB that n8n keeps on disk takes _Submit_ less than 150 MB of memory to upload, store and process,
  and so do 2,000 texts.

## A proxy in front of the server

nginx, as it is installed, takes requests up to 1 MB and waits 60 seconds for an answer.

- It answers 413 to a batch that is larger: the batch is cut into halves until they fit. To an upload this
  is the last word: raise its \`client_max_body_size\`.
- It answers 504 to a run that takes longer: the node follows the run on its thread and gives the answer. A batch
  that takes longer is sent in halves after three tries.
- It is restarted in the middle of a submission: batches that may not have arrived are sent again.
${NETWORK_SECTIONS}
## The access token

- It goes to the origin of the Base URL only. Redirects are not followed, and an ID is always one segment of
  the path, also if it looks like an address.
- _Allowed HTTP Request Domains_ of the credential holds for every operation and every list in the editor.
- It stands in no error, hint or log, also when a server repeats it in what it says of a failure: in its reason, a
  request ID, the code of a database or an address, as it is or in another case, percent-encoded, escaped for JSON
  or HTML, in hexadecimal digits or in base64; and
  in what a success tells of a run or a document that did not end well. The answer of a success itself is yours: it
  comes out as the server gave it.
- What servers say of a failure comes out as one line of plain text, without markup, of at most 500 characters. Of a
  page, the title is told. At most 16 KB of it are read.
- Certificates are always checked; there is no switch to turn that off. With one that is not trusted nothing is
  sent: “The server could not be reached: its certificate is self-signed and not trusted
  (DEPTH_ZERO_SELF_SIGNED_CERT)”. To trust a certificate of your own, give
  it to n8n with the environment variable \`NODE_EXTRA_CA_CERTS\`.
- The \`client_secret\` of _Chat Session: Create_ can call the API: made with the key of a user or an assistant, it
  deletes knowledgebases and makes further secrets without end, and the chosen assistant limits nothing. Use a key made
  for it, and keep the secret on your own server. It comes out of that operation only; n8n hides it where executions
  are shown, but keeps it in their data, so do not save them longer than needed.
- The IDs of threads and conversations are as good as passwords: any key of the organization that knows one reads,
  renames and deletes.
`;

/** The page: the table of the fault matrix with the words around it. */
export function reliabilityPage(): string {
	const kinds = markdownTable(['In the table', 'Operations'], KIND_ROWS);
	const legend = markdownTable(
		['Word', 'Meaning'],
		LEGEND.map(([word, meaning]) => [`**${word}**`, meaning]),
	);
	const table = markdownTable(
		['Fault', ...KINDS.map((kind) => KIND_TITLES[kind]), 'Words'],
		FAULTS.map((fault) => {
			const { words, reactions } = rowOf(fault);
			const cells = KINDS.map((kind: Kind) => reactions[kind]);
			return [fault.title, ...cells, words ? `“${words}”` : ''];
		}),
	);
	const heading =
		'\n\n## The fault matrix\n\n“not today” stands for the reason the server gives, “…” for what the answer of the operation lacks.\n\n';
	return `${INTRO}${kinds}${WORDS_HEADING}${legend}${heading}${table}\n${OUTRO}${mutationSection()}`;
}
