import { createContext, runInContext } from 'node:vm';
import { expect, test } from 'vitest';
import { earlyEventsScript, snippet } from './snippet.ts';

const codeOf = (html: string): string => /<script>([\s\S]*?)<\/script>/.exec(html)?.[1] as string;
const visitor = 'userUUID=abcdefghijklmnopqrstu';

type PageOptions = {
  readonly cookie?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly navigator?: Readonly<Record<string, unknown>>;
  readonly isIgnored?: boolean;
};

/** Makes these calls to the stub in a page and leaves the page. Returns the stored records and the remaining calls. */
const leavePageAfter = (
  calls: string,
  { cookie = '', attributes = {}, navigator = {}, isIgnored }: PageOptions = {},
) => {
  const listeners: Record<string, () => void> = {};
  const localStorage: Record<string, string> = isIgnored ? { ignore_firsthand: 'true' } : {};
  const page = createContext({
    localStorage,
    navigator,
    document: {
      cookie,
      querySelector: (selector: string) =>
        selector === 'script[data-token^=browser_]' && { dataset: { token: 'browser_x', ...attributes } },
    },
    addEventListener: (type: string, listener: () => void) => {
      listeners[type] = listener;
    },
  });
  runInContext(`self = globalThis; ${codeOf(snippet)}; ${codeOf(earlyEventsScript)}; ${calls}`, page);
  listeners.beforeunload?.();
  listeners.pagehide?.();
  const records = Object.entries(localStorage)
    .filter(([key]) => key !== 'ignore_firsthand')
    .map(([key, record]) => ({ key, ...JSON.parse(record) }));
  return { records, remaining: runInContext('tracker.map(([method]) => method).join()', page) };
};

test('queues the events of a page that the visitor left before the script loaded', () => {
  const { records, remaining } = leavePageAfter(`
    tracker.set({ plan: 'pro' });
    tracker.log('Early', { at: new Date(0), none: null, run() {}, node: new Map() });
    tracker.log('7', [{ attrID: 'a', attrValue: 1 }, { attrID: 'plan', attrValue: null }]);
    for (const wrong of [0, ' ', {}, undefined, true]) tracker.log(wrong);
    tracker.createContact({});`);
  const key = expect.stringMatching(/^firsthand:[a-z0-9]{10}[\w]{10}browser_x$/);
  const at = { attrID: 'at', attrValue: '1970-01-01T00:00:00.000Z' };
  const common = { key, eventUUID: expect.any(String), eventTime: expect.any(Number) };
  expect(records).toEqual([
    { ...common, eventName: 'Early', eventAttrArray: [{ attrID: 'plan', attrValue: 'pro' }, at] },
    { ...common, eventID: 7, eventAttrArray: [{ attrID: 'a', attrValue: '1' }] },
  ]);
  expect(records[0].eventUUID < records[1].eventUUID).toBe(true);
  expect(remaining).toBe('set,createContact');
});

test('stores nested values, which the service flattens, and accepts a value instead of attributes', () => {
  const { records } = leavePageAfter(`
    tracker.log('Nested', { size: { cm: 9, at: new Date(0) }, tags: ['a', 'b'] });
    tracker.log('Text', 'Stone teapot');
    tracker.log('Nothing', null);`);
  expect(records.map(({ eventAttrArray }) => eventAttrArray)).toEqual([
    [
      { attrID: 'size', attrValue: { cm: 9, at: '1970-01-01T00:00:00.000Z' } },
      { attrID: 'tags', attrValue: ['a', 'b'] },
    ],
    [{ attrID: 'value', attrValue: 'Stone teapot' }],
    [],
  ]);
});

test('removes the characters that the service refuses', () => {
  const { records } = leavePageAfter(`tracker.log('a\\0b\\ud800c', { 'x\\0': '\\udc00y\\ud83d\\ude00' })`);
  expect(records).toEqual([
    expect.objectContaining({ eventName: 'abc', eventAttrArray: [{ attrID: 'x', attrValue: 'y\u{1f600}' }] }),
  ]);
});

test.for<[string, PageOptions, number]>([
  ['', {}, 2],
  ['', { attributes: { consent: '' } }, 0],
  ['', { attributes: { consent: '' }, cookie: visitor }, 2],
  ['tracker.consent(true)', { attributes: { consent: '' } }, 0],
  ['tracker.consent(false)', { cookie: visitor }, 0],
  ['tracker.reset()', { cookie: visitor }, 0],
  ['', { navigator: { globalPrivacyControl: true }, cookie: visitor }, 0],
  ['', { navigator: { globalPrivacyControl: true }, cookie: `${visitor}v` }, 2],
  ['', { navigator: { doNotTrack: '1' }, cookie: visitor }, 2],
  ['', { navigator: { doNotTrack: '1' }, attributes: { dnt: '' }, cookie: visitor }, 0],
  ['', { isIgnored: true }, 0],
  ['tracker.beforeSend = ({ eventID }) => eventID !== 1', {}, 1],
])('stores early events only if the tracker would log them: after “%s” with %j, %i of 2', ([call, options, count]) => {
  expect(leavePageAfter(`${call}; tracker.log(1); tracker.log(2)`, options).records).toHaveLength(count);
});
