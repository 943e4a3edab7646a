import { type DestinationStream, type Logger, pino } from 'pino';
import { describeFault } from './http/faults.ts';

/** Quotes and backslashes end a match, so that the line stays the JSON that it was. */
const secrets = [
  [/\b(browser|server|operator)_[\w-]{8,}/g, '$1_…'],
  [/[^\s"'\\<>(),;:=/]+@[^\s"'\\<>(),;:/]+\.[^\s"'\\<>(),;:/]+/g, '…@…'],
  [/(\/[^\s"'\\?]*)\?[^\s"'\\]+/g, '$1?…'],
] as const;

/** A line without what must never stand in a log: tokens, e-mail addresses, query strings. The last of several nets. */
export const scrub = (line: string): string =>
  secrets.reduce((kept, [secret, trace]) => kept.replace(secret, trace), line);

/** Fields that nobody should log; if somebody does, only their name is written. */
const never = ['tokenUUID', 'authorization', 'cookie', 'contactEmailaddress', 'headers', 'body', 'url'];

/**
 * A log of one JSON object a line, on standard error unless told otherwise: standard output is for what was asked for.
 * Written at once, so that the last line before an end is there.
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
