import { spawnSync, type ChildProcess } from 'node:child_process';
import { codeOf } from './messages';

/**
 * Signals a child that was started `detached` together with everything it has started itself. A
 * group that is gone already is no matter. Windows knows no groups and no signals: there the whole
 * tree is ended by force.
 */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
	if (pid === undefined) return;
	if (process.platform === 'win32') {
		spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' });
		return;
	}
	try {
		process.kill(-pid, signal);
	} catch (error) {
		if (codeOf(error) !== 'ESRCH') throw error;
	}
}
