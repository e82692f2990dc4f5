import type { EditorWindow } from './browser';

/** Counts the clicks of the person at a window, from its next page on. */
export class Clicks {
	private sofar = 0;

	private constructor() {}

	static async in({ page }: EditorWindow): Promise<Clicks> {
		const clicks = new Clicks();
		await page.exposeFunction('xpertaiClicked', () => {
			clicks.sofar += 1;
		});
		await page.addInitScript(
			"document.addEventListener('click', (event) => event.isTrusted && window.xpertaiClicked(), true)",
		);
		return clicks;
	}

	/** How many there were since it was asked last. */
	count(): number {
		const { sofar } = this;
		this.sofar = 0;
		return sofar;
	}
}
