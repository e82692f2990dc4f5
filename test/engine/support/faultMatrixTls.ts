import { createSign, generateKeyPairSync } from 'node:crypto';

/** Identifiers of `ecdsa-with-SHA256` and of a common name, DER-encoded. */
const ECDSA_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');
const COMMON_NAME = Buffer.from('0603550403', 'hex');

const SEQUENCE = 0x30;

function der(tag: number, ...parts: Buffer[]): Buffer {
	const content = Buffer.concat(parts);
	const { length } = content;
	const size =
		length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
	return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const utcTime = (date: Date) =>
	der(
		0x17,
		Buffer.from(
			`${date
				.toISOString()
				.replace(/[-:T]|\.\d+/g, '')
				.slice(2)}`,
		),
	);

/** A key and a certificate that no authority has signed, for a server of a test. */
export function selfSigned(host: string): { key: string; cert: string } {
	const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const name = der(SEQUENCE, der(0x31, der(SEQUENCE, COMMON_NAME, der(0x0c, Buffer.from(host)))));
	const hour = 3_600_000;
	const body = der(
		SEQUENCE,
		der(0x02, Buffer.from([1])),
		der(SEQUENCE, ECDSA_SHA256),
		name,
		der(SEQUENCE, utcTime(new Date(Date.now() - hour)), utcTime(new Date(Date.now() + hour))),
		name,
		publicKey.export({ type: 'spki', format: 'der' }),
	);
	const signature = createSign('sha256').update(body).sign(privateKey);
	const certificate = der(
		SEQUENCE,
		body,
		der(SEQUENCE, ECDSA_SHA256),
		der(0x03, Buffer.from([0]), signature),
	);
	const lines = certificate.toString('base64').replace(/(.{64})/g, '$1\n');
	return {
		key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
		cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
	};
}
