import type { Part } from '../run/part';
import { chatPart } from './chat';
import { curvesPart } from './curves';
import { dryRunPart } from './dryRun';
import { foundPart } from './found';
import { growthPart } from './growth';
import { loadPart } from './load';
import { memoryPart } from './memory';
import { n8nPart } from './n8n';
import { orderPart } from './order';
import { questionsPart } from './questions';
import { rememberedPart } from './remembered';
import { submitPart } from './submit';
import { threadsPart } from './threads';

/** All parts, in the order of the page. */
export const PARTS: Part[] = [
	submitPart,
	curvesPart,
	n8nPart,
	threadsPart,
	questionsPart,
	chatPart,
	foundPart,
	orderPart,
	memoryPart,
	rememberedPart,
	dryRunPart,
	growthPart,
	loadPart,
];
