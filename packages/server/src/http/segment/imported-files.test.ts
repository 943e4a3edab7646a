/**
 * Tests the messages from files that `@firsthand/import-formats` reads, which are mapped like those from Segment's
 * clients.
 */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { isRecord } from '@firsthand/contract/checking';
import { type FormatName, readMessages, type Source } from '@firsthand/import-formats';
import { describe, expect, it } from 'vitest';
import { toStatedLabels } from '../request/agents.ts';
import { toCall } from './messages.ts';

const readCalls = async (file: string, format: FormatName) => {
  const path = new URL(`../../../../import-formats/test/${file}`, import.meta.url);
  const messages = [];
  for await (const reading of readMessages(Readable.toWeb(createReadStream(path)) as Source, format))
    if ('message' in reading) messages.push(reading.message);
  return messages.map((message) => ({ message, call: toCall(message, { fromBrowser: false, hashKey: 'an-account' }) }));
};

const hasRefusal = ({ call }: { call: object }): boolean => 'refusal' in call;

describe.each<[file: string, format: FormatName, pageViews: number, firstCampaign: string | undefined]>([
  ['segment.jsonl', 'segment', 7, 'news'],
  ['posthog.jsonl', 'posthog', 8, 'news'],
  ['ga4.jsonl', 'ga4', 9, 'news'],
  ['umami.csv', 'umami', 8, 'news'],
  ['matomo.json', 'matomo', 5, undefined],
  ['goatcounter.csv', 'goatcounter', 9, undefined],
])('%s', (file, format, pageViews, firstCampaign) => {
  it('contains no message that is refused', async () => {
    expect((await readCalls(file, format)).filter(hasRefusal)).toEqual([]);
  });

  it('has page views with path, title, referrer and campaign, without secrets from their addresses', async () => {
    const calls = await readCalls(file, format);
    const views = calls.filter(({ call }) => call.input.eventName === 'Page viewed');
    expect(views).toHaveLength(pageViews);
    expect(views[0]?.call.input.eventAttrArray).toMatchObject({
      path: '/tea',
      title: expect.stringMatching(/^Tea/),
      referrer: format === 'matomo' ? '' : expect.stringMatching(/^https:\/\/news\.example\//),
      ...(firstCampaign !== undefined && { utm_source: firstCampaign }),
    });
    expect(JSON.stringify(calls.map(({ call }) => call))).not.toContain('secret');
  });

  it('has only labels that the server accepts', async () => {
    const stated = (await readCalls(file, format)).flatMap(({ message }) =>
      isRecord(message.context) && isRecord(message.context.labels) ? [message.context.labels] : [],
    );
    expect(stated.map((labels) => toStatedLabels(labels).length)).toEqual(
      stated.map((labels) => Object.keys(labels).length),
    );
  });
});

it('ignores stated labels with other values', () => {
  expect(toStatedLabels({ browser: 'Chrome 130', os: 7, device: 'desk', country: 'Germany', more: 'x' })).toEqual([]);
  expect(toStatedLabels({ os: 'Linux', country: 'DE' })).toEqual([
    ['$os', 'Linux'],
    ['$country', 'DE'],
  ]);
});
