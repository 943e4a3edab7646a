import { type DestinationStream, type Logger, pino } from 'pino';
import { describeFault } from './faults.ts';
import { scrub } from './scrub.ts';

/** Fields that must not be logged. If one is, its value is replaced. */
const never = ['tokenUUID', 'authorization', 'cookie', 'contactEmailaddress', 'headers', 'body', 'url'];

/**
 * A log with one JSON object per line, by default on standard error: standard output is for results. Lines are written
 * synchronously, so that the last one before an exit is not lost. Each is scrubbed as a whole, the last of several safeguards.
 */
export const createLog = (
  level: string,
  destination: DestinationStream = pino.destination({ fd: 2, sync: true }),
): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeFault, fault: (fault) => (fault instanceof Error ? describeFault(fault) : fault) },
      redact: { paths: never.flatMap((name) => [name, `*.${name}`]), censor: '…' },
      hooks: { streamWrite: scrub },
    },
    destination,
  );
