import axios from 'axios';
import { z } from 'zod';

import type { N8n } from '../../../host/host';
import { SESSION_COOKIE } from '../../../host/n8nRestClient';

/** The names of our nodes in what an n8n tells its editor, without those it derives for AI agents. */
export async function nodeTypesOf({ url, rest }: N8n): Promise<string[]> {
	const { token, browserId } = rest.session;
	const headers = { cookie: `${SESSION_COOKIE}=${token}`, 'browser-id': browserId };
	const { data } = await axios.get<unknown>(`${url}/types/nodes.json`, { headers, proxy: false });
	const names = z
		.array(z.object({ name: z.string() }))
		.parse(data)
		.map(({ name }) => name);
	return names.filter((name) => /xpertai(trigger)?$/i.test(name)).sort();
}
