import type { Command } from 'commander';
import { WrongUsage } from './failing.ts';
import { collect, jsonFlag } from './flags.ts';
import { printable, printJSON, printLine, toTable } from './printing.ts';
import { addServer, connect } from './server.ts';

export const define = (command: Command): void => {
  addServer(command.command('log').description('log an event'))
    .requiredOption('--event-id <number>', 'what happened')
    .option('--user <userUUID>', 'to which browser')
    .option('--contact <contactUUID>', 'to which contact')
    .option('--attr <id=value>', 'an attribute; several times for several', collect)
    .option('--event-uuid <eventUUID>', 'repeating one is harmless; made unless given')
    .option('--event-time <time>', 'ISO 8601; now unless given')
    .option(...jsonFlag)
    .action(log);
  addServer(command.command('list').description('list events, newest first'))
    .option('--user <userUUID>', 'of this browser')
    .option('--contact <contactUUID>', 'of this contact')
    .option('--event-id <number>', 'of this kind')
    .option('--attr <id=value>', 'with this attribute')
    .option('--from <time>', 'that happened at this time or later')
    .option('--to <time>', 'that happened before this time')
    .option('--order <order>', 'desc or asc')
    .option('--limit <number>', 'at most so many')
    .option('--cursor <cursor>', 'the page after one that answered this nextCursor')
    .option(...jsonFlag)
    .action(list);
};

type ServerOptions = { readonly url?: string; readonly token?: string; readonly json?: boolean };
type Who = { readonly user?: string; readonly contact?: string };

const parseAttribute = (text: string): { attrID: string; attrValue: string } => {
  const equals = text.indexOf('=');
  if (equals < 1) throw new WrongUsage(`--attr must be id=value; not ${JSON.stringify(text)}`);
  return { attrID: text.slice(0, equals), attrValue: text.slice(equals + 1) };
};

type LogOptions = ServerOptions &
  Who & {
    readonly eventId: string;
    readonly attr?: string[];
    readonly eventUuid?: string;
    readonly eventTime?: string;
  };

const log = async (options: LogOptions): Promise<void> => {
  if (options.user === undefined && options.contact === undefined)
    throw new WrongUsage('--user or --contact is required');
  const eventAttrArray = options.attr?.map(parseAttribute);
  const client = await connect(options);
  const answer = await client.logEvent({
    eventID: options.eventId,
    userUUID: options.user,
    contactUUID: options.contact,
    eventUUID: options.eventUuid,
    eventTime: options.eventTime,
    eventAttrArray,
  });
  if (options.json) return printJSON(answer);
  printLine(`${answer.eventUUID} is kept${answer.duplicate ? ', and was before' : ''}`);
};

type ListOptions = ServerOptions &
  Who & {
    readonly eventId?: string;
    readonly attr?: string;
    readonly from?: string;
    readonly to?: string;
    readonly order?: 'desc' | 'asc';
    readonly limit?: string;
    readonly cursor?: string;
  };

const list = async (options: ListOptions): Promise<void> => {
  const { from, to, order, limit, cursor } = options;
  const attribute = options.attr === undefined ? {} : parseAttribute(options.attr);
  const client = await connect(options);
  const answer = await client.getEvent({
    userUUID: options.user,
    contactUUID: options.contact,
    eventID: options.eventId,
    ...attribute,
    from,
    to,
    order,
    limit,
    cursor,
  });
  if (options.json) return printJSON(answer);
  const rows = answer.event.map(({ eventTime, eventID, eventName, userUUID, contactUUID, eventAttrArray }) => [
    eventTime,
    eventName === String(eventID) ? eventName : `${eventID} ${eventName}`,
    userUUID || '-',
    contactUUID || 'anonymous',
    eventAttrArray.map(({ attrID, attrValue }) => `${attrID}=${attrValue}`).join(' '),
  ]);
  printLine(toTable(['TIME', 'EVENT', 'USER', 'CONTACT', 'ATTRIBUTES'], rows));
  if (answer.nextCursor) process.stderr.write(`There are more: --cursor ${printable(answer.nextCursor)}\n`);
};
