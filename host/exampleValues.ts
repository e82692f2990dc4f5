import type { WorkflowFile } from './examples';

/** What the examples leave to whoever runs them. */
export interface ExampleValues {
	assistantId: string;
	/** Of an assistant whose filter takes the department of a question. */
	departmentAssistantId: string;
	/** Of a knowledgebase that has an embedding model. */
	knowledgebaseId: string;
	/** A folder of files that n8n may read. */
	folder: string;
	/** The address of the n8n. */
	n8nUrl: string;
}

/** What stands in the examples in place of these. */
export const PLACEHOLDERS: ExampleValues = {
	assistantId: 'your-assistant-id',
	departmentAssistantId: 'your-department-assistant-id',
	knowledgebaseId: 'your-knowledgebase-id',
	folder: '/home/node/.n8n-files/your-folder',
	n8nUrl: 'http://localhost:5678',
};

/** What makes the examples ready to run in an n8n that has the documents, beside a sandbox. */
export const sandboxValues = (n8nUrl: string): ExampleValues => ({
	assistantId: 'd0000000-0000-4000-8000-000000000001',
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
