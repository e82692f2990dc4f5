import fc from 'fast-check';

import { buildPath } from 'nodes/XpertAi/transport/api';

/** Ids as `readId` lets them through: not empty, no dot segment, well-formed. */
const id = fc
	.string({ unit: 'binary', minLength: 1 })
	.filter((text) => !/\p{Surrogate}/u.test(text) && text !== '.' && text !== '..');

describe('a path', () => {
	it('puts each id into its place', () => {
		expect(buildPath('/knowledges/{knowledgebaseId}/bulk', { knowledgebaseId: 'a-1' })).toBe(
			'/knowledges/a-1/bulk',
		);
		expect(buildPath('/a/{x}/{y}/{x}', { x: '1', y: '2' })).toBe('/a/1/2/1');
		expect(buildPath('/assistants/count', {})).toBe('/assistants/count');
	});

	it('holds any id as exactly one segment that decodes back to it', () => {
		fc.assert(
			fc.property(id, (text) => {
				const path = buildPath('/threads/{threadId}/copy', { threadId: text });
				const url = new URL(`https://example.com/api/ai${path}`);
				const segments = url.pathname.split('/');
				expect(segments).toHaveLength(6);
				expect([segments[3], segments[5]]).toEqual(['threads', 'copy']);
				expect(decodeURIComponent(segments[4] ?? '')).toBe(text);
				expect([url.search, url.hash, url.host]).toEqual(['', '', 'example.com']);
			}),
		);
	});
});
