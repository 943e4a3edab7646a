import type { Command } from 'commander';
import { type Config, findMisspelledSettings, readConfig, type SettingName, settings } from '../config/config.ts';
import { followParent, isBelowNpm } from '../serving/parent-process.ts';
import { version } from '../shared/version.ts';
import { addSettings, flagsOf } from './shared/flags.ts';
import { printLine } from './shared/printing.ts';

const names = Object.keys(settings) as SettingName[];

/** EX_SOFTWARE of sysexits.h, to distinguish a fatal fault from a failed start. */
const fatalExitCode = 70;
/** Below npm, a signal that arrives this soon after the first counts as the same. */
const sameSignalMs = 500;
/** The time after which a stop is given up and the process exits, so that a stop takes less than five seconds. */
const stopLimitMs = 4_900;

export const define = (command: Command): void => {
  addSettings(command, names)
    .option('--demo', 'serve a demo page; creates the first account if there is none')
    .action((options) => run(readConfig(process.env, flagsOf(names, options)), Boolean(options.demo)));
};

const run = async (config: Config, demo: boolean): Promise<void> => {
  // With the demo, log lines about the start would disturb the welcome in the terminal.
  const level = config.logLevel ?? (demo ? 'warn' : 'info');
  const [{ serve }, { createLog }] = await Promise.all([import('../serving/serve.ts'), import('../logging/log.ts')]);
  const log = createLog(level);
  log.info({ version, node: process.versions.node }, 'starting');
  for (const warning of findMisspelledSettings(process.env)) log.warn(warning);
  // Signal handlers are set before the start, so that a signal during it is not lost.
  const stopAsked = new Promise<NodeJS.Signals>((resolve) => {
    let first: { readonly signal: NodeJS.Signals; readonly now: number } | undefined;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        const now = performance.now();
        first ??= { signal, now };
        // A Ctrl-C reaches a process below npm twice: from the terminal, and from npm, which passes it on.
        const isSame = isBelowNpm() && signal === first.signal && now - first.now < sameSignalMs;
        if (now > first.now && !isSame) process.exit(1);
        resolve(signal);
      });
    }
    followParent(() => resolve('SIGTERM'));
  });

  // Faults of the program go through the log, which removes secrets.
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'the server has failed');
    process.exit(fatalExitCode);
  });

  // A link in a log would let every reader of the log sign in.
  const firstLink = !demo && process.stdout.isTTY === true;
  const serving = await serve(config, { log, demo, firstLink, onFatal: () => process.exit(fatalExitCode) });
  if (demo) {
    const { welcome } = await import('../demo/welcome.ts');
    process.stdout.write(`${welcome({ ...serving, databaseURL: config.databaseURL, paths: config })}\n`);
  }
  if (firstLink && serving.consoleURL) {
    printLine([
      'The database had no account: "My site" was created. This link signs in to the console once, within ten minutes:',
      '',
      serving.consoleURL,
      '',
      'Then invite yourself in Settings › People, or with firsthand login-link <your e-mail address>',
    ]);
  }

  const signal = await stopAsked;
  log.info({ signal }, 'stopping');
  setTimeout(() => {
    log.error('the stop took too long');
    process.exit(1);
  }, stopLimitMs).unref();
  process.exitCode = (await serving.close()) > 0 ? 1 : 0;
};
