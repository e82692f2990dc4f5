import { startingLine } from '../../host/startProgress';

describe('the progress of a start of n8n', () => {
	it('counts the steps of its database, as its log tells them', () => {
		const loading = 'Initializing n8n process\nn8n ready on 127.0.0.1, port 5678\n';
		expect(startingLine(loading, 15)).toBe('  n8n is loading, 15 s');
		const step = (name: string) => `Starting migration ${name}\nFinished migration ${name}\n`;
		const log = `${loading}${step('InitialMigration1588102412422')}${step('Second2')}Starting migration Third3\n`;
		expect(startingLine(log, 30)).toBe('  n8n sets its database up, 2 steps done, 30 s');
	});
});
