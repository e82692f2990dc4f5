import { Readable } from 'node:stream';
import type { Clock } from '../clock';
import type { RunEvent, Speech } from '../speech';

export const STREAM_HEADERS = {
	'cache-control': 'private, no-cache, no-store, must-revalidate, max-age=0, no-transform',
	'x-accel-buffering': 'no',
};

/** So often a silent stream says that it is still there. */
const KEEP_ALIVE_MS = 30_000;

const EVENT_ID = /^(\d+)(?:-(\d+))?$/;

const written = ({ id, name, data }: RunEvent): string =>
	`${name === undefined ? '' : `event: ${name}\n`}id: ${id}\ndata: ${JSON.stringify(data)}\n\n`;

/** A stream that says at once why there will be no events. Its status is that of a success all the same. */
const refusal = (why: string): Readable =>
	Readable.from([`\nevent: error\nid: 1\ndata: ${why}\n\n`], { objectMode: false });

/**
 * What is said in a run, from its beginning or from after an event on, until the run has ended: a run that went on
 * after it had waited is heard to its first end only. Without a run, and behind its last event, it stays open and
 * silent (`streams` "join a run that does not exist").
 *
 * @param after the id of the event that was heard last
 */
export function eventStream(clock: Clock, speech: Speech | undefined, after?: string): Readable {
	if (after !== undefined && !EVENT_ID.test(after)) {
		return refusal('ERR Invalid stream ID specified as stream command argument');
	}
	const stream = new Readable({ read: () => undefined });
	stream.push('\n');
	const hear = (event: RunEvent) => {
		if (stream.readableEnded || stream.destroyed) return;
		stream.push(written(event));
		if (event.name !== 'complete') return;
		leave();
		stream.push(null);
	};
	let isOver = false;
	const stop = speech?.listen(hear);
	const leave = () => {
		isOver = true;
		stop?.();
	};
	for (const event of speech?.events ?? []) {
		if (!isOver && isAfter(event.id, after)) hear(event);
	}
	stream.once('close', leave);
	void keepAlive(clock, stream, () => isOver);
	return stream;
}

function isAfter(id: string, other: string | undefined): boolean {
	const [, ms = '0', place = other === undefined ? '-1' : '0'] = EVENT_ID.exec(other ?? '') ?? [];
	const [, ownMs, ownPlace] = EVENT_ID.exec(id) ?? [];
	return Number(ownMs) > Number(ms) || (ownMs === ms && Number(ownPlace) > Number(place));
}

async function keepAlive(clock: Clock, stream: Readable, isOver: () => boolean): Promise<void> {
	while (!isOver()) {
		await clock.sleep(KEEP_ALIVE_MS);
		if (!isOver()) stream.push(': keep-alive\n\n');
	}
}
