/** `firsthand webhook`: the webhooks of an account and their messages, on a running server. */
import type { Command } from 'commander';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';
import { addServerOptions, connect, type ServerOptions } from './shared/server.ts';

export const define = (command: Command): void => {
  addServerOptions(command.command('list').description('list the webhooks with their states')).action(list);
  addServerOptions(
    command.command('deliveries <webhookID>').description('list messages; by default, those that were not sent yet'),
  )
    .option('--after <sequence>', 'the messages after this sequence')
    .option('--failed', 'only messages that failed')
    .action(listDeliveries);
  addServerOptions(command.command('resend <webhookID> <sequence>').description('send a message again, with its ID'))
    .option('--through <sequence>', 'also all messages up to this sequence')
    .action(resend);
  addServerOptions(
    command
      .command('test <webhookID>')
      .description('send a test message; the exit code is 1 if the endpoint rejects it'),
  ).action(test);
};

const list = async (options: ServerOptions): Promise<void> => {
  const response = await (await connect(options)).listWebhooks({});
  if (options.json) return printJSON(response);
  const rows = response.webhook.map(({ webhookID, url, state, disabledReason, retrying, lastFailure, type }) => [
    webhookID,
    disabledReason ? `${state} (${disabledReason})` : state,
    String(retrying),
    url,
    type.join(' '),
    lastFailure,
  ]);
  printLine(toTable([['WEBHOOK ID', 'STATE', 'RETRYING', 'URL', 'TYPES', 'LAST FAILURE'], ...rows]));
};

const listDeliveries = async (
  webhookID: string,
  { after, failed, ...options }: ServerOptions & { readonly after?: string; readonly failed?: true },
): Promise<void> => {
  const response = await (await connect(options)).listWebhookDeliveries({ webhookID, after, failed });
  if (options.json) return printJSON(response);
  const rows = response.delivery.map(({ sequence, type, state, attempts, error, nextAttemptTime }) => [
    String(sequence),
    type,
    state,
    String(attempts),
    nextAttemptTime === undefined ? '' : toMinute(nextAttemptTime),
    error,
  ]);
  printLine(toTable([['SEQUENCE', 'TYPE', 'STATE', 'FAILED', 'NEXT ATTEMPT', 'ERROR'], ...rows]));
  if (response.more) printLine(`more messages follow: --after ${response.nextSequence}`);
};

const resend = async (
  webhookID: string,
  sequence: string,
  { through, ...options }: ServerOptions & { readonly through?: string },
): Promise<void> => {
  const response = await (await connect(options)).resendWebhook({ webhookID, sequence, through });
  if (options.json) return printJSON(response);
  const { messages, through: last } = response;
  printLine(`${messages} ${messages === 1 ? 'message' : 'messages'} up to sequence ${last} will be sent again`);
};

const test = async (webhookID: string, options: ServerOptions): Promise<void> => {
  const response = await (await connect(options)).testWebhook({ webhookID });
  const { delivered, httpStatus, error, responseText } = response;
  if (!delivered) process.exitCode = 1;
  if (options.json) return printJSON(response);
  if (delivered) return printLine(`the endpoint accepted the message (HTTP ${httpStatus})`);
  printLine(`the message failed: ${error}`);
  if (responseText) printLine(responseText);
};
