import { sequenceNames } from './support/recordings';
import { replays } from './support/replay';

/** The others are replayed in `sequences`, or as files (`recordedFiles`). */
const ELSEWHERE = ['searchable', 'runs', 'interrupts', 'turn-lock', 'encodings', 'sheets-as-txt'];

replays(sequenceNames.filter((name) => !ELSEWHERE.includes(name)));
