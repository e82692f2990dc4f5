import { sourceNameAndShard } from 'nodes/XpertAi/operations/document/sourceIdentity';
import { submitFields } from 'nodes/XpertAi/operations/document/submit/fields';

import { evaluatingItem as itemWith } from '../../../support/evaluatingItem';
import { thrownBy } from '../../../support/thrown';

describe('a source', () => {
	it('has a name and a shard, each with a sign in every part', () => {
		const parameters = {
			sourceName: '=t-{{ $json.a }}',
			options: { shard: '={{ $json.b }} of 2' },
		};
		expect(sourceNameAndShard(itemWith(parameters, { a: 'x', b: 1 }))).toEqual({
			sourceName: 't-x',
			shard: '1 of 2',
		});
		for (const [json, label] of [
			[{ a: '', b: 1 }, '"Source Name" lacks a part: {{ $json.a }}'],
			[{ a: 'x', b: '' }, '"Shard" lacks a part: {{ $json.b }}'],
		] as const)
			expect(thrownBy(() => sourceNameAndShard(itemWith(parameters, json))).message).toContain(
				label,
			);
	});

	it('may have neither, and has no shard where the operation has none', () => {
		expect(sourceNameAndShard(itemWith({}))).toEqual({ sourceName: '', shard: '' });
		const fields = submitFields.filter(({ name }) => name === 'sourceName');
		const options = { shard: '={{ $json.none }}' };
		expect(sourceNameAndShard(itemWith({ sourceName: 'a', options }, {}, fields)).shard).toBe('');
	});

	it('may come from an expression that gives all options', () => {
		const options = '={{ { shard: $json.part } }}';
		expect(sourceNameAndShard(itemWith({ options }, { part: '1 of 2' })).shard).toBe('1 of 2');
		const asText = '={{ JSON.stringify({ shard: $json.part }) }}';
		expect(sourceNameAndShard(itemWith({ options: asText }, { part: '1 of 2' })).shard).toBe(
			'1 of 2',
		);
		expect(sourceNameAndShard(itemWith({ options }, {})).shard).toBe('');
	});
});
