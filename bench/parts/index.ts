import type { Part } from '../run/part';
import { chatPart } from './chat';
import { foundPart } from './found';
import { growthPart } from './growth';
import { loadPart } from './load';
import { memoryPart } from './memory';
import { n8nPart } from './n8n';
import { questionsPart } from './questions';
import { rememberedPart } from './remembered';
import { submitPart } from './submit';

/** All parts, in the order of the page: first what a user would choose by. */
export const PARTS: Part[] = [
	n8nPart,
	questionsPart,
	chatPart,
	foundPart,
	memoryPart,
	rememberedPart,
	growthPart,
	loadPart,
	submitPart,
];
