/** Makes backups while the server runs (BACKUP_DIR, BACKUP_EVERY, BACKUP_KEEP). */
import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { repeat } from '../shared/repeat.ts';
import type { Backups, FolderBackup } from '../store/scheduled-backups.ts';

const bin = fileURLToPath(new URL('../../bin/firsthand.js', import.meta.url));

/** The pause after a failed attempt, if the period is longer. */
const retryMs = 900_000;
/** A timer can't be set further ahead than 24 days. */
const longestPauseMs = 86_400_000;
const maxOutput = 4_096;

interface BackupPlan {
  readonly databaseURL: string;
  readonly folder: string;
  readonly everyMs: number;
  readonly keep: number;
}

export type MakeBackup = (plan: BackupPlan, backups: Backups, signal: AbortSignal) => Promise<FolderBackup>;

/**
 * Runs `firsthand backup` in a process of its own, so that neither its memory nor a crash is the server's, and a stop need not wait for
 * it. Rejects when it fails or `signal` aborts it; then nothing of the backup is left.
 */
export const backUpInProcess: MakeBackup = ({ databaseURL, folder, keep }, backups, signal) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, 'backup', '--json'], {
      env: { ...process.env, DATABASE_URL: databaseURL, BACKUP_DIR: folder, BACKUP_KEEP: String(keep) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] = (output[name] + text).slice(0, maxOutput);
      });
    }
    const stop = () => child.kill('SIGKILL');
    signal.addEventListener('abort', stop);
    child.on('spawn', () => {
      try {
        setPriority(child.pid as number, constants.priority.PRIORITY_LOW);
      } catch {
        // It may have ended; nothing depends on its priority.
      }
    });
    const end = (code: number | null, error?: Error) => {
      signal.removeEventListener('abort', stop);
      if (code === 0) {
        try {
          return resolve(JSON.parse(output.stdout));
        } catch {
          return reject(new Error(`the process that makes the backup wrote something else: ${output.stdout}`));
        }
      }
      try {
        backups.removeDrafts();
      } catch {
        // The folder may be gone, which is why the backup failed.
      }
      reject(error ?? new Error(output.stderr.trim() || 'the process that makes the backup was killed'));
    };
    child.on('error', (error) => end(null, error));
    child.on('close', (code) => end(code));
  });

export interface ScheduledBackups {
  /** When the newest backup was made, in milliseconds since 1970; undefined: there is none. */
  newestTime(): number | undefined;
  /** Aborts a backup under way, and resolves when it is gone. */
  stop(): Promise<void>;
}

interface ScheduleOptions extends BackupPlan {
  readonly backups: Backups;
  readonly log: Logger;
  readonly make?: MakeBackup;
  /** The time of day, in milliseconds since 1970. */
  readonly now?: () => number;
  readonly repeating?: typeof repeat;
}

/**
 * How long a server waits at its start. The time of the newest backup comes from the folder. One that was made in the future, by a
 * clock that was wrong, doesn't count.
 */
export const firstPause = (newest: number | undefined, everyMs: number, now: number): number =>
  newest === undefined || newest > now ? 0 : Math.max(0, newest + everyMs - now);

/**
 * Makes a backup each period, counted by a clock that nobody can set. A failure is logged as an error, and the next attempt follows
 * after the period, or 15 minutes if that is longer.
 */
export const startBackups = (options: ScheduleOptions): ScheduledBackups => {
  const { backups, log, everyMs, make = backUpInProcess, now = Date.now, repeating = repeat } = options;
  let newest: number | undefined;
  const look = () => {
    newest = backups.list().find(({ time }) => time <= now())?.time;
  };
  let rest: number | undefined;

  const attempt = async (signal: AbortSignal): Promise<number> => {
    const began = performance.now();
    try {
      const { file, bytes, removed } = await make(options, backups, signal);
      const milliseconds = Math.round(performance.now() - began);
      log.info({ file, bytes, removed, milliseconds }, 'a backup was made and verified');
      look();
      return everyMs;
    } catch (err) {
      if (signal.aborted) return 0;
      log.error({ err }, 'no backup was made');
      return Math.min(everyMs, retryMs);
    }
  };

  const stop = repeating(async (signal) => {
    if (rest === undefined) {
      try {
        look();
        backups.removeDrafts();
      } catch (err) {
        log.error({ err }, 'the backups could not be listed');
      }
      rest = firstPause(newest, everyMs, now());
    }
    if (rest <= 0) rest = await attempt(signal);
    const pause = Math.min(rest, longestPauseMs);
    rest -= pause;
    return pause;
  });
  return { newestTime: () => newest, stop };
};
