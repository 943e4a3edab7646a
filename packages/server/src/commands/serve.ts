import type { Command } from 'commander';
import { type Config, findMisspelledSettings, readConfig, type SettingName, settings } from '../config/config.ts';
import { wasStartedByNpm, watchParent } from '../serving/parent-process.ts';
import { version } from '../shared/version.ts';
import { addSettings, toFlags } from './shared/flags.ts';
import { printLine } from './shared/printing.ts';

const names = Object.keys(settings) as SettingName[];

/** EX_SOFTWARE (sysexits.h), which distinguishes a fatal fault from a failed start. */
const fatalExitCode = 70;
/** Under npm, a signal that arrives this soon after the first counts as the same signal. */
const sameSignalMs = 500;
/** The process exits after this time even if the shutdown is incomplete, so that it takes less than five seconds. */
const stopLimitMs = 4_900;

export const define = (command: Command): void => {
  addSettings(command, names)
    .option('--demo', 'serve a demo page; creates the first account if there is none')
    .action((options) => run(readConfig(process.env, toFlags(names, options)), Boolean(options.demo)));
};

const run = async (config: Config, demo: boolean): Promise<void> => {
  // With the demo, startup log lines would clutter the welcome message.
  const level = config.logLevel ?? (demo ? 'warn' : 'info');
  const [{ serve }, { createLog }] = await Promise.all([import('../serving/serve.ts'), import('../logging/log.ts')]);
  const log = createLog(level);
  log.info({ version, node: process.versions.node }, 'starting');
  for (const warning of findMisspelledSettings(process.env)) log.warn(warning);
  // Registered before startup, so that a signal during startup is not lost.
  const stopSignal = new Promise<NodeJS.Signals>((resolve) => {
    let first: { readonly signal: NodeJS.Signals; readonly now: number } | undefined;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        const now = performance.now();
        first ??= { signal, now };
        // Under npm, Ctrl-C arrives twice: from the terminal, and forwarded by npm.
        const isSame = wasStartedByNpm() && signal === first.signal && now - first.now < sameSignalMs;
        if (now > first.now && !isSame) process.exit(1);
        resolve(signal);
      });
    }
    watchParent(() => resolve('SIGTERM'));
  });

  // Uncaught exceptions go through the log, which removes secrets.
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'the server failed');
    process.exit(fatalExitCode);
  });

  // Only on a terminal: a link in a log would let anyone who reads the log sign in.
  const firstLink = !demo && process.stdout.isTTY === true;
  const serving = await serve(config, { log, demo, firstLink, onFatal: () => process.exit(fatalExitCode) });
  if (demo) {
    const { welcome } = await import('../demo/welcome.ts');
    process.stdout.write(`${welcome({ ...serving, databaseURL: config.databaseURL, paths: config })}\n`);
  }
  if (firstLink && serving.consoleURL) {
    printLine([
      'The database had no account, so "My site" was created. This one-time link signs in to the console for ten minutes:',
      '',
      serving.consoleURL,
      '',
      'Then invite yourself in Settings › People, or with firsthand login-link <your e-mail address>',
    ]);
  }

  const signal = await stopSignal;
  log.info({ signal }, 'stopping');
  setTimeout(() => {
    log.error('the shutdown took too long');
    process.exit(1);
  }, stopLimitMs).unref();
  process.exitCode = (await serving.close()) > 0 ? 1 : 0;
};
