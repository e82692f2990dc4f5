import path from 'node:path';

import { n8nFolder } from '../../host/paths';

/** n8n's own nodes, which are there once the pinned n8n was installed. */
export const NODES_BASE = path.join(n8nFolder, 'node_modules', 'n8n-nodes-base');
