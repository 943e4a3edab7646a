import { type DestinationStream, type Logger, pino } from 'pino';
import { describeFault } from './faults.ts';
import { scrub } from './scrub.ts';

/** Fields whose values must not be logged. The values are replaced. */
const redactedFields = ['tokenUUID', 'authorization', 'cookie', 'contactEmailaddress', 'headers', 'body', 'url'];

/**
 * Creates a log with one JSON object per line, by default on standard error: standard output is reserved for results.
 * Lines are written synchronously, so that the last one before an exit is not lost. As a last safeguard, every complete
 * line is scrubbed.
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
      redact: { paths: redactedFields.flatMap((name) => [name, `*.${name}`]), censor: '…' },
      hooks: { streamWrite: scrub },
    },
    destination,
  );
