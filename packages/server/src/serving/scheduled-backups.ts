/** Makes scheduled backups while the server runs (BACKUP_DIR, BACKUP_EVERY, BACKUP_KEEP). */
import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { repeat } from '../shared/repeat.ts';
import type { Backups, FolderBackup } from '../store/scheduled-backups.ts';

const bin = fileURLToPath(new URL('../../bin/firsthand.js', import.meta.url));

/** The pause after a failed attempt, unless the period is shorter. */
const retryMs = 900_000;
/** Node's timers are limited to 24 days. */
const maxPauseMs = 86_400_000;
const maxOutput = 4_096;

interface BackupPlan {
  readonly databaseURL: string;
  readonly folder: string;
  readonly everyMs: number;
  readonly keep: number;
}

export type MakeBackup = (plan: BackupPlan, backups: Backups, signal: AbortSignal) => Promise<FolderBackup>;

/**
 * Runs `firsthand backup` in a separate process, so that its memory use or a crash does not affect the server. If the
 * process fails or `signal` aborts it, the promise rejects and no partial backup remains.
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
        // The process might have exited; nothing depends on its priority.
      }
    });
    const end = (code: number | null, error?: Error) => {
      signal.removeEventListener('abort', stop);
      if (code === 0) {
        try {
          return resolve(JSON.parse(output.stdout));
        } catch {
          return reject(new Error(`the backup process printed something other than JSON: ${output.stdout}`));
        }
      }
      try {
        backups.removeDrafts();
      } catch {
        // The folder might be gone, which would explain the failure.
      }
      reject(error ?? new Error(output.stderr.trim() || 'the backup process was killed'));
    };
    child.on('error', (error) => end(null, error));
    child.on('close', (code) => end(code));
  });

export interface ScheduledBackups {
  /** The time of the newest backup, in milliseconds since 1970; undefined if there is none. */
  newestTime(): number | undefined;
  /** Aborts the current backup, and resolves when its process has exited. */
  stop(): Promise<void>;
}

interface ScheduleOptions extends BackupPlan {
  readonly backups: Backups;
  readonly log: Logger;
  readonly make?: MakeBackup;
  /** The current time, in milliseconds since 1970. */
  readonly now?: () => number;
  readonly repeating?: typeof repeat;
}

/**
 * The pause before the first backup after startup. Ignores a `newest` in the future, which comes from a wrong clock.
 */
export const initialPause = (newest: number | undefined, everyMs: number, now: number): number =>
  newest === undefined || newest > now ? 0 : Math.max(0, newest + everyMs - now);

/**
 * Makes a backup each period. After a failure, which is logged, it retries after 15 minutes, or after one period if
 * that is shorter.
 */
export const startBackups = (options: ScheduleOptions): ScheduledBackups => {
  const { backups, log, everyMs, make = backUpInProcess, now = Date.now, repeating = repeat } = options;
  let newest: number | undefined;
  const updateNewest = () => {
    newest = backups.list().find(({ time }) => time <= now())?.time;
  };
  let remainingMs: number | undefined;

  const attempt = async (signal: AbortSignal): Promise<number> => {
    const began = performance.now();
    try {
      const { file, bytes, removed } = await make(options, backups, signal);
      const milliseconds = Math.round(performance.now() - began);
      log.info({ file, bytes, removed, milliseconds }, 'a backup was made and verified');
      updateNewest();
      return everyMs;
    } catch (err) {
      if (signal.aborted) return 0;
      log.error({ err }, 'no backup was made');
      return Math.min(everyMs, retryMs);
    }
  };

  const stop = repeating(async (signal) => {
    if (remainingMs === undefined) {
      try {
        updateNewest();
        backups.removeDrafts();
      } catch (err) {
        log.error({ err }, 'the backups could not be listed');
      }
      remainingMs = initialPause(newest, everyMs, now());
    }
    if (remainingMs <= 0) remainingMs = await attempt(signal);
    const pause = Math.min(remainingMs, maxPauseMs);
    remainingMs -= pause;
    return pause;
  });
  return { newestTime: () => newest, stop };
};
