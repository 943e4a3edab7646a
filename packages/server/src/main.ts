/** The command line. */
import { runCommand } from './commands/program.ts';

// Files are readable for their owner only, because databases, their logs and their copies hold personal data.
process.umask(0o077);

// A reader such as `head` may close its end before a command has printed everything.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

void runCommand(process.argv.slice(2));
