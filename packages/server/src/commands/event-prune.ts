/** `firsthand event prune`: removes event names that pages added and only one sender used. */
import type { Client } from '@firsthand/client';
import type { Command } from 'commander';
import { formatCount } from '../shared/format-count.ts';
import { printJSON, printLine, toTable } from './shared/printing.ts';
import { addServerOptions, connect, type ServerOptions } from './shared/server.ts';

/** Newer names are kept, because a second sender might still use them. */
const minAgeMilliseconds = 24 * 3_600_000;
/** Events this close together might come from one sender that uses any number of userUUIDs. */
const burstMilliseconds = 3_600_000;

export const definePrune = (command: Command): void => {
  addServerOptions(command)
    .option('--dry-run', 'only list the names')
    .addHelpText(
      'after',
      `
A name counts as used by one sender if all its events are from one user (browser) or happened within one hour. Names
stay if they are less than 24 hours old, were used by a server token or listed with updateAccount, are merged with others,
or if their first events are deleted. The events of a removed name stay, under its eventID.`,
    )
    .action(prune);
};

/** Whether all `count` events of an eventID are from one user. False if retention has deleted some of them. */
const hasOneUser = async (client: Client, eventID: number, count: number): Promise<boolean> => {
  const users = new Set<string>();
  let events = 0;
  // Starts with a small page, because most such names have few events.
  for (let limit = 10, cursor: string | undefined; ; limit = 1_000) {
    const { event, nextCursor } = await client.getEvent({ eventID, limit, cursor });
    for (const { userUUID } of event) users.add(userUUID);
    events += event.length;
    if (users.size > 1 || !nextCursor) return users.size === 1 && events === count;
    cursor = nextCursor;
  }
};

const prune = async (options: ServerOptions & { readonly dryRun?: boolean }): Promise<void> => {
  const client = await connect(options);
  const { account } = await client.getAccount({});
  const { eventDefinition = [] } = await client.getEvent({ include: ['definition'], limit: 1 });
  const definitions = new Map(eventDefinition.map((definition) => [definition.eventID, definition]));
  // updateAccount refuses to remove merge targets.
  const mergeTargets = new Set(account.event.map(({ mergedInto }) => mergedInto));
  const pruned: { eventID: number; eventName: string; count: number }[] = [];
  for (const { eventID, eventName, byBrowser, mergedInto } of account.event) {
    if (!byBrowser || eventName === String(eventID) || mergedInto !== undefined || mergeTargets.has(eventID)) continue;
    const definition = definitions.get(eventID);
    if (definition === undefined) continue;
    const { count } = definition;
    const [first, last] = [Date.parse(definition.firstTime), Date.parse(definition.lastTime)];
    if (Date.now() - first < minAgeMilliseconds) continue;
    const isBurst = last - first < burstMilliseconds;
    if (isBurst || (await hasOneUser(client, eventID, count))) pruned.push({ eventID, eventName, count });
  }
  if (!options.dryRun && pruned.length > 0)
    await client.updateAccount({ event: pruned.map(({ eventID }) => ({ eventID, remove: true, force: true })) });
  if (options.json) return printJSON({ pruned, dryRun: options.dryRun ?? false });
  if (pruned.length === 0) return printLine('There are no names to remove');
  printLine(
    toTable([
      ['ID', 'NAME', 'EVENTS'],
      ...pruned.map(({ eventID, eventName, count }) => [`${eventID}`, eventName, `${count}`]),
    ]),
  );
  printLine(options.dryRun ? 'Nothing was removed' : `Removed ${formatCount(pruned.length, 'name')}; the events stay`);
};
