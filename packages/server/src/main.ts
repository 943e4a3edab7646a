/** The command line. */
import { runCommand } from './commands/program.ts';

// Files are readable for their owner only, because databases, their logs and their copies hold personal data.
process.umask(0o077);

// A reader such as `head` may close standard output early. A server that loses standard error must not end as if it had succeeded.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

void runCommand(process.argv.slice(2));
