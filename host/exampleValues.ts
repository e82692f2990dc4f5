import type { WorkflowFile } from './examples';

/** What the examples leave to whoever runs them. */
export interface ExampleValues {
	assistantId: string;
	/** The same, where it is chosen in the node itself. */
	chosenAssistantId: string;
	/** Of an assistant whose filter takes the department of a question. */
	departmentAssistantId: string;
	/** Of a knowledgebase that has an embedding model. */
	knowledgebaseId: string;
	/** A folder of files that n8n may read. */
	folder: string;
	/** The address of the n8n. */
	n8nUrl: string;
}

/** What stands in the examples in place of these: the node quotes it where it is left, so it says where to fill it in. */
export const PLACEHOLDERS: ExampleValues = {
	assistantId: 'set-your-assistant-id-in-Settings',
	chosenAssistantId: 'choose-your-assistant',
	departmentAssistantId: 'set-your-department-assistant-id-in-Settings',
	knowledgebaseId: 'set-your-knowledgebase-id-in-Settings',
	folder: '/home/node/.n8n-files/your-folder',
	n8nUrl: 'http://localhost:5678',
};

/** What makes the examples ready to run in an n8n that has the documents, beside a sandbox. */
export const sandboxValues = (n8nUrl: string): ExampleValues => ({
	assistantId: 'd0000000-0000-4000-8000-000000000001',
	chosenAssistantId: 'd0000000-0000-4000-8000-000000000001',
	departmentAssistantId: 'd0000000-0000-4000-8000-000000000006',
	knowledgebaseId: 'e0000000-0000-4000-8000-000000000001',
	folder: 'documents',
	n8nUrl,
});

/** A workflow with values in place of the placeholders, in nodes and notes alike. */
export function filledIn(file: WorkflowFile, values: ExampleValues): WorkflowFile {
	const keys = Object.keys(PLACEHOLDERS) as Array<keyof ExampleValues>;
	const text = keys.reduce(
		(soFar, key) => soFar.replaceAll(PLACEHOLDERS[key], () => asInJson(values[key])),
		JSON.stringify(file),
	);
	return JSON.parse(text) as WorkflowFile;
}

const asInJson = (text: string): string => JSON.stringify(text).slice(1, -1);
