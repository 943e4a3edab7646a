/** Recognizes bots, and visitors' browsers, operating systems and device types, from request headers. */
import type { IncomingHttpHeaders } from 'node:http';
import { agentKinds, labelIDs } from '@firsthand/contract/labels';
import Bowser, { BROWSER_MAP, OS_MAP } from 'bowser';
import type { Context } from 'hono';
import { isbot } from 'isbot';
import { BoundedMap } from '../../shared/bounded-map.ts';
import type { NewEvent } from '../../store/store.ts';
import { bindingsOf } from '../access/client-address.ts';

/** The user agent that sent a request. */
export interface Agent {
  readonly robot: boolean;
  /** A bot has only `$agent`, because the rest of its headers describe the browser that it imitates. */
  readonly labels: NewEvent['attributes'];
}

/** Values are truncated to these lengths. No browser sends longer values. */
const userAgentLength = 512;
const brandsLength = 256;
const shortLength = 32;

const maxAgents = 1_000;

/**
 * The allowed label values: the library copies an unknown browser's name from the User-Agent, which can be any text.
 */
const browsers: ReadonlySet<string> = new Set(Object.values(BROWSER_MAP));
const systems: ReadonlySet<string> = new Set(Object.values(OS_MAP));
const devices = new Map([
  ['desktop', 'desktop'],
  ['mobile', 'phone'],
  ['tablet', 'tablet'],
]);

/**
 * The client hints that Chromium browsers send with every request (User-Agent Client Hints, section 3); "" if absent.
 */
interface Hints {
  /** Sec-CH-UA: `"Chromium";v="131", "Brave";v="131"` */
  readonly brands: string;
  /** Sec-CH-UA-Mobile: `?1` on phones, `?0` on other devices. */
  readonly mobile: string;
  /** Sec-CH-UA-Platform: `"Windows"` */
  readonly platform: string;
}

const brandPattern = /"([^"\\]{1,64})"; ?v=/g;
const brandsOf = (brands: string) =>
  [...brands.matchAll(brandPattern)].map(([, brand = '']) => ({ brand, version: '' }));

/** Returns the device label; undefined for TVs and unknown devices. `type` is the library's name for the device. */
const deviceOf = (type: string | undefined, mobile: string, os: string | undefined): string | undefined => {
  if (type === 'tv' || type === 'bot') return undefined;
  if (mobile === '?1') return 'phone';
  // Some tablets send a phone's User-Agent.
  if (mobile === '?0' && type === 'mobile') return 'tablet';
  if (type === undefined) return mobile === '?0' || os === OS_MAP.ChromeOS ? 'desktop' : undefined;
  return devices.get(type);
};

const labelsOf = (userAgent: string, { brands, mobile, platform }: Hints): NewEvent['attributes'] => {
  const parsed = Bowser.parse(userAgent, { brands: brandsOf(brands) });
  const hintedOS = platform.replaceAll('"', '');
  const os = systems.has(hintedOS) ? hintedOS : parsed.os.name;
  const labels: [string, string][] = [];
  const add = (attrID: string, value: string | undefined, known: ReadonlySet<string>) => {
    if (value !== undefined && known.has(value)) labels.push([attrID, value]);
  };
  add(labelIDs.browser, parsed.browser.name, browsers);
  add(labelIDs.os, os, systems);
  const device = deviceOf(parsed.platform.type, mobile, os);
  if (device !== undefined) labels.push([labelIDs.device, device]);
  return labels;
};

/** Returns the labels that another analytics tool determined, without values that this server could not assign. */
export const toStatedLabels = (stated: Readonly<Record<string, unknown>>): NewEvent['attributes'] => {
  const { browser, os, device, country } = stated;
  const isCountry = typeof country === 'string' && /^[A-Z]{2}$/.test(country);
  const labels: readonly (readonly [attrID: string, value: unknown, isAllowed: boolean])[] = [
    [labelIDs.browser, browser, browsers.has(browser as string)],
    [labelIDs.os, os, systems.has(os as string)],
    [labelIDs.device, device, [...devices.values()].includes(device as string)],
    [labelIDs.country, country, isCountry],
  ];
  return labels.flatMap(([attrID, value, isAllowed]) => (isAllowed ? [[attrID, value as string] as const] : []));
};

