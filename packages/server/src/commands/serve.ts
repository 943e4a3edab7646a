import type { Command } from 'commander';
import { type Config, type SettingName, settings } from '../config.ts';
import { followParent, isBelowNpm } from '../parent-process.ts';
import type { serve as Serve } from '../serve.ts';
import { version } from '../version.ts';
import { addSettings, settingsOf } from './flags.ts';

const names = Object.keys(settings) as SettingName[];

/** EX_SOFTWARE of sysexits.h, told apart from a start that failed. */
const fatalExitCode = 70;
/** Below npm, signals that come so soon after the first are the same one. */
const sameSignalMs = 500;
/** A stop takes less than five seconds, whatever happens. */
const stopLimitMs = 4_900;

export const define = (command: Command): void => {
  addSettings(command, names)
    .option('--demo', 'with a demo page, and a first account made when there is none')
    .action((options) => run(settingsOf(names, options), Boolean(options.demo)));
};

/** One process, or several. */
const serverFor = async (config: Config): Promise<typeof Serve> => {
  if (config.workers === 1) return (await import('../serve.ts')).serve;
  const { serveWithWorkers } = await import('../workers/serve.ts');
  return (config, options) => serveWithWorkers(config, { ...options, command: process.argv[1] as string });
};

const run = async (config: Config, demo: boolean): Promise<void> => {
  // A line a start is no use to somebody who reads the welcome in a terminal.
  const level = config.logLevel ?? (demo ? 'warn' : 'info');
  const [serve, { createLog }] = await Promise.all([serverFor(config), import('../log.ts')]);
  const log = createLog(level);
  log.info({ version, node: process.versions.node }, 'starting');
  // Before the start, so that a signal during it is not lost.
  let signalled: (signal: NodeJS.Signals) => void = () => {};
  const stopAsked = new Promise<NodeJS.Signals>((resolve) => {
    signalled = resolve;
  });
  let first: { readonly signal: NodeJS.Signals; readonly now: number } | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      const now = performance.now();
      first ??= { signal, now };
      // Ctrl-C reaches a process below npm twice: from the terminal, and from npm, which passes it on.
      const isSame = isBelowNpm() && signal === first.signal && now - first.now < sameSignalMs;
      if (now > first.now && !isSame) process.exit(1);
      signalled(signal);
    });
  }
  followParent(() => signalled('SIGTERM'));

  // A fault of the program: what it says goes through the log, where secrets are taken out.
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'the server has failed');
    process.exit(fatalExitCode);
  });

  const serving = await serve(config, { log, demo, onFatal: () => process.exit(fatalExitCode) });
  if (demo) {
    const { welcome } = await import('../demo/welcome.ts');
    process.stdout.write(`${welcome({ url: serving.url, databaseURL: config.databaseURL, demo: serving.demo })}\n`);
  }

  const signal = await stopAsked;
  log.info({ signal }, 'stopping');
  setTimeout(() => {
    log.error('the stop took too long');
    process.exit(1);
  }, stopLimitMs).unref();
  process.exitCode = (await serving.close()) > 0 ? 1 : 0;
};
