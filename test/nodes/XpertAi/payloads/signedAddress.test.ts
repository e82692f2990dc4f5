import { readFileSync } from 'node:fs';
import path from 'node:path';

import { map, uniq } from 'lodash';

import { projectRoot } from 'host/paths';
import { SIGNATURE_SCHEMES, unsignedAddress } from 'nodes/XpertAi/payloads/signedAddress';
import { expectGenerated, withPart } from 'test/support/generated';

describe('the signature of an address', () => {
	const signed = (query: string) => `https://a.example/b%20c.pdf?v=1&${query}&w=%2F#page=2`;

	it.each([
		['S3', 'X-Amz-Algorithm=A&X-Amz-Credential=C&X-Amz-Date=1&X-Amz-Expires=9&X-Amz-Signature=s'],
		['S3, version 2', 'AWSAccessKeyId=k&Expires=1&Signature=s&x-amz-security-token=t'],
		['Google', 'X-Goog-Credential=C&X-Goog-Date=1&X-Goog-Expires=9&X-Goog-Signature=s'],
		['Google, version 2', 'GoogleAccessId=k&Expires=1&Signature=s'],
		['Azure', 'sv=2024-11-04&st=1&se=2&sr=b&sp=r&skoid=o&sktid=t&spr=https&sig=s%3D'],
		['CloudFront', 'Expires=1&Signature=s&Key-Pair-Id=k'],
		['CloudFront with a policy', 'Policy=p&Signature=s&Key-Pair-Id=k'],
		[
			'Alibaba',
			'x-oss-additional-headers=host&x-oss-credential=C&x-oss-date=1&x-oss-expires=9&x-oss-security-token=t&x-oss-signature=s&x-oss-signature-version=OSS4-HMAC-SHA256',
		],
		[
			'Alibaba, version 2',
			'x-oss-access-key-id=k&x-oss-expires=9&x-oss-signature=s&x-oss-signature-version=OSS2',
		],
		['Alibaba, version 1', 'OSSAccessKeyId=k&Expires=1&Signature=s&security-token=t'],
		[
			'Tencent',
			'q-sign-algorithm=sha1&q-ak=k&q-sign-time=1;2&q-key-time=1;2&q-header-list=host&q-url-param-list=&q-signature=s&x-cos-security-token=t',
		],
		['Huawei', 'AccessKeyId=k&Expires=1&Signature=s&x-obs-security-token=t'],
		[
			'Volcengine',
			'X-Tos-Algorithm=A&X-Tos-Credential=C&X-Tos-Date=1&X-Tos-Expires=9&X-Tos-SignedHeaders=host&X-Tos-Signature=s',
		],
	])('is left out: %s', (_, query) => {
		expect(unsignedAddress(signed(query))).toBe('https://a.example/b%20c.pdf?v=1&w=%2F#page=2');
		expect(unsignedAddress(`https://a.example/b?${query}`)).toBe('https://a.example/b');
	});

	it('is kept in a fragment, which no server gets', () => {
		const address = 'https://a.example/b#page?Expires=1&Signature=s&Key-Pair-Id=k';
		expect(unsignedAddress(address)).toBe(address);
	});

	it.each([
		'X-Amz-Date=1',
		'sig=s&sp=r',
		'sv=1',
		'Signature=s&Expires=1',
		'Expires=1&Key-Pair-Id=k',
		'x-oss-signature=s',
		'security-token=t',
		'q-signature=s',
	])('is kept where it is not whole: %s', (query) =>
		expect(unsignedAddress(signed(query))).toBe(signed(query)),
	);

	it('does not take what asks for another content along', () => {
		const query = 'x-oss-expires=9&x-oss-process=image%2Fcrop&x-oss-signature=s';
		expect(unsignedAddress(signed(query))).toBe(signed('x-oss-process=image%2Fcrop'));
	});

	it('is of the services that the page names', () => {
		const page = path.join(projectRoot, 'docs/bulk-ingestion.md');
		const services = uniq(map(SIGNATURE_SCHEMES, 'service'));
		const names = `${services.slice(0, -1).join(', ')} and ${services.at(-1)}`;
		const sentence = `Of an address, the signatures of ${names} do not count.`;
		expectGenerated(page, withPart(readFileSync(page, 'utf8'), 'signatures', sentence));
	});
});