/** Programs that fetch pages to train models, answer questions, or act for a person, by their documented names. */
const aiAgents =
  /GPTBot|ChatGPT|OAI-SearchBot|Claude(?:Bot|-)|anthropic|Perplexity|Google-CloudVertex|Google-NotebookLM|GoogleAgent|GoogleOther|Meta-External|MistralAI|cohere-|CCBot|Bytespider|Amazonbot|Applebot-Extended|DuckAssistBot|YouBot|AI2Bot|Diffbot/i;
/** Automated browsers that identify themselves. */
const automatedBrowsers = /Headless|PhantomJS|Lighthouse|Puppeteer|Playwright|Cypress|Selenium|WebDriver/i;

const robotKindOf = (userAgent: string): string | undefined => {
  if (aiAgents.test(userAgent)) return agentKinds.ai;
  if (!isbot(userAgent)) return undefined;
  return automatedBrowsers.test(userAgent) ? agentKinds.automated : agentKinds.crawler;
};

const recognize = (userAgent: string, hints: Hints): Agent => {
  const kind = robotKindOf(userAgent);
  return kind === undefined
    ? { robot: false, labels: labelsOf(userAgent, hints) }
    : { robot: true, labels: [[labelIDs.agent, kind]] };
};

export const unknownAgent: Agent = { robot: false, labels: [] };

const headerNames = ['user-agent', 'sec-ch-ua', 'sec-ch-ua-mobile', 'sec-ch-ua-platform'] as const;
type SentHeaders = Readonly<IncomingHttpHeaders>;

const truncate = (value: string | string[] | undefined, length: number): string => String(value ?? '').slice(0, length);

/**
 * Returns a function that recognizes the sender of a request. It caches 1,000 results, because each takes about 20 µs
 * to compute. A request without a User-Agent has no labels.
 */
export const createAgentRecognizer = (recognizeOne = recognize): ((headers: SentHeaders) => Agent) => {
  const cache = new BoundedMap<string, Agent>(maxAgents);
  return (headers) => {
    const userAgent = truncate(headers['user-agent'], userAgentLength);
    if (userAgent === '') return unknownAgent;
    const hints = {
      brands: truncate(headers['sec-ch-ua'], brandsLength),
      mobile: truncate(headers['sec-ch-ua-mobile'], shortLength),
      platform: truncate(headers['sec-ch-ua-platform'], shortLength),
    };
    const key = `${userAgent}\n${hints.brands}\n${hints.mobile}\n${hints.platform}`;
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const agent = recognizeOne(userAgent, hints);
    cache.set(key, agent);
    return agent;
  };
};

/**
 * Returns the headers of a request. Reading Node's own object is ten times as fast as `Headers`, but it exists only
 * with a socket.
 */
const headersOf = (c: Context): SentHeaders =>
  bindingsOf(c).incoming?.headers ??
  Object.fromEntries(headerNames.map((name) => [name, c.req.raw.headers.get(name) ?? undefined]));

/** Like `createAgentRecognizer`, but adds the visitor's country as a label if `countryOf` finds one, even for bots. */
export const createAgentFinder = (
  countryOf: ((c: Context) => string | undefined) | undefined,
): ((c: Context) => Agent) => {
  const agentOf = createAgentRecognizer();
  return (c) => {
    const agent = agentOf(headersOf(c));
    const country = countryOf?.(c);
    if (country === undefined) return agent;
    return { robot: agent.robot, labels: [...agent.labels, [labelIDs.country, country]] };
  };
};
