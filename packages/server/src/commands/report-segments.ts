/** `firsthand report segment`: saved filters. */
import type { Command } from 'commander';
import { filterHelp, parseFilter } from './shared/filters.ts';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';
import { addServerOptions, connect, type ServerOptions } from './shared/server.ts';

export const defineSegments = (command: Command): void => {
  addServerOptions(
    command.command('create <name> <filter>').description('save a filter under a name, replacing an existing one'),
  )
    .addHelpText('after', `\n<filter> is ${filterHelp}. Other filters use it as {"segment": "<name>"}.`)
    .action(create);
  addServerOptions(command.command('list').description('list the segments by name')).action(list);
  addServerOptions(command.command('delete <name>').description('delete a segment')).action(deleteSegment);
};

const create = async (segmentName: string, text: string, options: ServerOptions): Promise<void> => {
  const filter = parseFilter('<filter>', text);
  const response = await (await connect(options)).createSegment({ segmentName, filter });
  if (options.json) return printJSON(response);
  printLine(`${response.segmentName} was ${response.replaced ? 'replaced' : 'saved'}`);
};

const list = async (options: ServerOptions): Promise<void> => {
  const response = await (await connect(options)).listSegments({});
  if (options.json) return printJSON(response);
  const rows = response.segment.map(({ segmentName, filter, updatedTime }) => [
    segmentName,
    toMinute(updatedTime),
    JSON.stringify(filter),
  ]);
  printLine(toTable([['NAME', 'UPDATED', 'FILTER'], ...rows]));
};

const deleteSegment = async (segmentName: string, options: ServerOptions): Promise<void> => {
  const response = await (await connect(options)).deleteSegment({ segmentName });
  if (options.json) return printJSON(response);
  printLine(`${response.segmentName} was deleted`);
};
