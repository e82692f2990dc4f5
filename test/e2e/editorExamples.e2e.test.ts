import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { exampleFiles, readExample } from '../../host/examples';
import { setUpWorkspace } from '../../host/setUp';
import { EditorWindow } from './support/browser';
import { NodePanel } from './support/editorPanel';
import { PANEL, picturePath, readmePicture } from './support/editorPictures';
import { talk } from '../engine/support/conversations';
import { useHarness } from './support/harness';

const harness = useHarness();
const QUESTION = 'How long does the warranty last?';
const inShell = promisify(execFile);
const ANSWER =
	/According to "warranty.pdf": "The warranty for the Hobnell 250 lasts three years [^"]*"/;

/** What the first note of a workflow says. */
function noteIn(nodes: unknown): string {
	const [note] = nodes as Array<{ parameters: { content?: string } }>;
	return note?.parameters.content ?? '';
}

describe('the first five minutes', () => {
	let window: EditorWindow;

	const idOf = (fileName: string) => harness.host.state.examples[fileName] ?? '';
	const shown = (text: string | RegExp) => window.page.getByText(text).last();

	beforeAll(async () => {
		const { url, accessToken: token } = harness.sandbox;
		await setUpWorkspace(harness.host, { url, token }, () => undefined);
		window = await EditorWindow.open(harness.host);
	});
	afterAll(async () => await window?.close());

	it('begin with a list of workflows in the order to open', async () => {
		await window.page.goto(`${harness.host.url}/home/workflows`);
		const cards = window.find('workflow-card-name');
		await cards.first().waitFor();
		await window.screenshot(picturePath('workflows'));
		expect((await cards.allInnerTexts()).map((text) => text.split('\n')[0])).toEqual(
			exampleFiles().map((file) => readExample(file).name),
		);
	});

	it.each(exampleFiles())('show the notes of %s whole', async (file) => {
		await window.openWorkflow(idOf(file));
		await window.screenshot(picturePath(`example-${file.replace('.json', '')}`));
		const notes = window.page.locator('.n8n-sticky');
		const cutOff = await notes.evaluateAll((elements) =>
			elements
				.flatMap((element) => [element, ...element.querySelectorAll('*')])
				.filter(
					({ scrollHeight, clientHeight }) => clientHeight > 40 && scrollHeight > clientHeight + 1,
				)
				.map((element) => element.textContent?.slice(0, 40)),
		);
		expect(cutOff).toEqual([]);
	});

	it('run the first workflow as it is', async () => {
		await window.openWorkflow(idOf('folder-of-files.json'));
		await window.page.getByRole('button', { name: 'Execute workflow' }).last().click();
		await window
			.find('canvas-node-status-success', window.node('Submit Documents'))
			.waitFor({ timeout: 30_000 });
		await window.page.locator('button[aria-busy="true"]').waitFor({ state: 'hidden' });
		await window.screenshot(picturePath('first-run'));
	});

	it('answer in the chat of the editor, quoting a PDF', async () => {
		await window.openWorkflow(idOf('ask-an-assistant.json'));
		await window.page.getByRole('button', { name: 'Open chat' }).last().click();
		const input = window.page.locator('textarea:visible').last();
		await window.page.setViewportSize({ width: 1440, height: 1200 });
		await input.fill(QUESTION);
		await input.press('Enter');
		await shown(ANSWER).waitFor({ timeout: 30_000 });
	});

	it('answer while it is written, with the documents it rests on', async () => {
		// The chat stays open from one workflow to the next, in a third of the height.
		await window.openWorkflow(idOf('answers-as-they-are-written.json'));
		await window.page.setViewportSize({ width: 1440, height: 1360 });
		const input = window.page.locator('textarea:visible').last();
		harness.sandbox.requests.clear();
		await input.fill(QUESTION);
		await input.press('Enter');
		await shown(/^\[1\] warranty\.pdf$/).waitFor({ timeout: 30_000 });
		await shown(ANSWER).waitFor();
		// With a key it takes its turn, and is heard once it has begun.
		expect(harness.sandbox.requests.of('join')).toHaveLength(1);
		await window.page.locator('button[aria-busy="true"]').waitFor({ state: 'hidden' });
		await window.screenshot(readmePicture('chat'));
	});

	it('answer the command of the note', async () => {
		const { nodes } = await harness.host.rest.getWorkflow(idOf('ask-an-assistant.json'));
		const [, command = ''] = /```\n([^]*?)\n```/.exec(noteIn(nodes)) ?? [];
		expect(command).toMatch(/^curl /);
		const { stdout } = await inShell('sh', ['-c', `${command} --silent --noproxy '*'`]);
		expect(JSON.parse(stdout)).toEqual({
			answer: expect.stringMatching(ANSWER),
			threadId: expect.any(String),
		});
	});

	it('answer about a file that is attached in a form', async () => {
		const { page } = window;
		await page.goto(`${harness.host.url}/form/ask-about-a-file`);
		await page.getByLabel('Question').fill('How often do I brush the drum?');
		const file = join(harness.host.documents, 'handbook', 'cleaning-and-care.md');
		await page.locator('input[type="file"]').setInputFiles(file);
		await window.screenshot(picturePath('form'));
		await page.getByRole('button', { name: 'Ask' }).click();
		await shown(/According to "cleaning-and-care.md": "Brush the inside of the drum/).waitFor({
			timeout: 30_000,
		});
		await window.screenshot(picturePath('form-answer'));
		expect(harness.sandbox.requests.of('E12')).toHaveLength(1);
	});

	it('show what the trigger starts for, and what it last would have', async () => {
		const panel = new NodePanel(window);
		await talk(harness.sandbox, 'BOOM', { title: 'Broken' });
		await window.openWorkflow(idOf('alert-on-failed-runs.json'));
		await window.openNode('When a Run Fails');
		expect(await panel.linesWith(['Events', 'Assistant'])).toContain('Simplify');
		await panel
			.find('trigger-execute-button')
			.or(panel.find('node-execute-button'))
			.first()
			.click();
		expect(await panel.outputWith(/Broken/)).toContain('failed');
		await window.screenshot(readmePicture('trigger'), PANEL);
		await panel.close();
	});

	it('make the page complain about nothing', () => {
		expect(window.problems).toEqual([]);
	});
});
