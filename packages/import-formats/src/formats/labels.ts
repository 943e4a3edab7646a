/**
 * The labels `$browser`, `$os`, `$device` and `$country` of an event, from what another tool detected. The values are
 * those that the server detects itself; others are omitted.
 */
import type { Row } from '../files/record.ts';
import { compact, toText } from './values.ts';

/** The values of `$browser`, by the name that a tool writes, in lowercase. */
const browsers = new Map([
  ['brave', 'Brave'],
  ['chrome', 'Chrome'],
  ['chrome ios', 'Chrome'],
  ['chrome mobile', 'Chrome'],
  ['chrome mobile ios', 'Chrome'],
  ['chrome webview', 'Chrome'],
  ['chromium-webview', 'Chrome'],
  ['crios', 'Chrome'],
  ['chromium', 'Chromium'],
  ['duckduckgo', 'DuckDuckGo'],
  ['duckduckgo privacy browser', 'DuckDuckGo'],
  ['edge', 'Microsoft Edge'],
  ['edge-chromium', 'Microsoft Edge'],
  ['edge-ios', 'Microsoft Edge'],
  ['microsoft edge', 'Microsoft Edge'],
  ['firefox', 'Firefox'],
  ['firefox ios', 'Firefox'],
  ['firefox mobile', 'Firefox'],
  ['fxios', 'Firefox'],
  ['ie', 'Internet Explorer'],
  ['internet explorer', 'Internet Explorer'],
  ['ios', 'Safari'],
  ['mobile safari', 'Safari'],
  ['safari', 'Safari'],
  ['safari (in-app)', 'Safari'],
  ['opera', 'Opera'],
  ['opera mobile', 'Opera'],
  ['samsung', 'Samsung Internet for Android'],
  ['samsung browser', 'Samsung Internet for Android'],
  ['samsung internet', 'Samsung Internet for Android'],
  ['uc browser', 'UC Browser'],
  ['vivaldi', 'Vivaldi'],
  ['yandex browser', 'Yandex Browser'],
  ['yandexbrowser', 'Yandex Browser'],
]);

/** The values of `$os`, by the beginning of the name that a tool writes, in lowercase. */
const systems: readonly (readonly [start: string, name: string])[] = [
  ['android', 'Android'],
  ['chrome os', 'Chrome OS'],
  ['chromeos', 'Chrome OS'],
  ['chromium os', 'Chrome OS'],
  ['gnu/linux', 'Linux'],
  ['linux', 'Linux'],
  ['ubuntu', 'Linux'],
  ['ios', 'iOS'],
  ['ipados', 'iOS'],
  ['mac', 'macOS'],
  ['os x', 'macOS'],
  ['windows phone', 'Windows Phone'],
  ['windows', 'Windows'],
];

const devices = new Map([
  ['desktop', 'desktop'],
  ['laptop', 'desktop'],
  ['mobile', 'phone'],
  ['phablet', 'phone'],
  ['smartphone', 'phone'],
  ['tablet', 'tablet'],
]);

interface VisitorFacts {
  readonly browser?: unknown;
  readonly os?: unknown;
  readonly device?: unknown;
  /** The two-letter ISO 3166 code. */
  readonly country?: unknown;
}

export const toLabels = ({ browser, os, device, country }: VisitorFacts): Row | undefined => {
  const system = toText(os)?.toLowerCase();
  const code = toText(country)?.toUpperCase();
  return compact({
    browser: browsers.get(toText(browser)?.toLowerCase() ?? ''),
    os: systems.find(([start]) => system?.startsWith(start))?.[1],
    device: devices.get(toText(device)?.toLowerCase() ?? ''),
    // Matomo writes xx for an unknown country.
    country: code !== undefined && code !== 'XX' && /^[A-Z]{2}$/.test(code) ? code : undefined,
  });
};
