/** The command line. */
import { runCommand } from './commands/program.ts';

// Files are readable for their owner only, because databases, their logs and their copies hold personal data.
process.umask(0o077);

void runCommand(process.argv.slice(2));
