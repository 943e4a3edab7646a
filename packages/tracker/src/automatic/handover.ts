/**
 * Recognizes visitors across the domains in `data-domains`: a clicked link to another domain gets a handover, which the
 * tracker there accepts only if it has no userUUID yet. A handover is the userUUID, sealed by the service for two
 * minutes, for these two hosts and this browser (decision 23).
 */
import type { pageNames } from '@firsthand/contract/identifiers';
import { safeDocument } from '../document.ts';
import { guard } from '../guard.ts';
import { hasInitialConsent } from '../identity/consent.ts';
import { isUserUUID, readUser, setUser } from '../identity/identity.ts';
import type { Tracker } from '../tracker.ts';
import { warn } from '../warn.ts';

/** Checks the names below, which are literals because importing `pageNames` would cost more bytes. */
type Names = typeof pageNames;

/** The parts of a URL that identify a site. */
type Target = { readonly host: string; readonly protocol: string };

type Handover = { readonly to: string; readonly handover: string };

/** Removes every `_visitor` parameter from a query string. */
const withoutHandover = (search: string): string => search.replace(/[?&]_visitor=[^&]*/g, '').replace(/^&/, '?');

/**
 * Starts handing visitors over. Must be called before the page's early calls run and before anything is sent. `base` is
 * as in createSender.
 */
export const handOver = (tracker: Tracker, options: DOMStringMap, base: URL): void => {
  const createHandoverName: Names['createHandover'] = 'leave';
  const takeHandoverName: Names['takeHandover'] = 'arrive';
  /** A handover is valid for 120 seconds. It is renewed at this interval while the visitor is active. */
  const renewMilliseconds = 60_000;
  /** How long a new browser's events wait for the service to open a handover. */
  const waitMilliseconds = 2_000;
  const { token } = options;
  const otherHosts = (options.domains || '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((host) => host && host !== location.host);
  if (!otherHosts[0]) return;

  const isOther = ({ host, protocol }: Target): boolean => protocol === location.protocol && otherHosts.includes(host);

  const post = async (name: string, fields: string): Promise<Record<string, unknown>> => {
    const body = `{"tokenUUID":"${token}",${fields}}`;
    const responseBody = await (await fetch(`${new URL(name, base)}`, { method: 'POST', body })).json();
    if (responseBody.error) warn(`${responseBody.error.code}:`, responseBody.error.message);
    return responseBody;
  };

  /**
   * Removes `_visitor` from the page's URL before anything is logged. Returns the handover, or '' if there is none to
   * accept.
   */
  const extractHandover = (): string => {
    const entries = location.search.match(/[?&]_visitor=[^&]*/g) || [];
    if (!entries[0]) return '';
    const { origin, pathname, search, hash } = location;
    history.replaceState(history.state, '', origin + pathname + withoutHandover(search) + hash);
    const [, text] = /^[?&]_visitor=([\w-]{70,160})$/.exec(entries.join('')) || [];
    // A link from elsewhere, such as a chat or another person's page, has a different referrer or no referrer.
    return text && safeDocument.referrer && isOther(new URL(safeDocument.referrer)) ? text : '';
  };

  let handover = '';
  /** Set when the service is too slow, the visitor leaves the page, or the visitor refuses consent. */
  let isCanceled = false;

  const openHandover = async (pending: string): Promise<void> => {
    const from = new URL(safeDocument.referrer).host;
    const { userUUID } = await post(
      takeHandoverName,
      `"handover":"${pending}","from":"${from}","to":"${location.host}"`,
    );
    if (!isCanceled && !readUser() && isUserUUID(userUUID as string)) setUser(userUUID as string);
  };

  /**
   * Holds the lock under which sender.ts creates a new browser's userUUID, so that no tab creates one in the meantime.
   * Without locks (plain http, Safari before 15.4), no handover is accepted.
   */
  const acceptHandover = guard((): void => {
    const pending = handover;
    handover = '';
    if (!pending || readUser()) return;
    const canceled = new Promise<void>((resolve) => {
      const cancel = () => {
        isCanceled = true;
        resolve();
      };
      setTimeout(cancel, waitMilliseconds);
      addEventListener('pagehide', cancel);
    });
    navigator.locks.request(`firsthand:${token}`, () => Promise.race([canceled, openHandover(pending)])).catch(warn);
  });

  const { consent } = tracker;
  tracker.consent = (isGiven) => {
    if (isGiven) acceptHandover();
    else isCanceled = true;
    handover = '';
    consent(isGiven);
  };
  guard(() => {
    handover = extractHandover();
  })();
  if (hasInitialConsent(options)) acceptHandover();

  /** The handovers for the other domains, and the user that they identify. */
  let handovers: readonly Handover[] = [];
  let handoverUser: string | undefined;
  let lastScanTime = 0;
  let lastRequestTime = 0;

  /**
   * Requests handovers before a link is clicked, because a click can't wait for a response. Sends at most one request a
   * minute for each user, even after a failure.
   */
  const requestHandovers = guard((): void => {
    const userUUID = readUser();
    const now = Date.now();
    if (
      !userUUID ||
      now - lastScanTime < 1e3 ||
      (userUUID === handoverUser && now - lastRequestTime < renewMilliseconds)
    )
      return;
    lastScanTime = now;
    if (![...safeDocument.links].some(isOther)) return;
    if (userUUID !== handoverUser) handovers = [];
    handoverUser = userUUID;
    lastRequestTime = now;
    post(
      createHandoverName,
      `"userUUID":"${userUUID}","from":"${location.host}","to":[${otherHosts.map((host) => `"${host}"`)}]`,
    )
      .then((responseBody) => {
        if (userUUID === handoverUser) handovers = (responseBody.handover || []) as Handover[];
      })
      .catch(warn);
  });

  /**
   * If there is a handover for a clicked link's host, adds it to the link. Restores the link after the browser has
   * followed it.
   */
  const addHandover = guard((event: Event): void => {
    const link = (event.composedPath() as HTMLAnchorElement[]).find(isOther);
    if (!link) return;
    const originalHref = link.getAttribute('href') as string;
    const search = withoutHandover(link.search);
    const match = handoverUser === readUser() && handovers.find(({ to }) => to === link.host);
    link.search = match ? `${search}${search ? '&' : '?'}_visitor=${match.handover}` : search;
    const { href } = link;
    setTimeout(() => {
      if (link.href === href) link.href = originalHref;
    });
  });

  addEventListener('click', addHandover, true);
  addEventListener('auxclick', addHandover, true);
  addEventListener('pointerover', requestHandovers, true);
  addEventListener('focusin', requestHandovers, true);
  setTimeout(requestHandovers, 1e3);
};
