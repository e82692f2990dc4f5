import { Settings } from 'luxon';
import type { IPollFunctions } from 'n8n-workflow';

import { searchChanges } from '../../../nodes/XpertAiTrigger/conversations';
import { parsing, success } from '../support/send';

const NOON = Date.UTC(2026, 0, 1, 12);

describe('the time of a change', () => {
	const timeOf = async (updatedAt: string) => {
		const items = [
			{ id: 'b', updatedAt: '2027' },
			{ id: 'a', updatedAt },
		];
		const send = parsing(() => success({ items, total: 2 }));
		const search = searchChanges({} as IPollFunctions, send);
		return (await search({ order: 'DESC', limit: 2 })).changes[1]?.at;
	};

	it.each([
		['2026-01-01T12:00:00.000Z', NOON],
		['2026-01-01T13:00:00.000+01:00', NOON],
		['2026-01-01T12:00:00', NOON],
		['2026-01-01T12:00:00.000999Z', NOON],
		['', NaN],
	])('%j is read, as one of UTC where it names no zone', async (text, time) => {
		const { defaultZone } = Settings;
		Settings.defaultZone = 'Asia/Tokyo';
		expect(await timeOf(text)).toBe(time);
		Settings.defaultZone = defaultZone;
	});
});
