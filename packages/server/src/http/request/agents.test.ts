import { describe, expect, it, vi } from 'vitest';
import { createAgentRecognizer } from './agents.ts';

const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36';
const windows = chrome.replace('X11; Linux x86_64', 'Windows NT 10.0; Win64; x64');
const android = chrome.replace('X11; Linux x86_64', 'Linux; Android 10; K');
const iPhone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1';
const mac =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15';

const agentOf = createAgentRecognizer();
const valuesOf = (userAgent: string, hints: Record<string, string> = {}) =>
  Object.fromEntries(agentOf({ 'user-agent': userAgent, ...hints }).labels);
const label = (browser: string, os: string, device: string) => ({ $browser: browser, $os: os, $device: device });

describe('labels', () => {
  it.each([
    [windows, label('Chrome', 'Windows', 'desktop')],
    [chrome, label('Chrome', 'Linux', 'desktop')],
    [`${windows} Edg/131.0.0.0`, label('Microsoft Edge', 'Windows', 'desktop')],
    [`${windows} OPR/115.0.0.0`, label('Opera', 'Windows', 'desktop')],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', label('Firefox', 'Linux', 'desktop')],
    ['Mozilla/5.0 (Android 14; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0', label('Firefox', 'Android', 'phone')],
    ['Mozilla/5.0 (Android 14; Tablet; rv:140.0) Gecko/140.0 Firefox/140.0', label('Firefox', 'Android', 'tablet')],
    [mac, label('Safari', 'macOS', 'desktop')],
    [iPhone, label('Safari', 'iOS', 'phone')],
    [iPhone.replace('iPhone; CPU iPhone OS', 'iPad; CPU OS'), label('Safari', 'iOS', 'tablet')],
    [iPhone.replace('Version/18.1', 'CriOS/131.0'), label('Chrome', 'iOS', 'phone')],
    [android.replace(' Safari', ' Mobile Safari'), label('Chrome', 'Android', 'phone')],
    [android, label('Chrome', 'Android', 'tablet')],
    [
      android.replace('Chrome', 'SamsungBrowser/27.0 Chrome').replace(' Safari', ' Mobile Safari'),
      label('Samsung Internet for Android', 'Android', 'phone'),
    ],
    [chrome.replace('X11; Linux x86_64', 'X11; CrOS x86_64 14541.0.0'), label('Chrome', 'Chrome OS', 'desktop')],
  ])('are recognized in %s', (userAgent, expected) => {
    expect(valuesOf(userAgent)).toEqual(expected);
  });

  it.each([
    [
      'a browser that sends another browser’s User-Agent',
      windows,
      { 'sec-ch-ua': '"Chromium";v="131", "Brave";v="131", "Not_A Brand";v="24"' },
      label('Brave', 'Windows', 'desktop'),
    ],
    ['the operating system', chrome, { 'sec-ch-ua-platform': '"Chrome OS"' }, label('Chrome', 'Chrome OS', 'desktop')],
    ['a phone', android, { 'sec-ch-ua-mobile': '?1' }, label('Chrome', 'Android', 'phone')],
    [
      'a tablet',
      android.replace(' Safari', ' Mobile Safari'),
      { 'sec-ch-ua-mobile': '?0' },
      label('Chrome', 'Android', 'tablet'),
    ],
    ['a desktop', windows, { 'sec-ch-ua-mobile': '?0' }, label('Chrome', 'Windows', 'desktop')],
    [
      'nothing if the hints are invalid',
      windows,
      { 'sec-ch-ua': '"'.repeat(300), 'sec-ch-ua-mobile': '1', 'sec-ch-ua-platform': '"TempleOS"' },
      label('Chrome', 'Windows', 'desktop'),
    ],
  ])('follow the client hints for %s', (_, userAgent, hints, expected) => {
    expect(valuesOf(userAgent, hints)).toEqual(expected);
  });

  it.each([
    'x',
    'Victim123/9.9 foo',
    '__proto__/1 constructor',
    'constructor/1 x',
    `${'A'.repeat(400)}/1 x`,
    'Mozilla/5.0 (Unheard of 3.1)',
  ])('are omitted for the unknown browser %s', (userAgent) => {
    const { $agent, ...browser } = valuesOf(userAgent);
    expect([browser, [undefined, 'crawler']]).toEqual([{}, expect.arrayContaining([$agent])]);
  });

  it('omit the device of a TV', () => {
    const tv =
      'Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/4.0 Chrome/76.0 TV Safari/537.36';
    expect(valuesOf(tv)).not.toHaveProperty('$device');
  });
});

describe('bots', () => {
  it.each([
    ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', true],
    [chrome.replace('Chrome/', 'HeadlessChrome/'), true],
    ['python-requests/2.32.3', true],
    [chrome, false],
    [iPhone, false],
    ['', false],
    [undefined, false],
  ])('are recognized: %s, %s', (userAgent, expected) => {
    expect(agentOf({ 'user-agent': userAgent }).robot).toBe(expected);
  });

  it.each([
    [`${android} (compatible; Googlebot/2.1)`, 'crawler'],
    ['Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)', 'crawler'],
    [chrome.replace('Chrome/', 'HeadlessChrome/'), 'automated browser'],
    [`${chrome} Chrome-Lighthouse`, 'automated browser'],
    [`${chrome}; compatible; ChatGPT-User/1.0; +https://openai.com/bot`, 'AI agent'],
    [
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
      'AI agent',
    ],
    ['Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)', 'AI agent'],
    ['Mozilla/5.0 (compatible; Claude-User/1.0; +Claude-User@anthropic.com)', 'AI agent'],
    ['Mozilla/5.0 (compatible; Perplexity-User/1.0; +https://perplexity.ai/perplexity-user)', 'AI agent'],
    ['meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)', 'AI agent'],
  ])('get only a label for the kind of bot: %s, %s', (userAgent, kind) => {
    expect(agentOf({ 'user-agent': userAgent })).toEqual({ robot: true, labels: [['$agent', kind]] });
  });
});

describe('headers', () => {
  const agent = { robot: false, labels: [] };

  it('are parsed only once, with a cache of limited size', () => {
    const recognize = vi.fn(() => agent);
    const findAgent = createAgentRecognizer(recognize);
    for (let times = 0; times < 3; times++) findAgent({ 'user-agent': 'x' });
    expect(recognize).toHaveBeenCalledTimes(1);
    for (let nth = 0; nth < 2_000; nth++) findAgent({ 'user-agent': `agent ${nth}` });
    findAgent({ 'user-agent': 'x' });
    expect(recognize).toHaveBeenCalledTimes(2_002);
  });

  it('are parsed again if a hint differs', () => {
    const recognize = vi.fn(() => agent);
    const findAgent = createAgentRecognizer(recognize);
    for (const name of ['sec-ch-ua', 'sec-ch-ua-mobile', 'sec-ch-ua-platform']) {
      findAgent({ 'user-agent': 'x', [name]: 'y' });
    }
    expect(recognize).toHaveBeenCalledTimes(3);
  });

  it('are truncated', () => {
    const recognize = vi.fn(() => agent);
    const long = 'x'.repeat(30_000);
    createAgentRecognizer(recognize)({
      'user-agent': long,
      'sec-ch-ua': long,
      'sec-ch-ua-mobile': long,
      'sec-ch-ua-platform': long,
    });
    const [userAgent, hints] = recognize.mock.lastCall as unknown as [string, Record<string, string>];
    expect([userAgent, ...Object.values(hints)].map(({ length }) => length)).toEqual([512, 256, 32, 32]);
  });
});
