/** The CLI entry point. */
import { runCommand } from './commands/program.ts';

// Files are readable only by their owner: databases, logs and backups hold personal data.
process.umask(0o077);

// A reader such as `head` can close stdout early. Stderr is not handled: a server that loses it must not exit with 0.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

void runCommand(process.argv.slice(2));
