import { replays } from './support/replay';

replays(['searchable', 'runs', 'interrupts', 'turn-lock']);
