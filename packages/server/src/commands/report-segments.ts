/** `firsthand report segment`: filters that are saved under a name. */
import type { Command } from 'commander';
import { asFilter, toFilter } from './shared/filters.ts';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';
import { addServer, connect, type ServerOptions } from './shared/server.ts';

export const defineSegments = (command: Command): void => {
  addServer(command.command('create <name> <filter>').description('save a filter, or replace the one of that name'))
    .addHelpText('after', `\n<filter> is ${asFilter}. Others use it as {"segment": "<name>"}.`)
    .action(create);
  addServer(command.command('list').description('list the segments by name')).action(list);
  addServer(command.command('delete <name>').description('delete a segment')).action(deleteSegment);
};

const create = async (segmentName: string, text: string, options: ServerOptions): Promise<void> => {
  const filter = toFilter('<filter>', text);
  const answer = await (await connect(options)).createSegment({ segmentName, filter });
  if (options.json) return printJSON(answer);
  printLine(`${answer.segmentName} was ${answer.replaced ? 'replaced' : 'saved'}`);
};

const list = async (options: ServerOptions): Promise<void> => {
  const answer = await (await connect(options)).listSegments({});
  if (options.json) return printJSON(answer);
  const rows = answer.segment.map(({ segmentName, filter, updatedTime }) => [
    segmentName,
    toMinute(updatedTime),
    JSON.stringify(filter),
  ]);
  printLine(toTable([['NAME', 'UPDATED', 'FILTER'], ...rows]));
};

const deleteSegment = async (segmentName: string, options: ServerOptions): Promise<void> => {
  const answer = await (await connect(options)).deleteSegment({ segmentName });
  if (options.json) return printJSON(answer);
  printLine(`${answer.segmentName} was deleted`);
};
