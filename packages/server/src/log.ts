import { type DestinationStream, type Logger, pino } from 'pino';
import { describeFault } from './faults.ts';
import { scrub } from './scrub.ts';

/** Fields that nobody should log; if somebody does, only their name is written. */
const never = ['tokenUUID', 'authorization', 'cookie', 'contactEmailaddress', 'headers', 'body', 'url'];

/**
 * A log of one JSON object a line, on standard error unless told otherwise: standard output is for what was asked for.
 * Written at once, so that the last line before an end is there; scrubbed as a whole, which is the last of several nets.
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
