/**
 * Hands visitors over between the domains of one customer, which are listed in `data-domains`: a clicked link to one of them carries a
 * handover, the userUUID sealed by the service for two minutes, these two hosts and this browser (decision 23). A browser that arrives
 * without a userUUID takes it over. In every other case it keeps or makes its own, and nothing is lost.
 */
import type { pageNames } from '@firsthand/contract/identifiers';
import { safeDocument } from '../document.ts';
import { guard } from '../guard.ts';
import { isConsentRemembered } from '../identity/consent.ts';
import { becomeUser, isUserUUID, knownUser } from '../identity/identity.ts';
import type { Tracker } from '../tracker.ts';
import { warn } from '../warn.ts';

/** Repeated here as text, because it is shorter than the object. */
type Names = typeof pageNames;

/** The parts of an address that say where it leads. */
type Target = { readonly host: string; readonly protocol: string };

type Sealed = { readonly to: string; readonly handover: string };

/** A query without our parameter, however often it is there. */
const withoutHandover = (search: string): string => search.replace(/[?&]_visitor=[^&]*/g, '').replace(/^&/, '?');

/** `base` is as in createSender. To be called before the page's early calls are carried out, and before anything is sent. */
export const handOver = (tracker: Tracker, options: DOMStringMap, base: URL): void => {
  const createHandoverName: Names['createHandover'] = 'leave';
  const takeHandoverName: Names['takeHandover'] = 'arrive';
  /** A handover is valid for 120 seconds. While the visitor does something, it is renewed after these. */
  const renewMilliseconds = 60_000;
  /** The time for which a new browser's events wait for the service to open the handover. */
  const waitMilliseconds = 2_000;
  const { token } = options;
  const others = (options.domains || '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((host) => host && host !== location.host);
  if (!others[0]) return;

  const isOther = ({ host, protocol }: Target): boolean => protocol === location.protocol && others.includes(host);

  const ask = async (name: string, fields: string): Promise<Record<string, unknown>> => {
    const body = `{"tokenUUID":"${token}",${fields}}`;
    const answer = await (await fetch(`${new URL(name, base)}`, { method: 'POST', body })).json();
    if (answer.error) warn(`${answer.error.code}:`, answer.error.message);
    return answer;
  };

  /** Takes the parameter out of the page's address, before anything is logged. Returns the handover; '' if there is none to be taken. */
  const takeFromAddress = (): string => {
    const found = location.search.match(/[?&]_visitor=[^&]*/g) || [];
    if (!found[0]) return '';
    const { origin, pathname, search, hash } = location;
    history.replaceState(history.state, '', origin + pathname + withoutHandover(search) + hash);
    const [, text] = /^[?&]_visitor=([\w-]{70,160})$/.exec(found.join('')) || [];
    // A link from elsewhere, such as a chat or another person's page, has another referrer, or none.
    return text && safeDocument.referrer && isOther(new URL(safeDocument.referrer)) ? text : '';
  };

  let handover = '';
  /** Whether it is too late to take the handover over, or the visitor refuses. */
  let isOver = false;

  const open = async (taken: string): Promise<void> => {
    const from = new URL(safeDocument.referrer).host;
    const { userUUID } = await ask(takeHandoverName, `"handover":"${taken}","from":"${from}","to":"${location.host}"`);
    if (!isOver && !knownUser() && isUserUUID(userUUID as string)) becomeUser(userUUID as string);
  };

  /**
   * Holds the lock under which a new browser's userUUID is made (sender.ts), so that no tab makes one meanwhile. A page that is left
   * sends without it. Without locks (plain http, Safari before 15.4) nothing is taken over.
   */
  const arrive = guard((): void => {
    const taken = handover;
    handover = '';
    if (!taken || knownUser()) return;
    const end = new Promise<void>((resolve) => {
      const give = () => {
        isOver = true;
        resolve();
      };
      setTimeout(give, waitMilliseconds);
      addEventListener('pagehide', give);
    });
    navigator.locks.request(`firsthand:${token}`, () => Promise.race([end, open(taken)])).catch(warn);
  });

  const { consent } = tracker;
  tracker.consent = (isGiven) => {
    if (isGiven) arrive();
    else isOver = true;
    handover = '';
    consent(isGiven);
  };
  guard(() => {
    handover = takeFromAddress();
  })();
  if (isConsentRemembered(options)) arrive();

  /** The handovers for the other domains, whose they are, and when the page last looked for links and last asked. */
  let sealed: readonly Sealed[] = [];
  let sealedUser: string | undefined;
  let lookedAt = 0;
  let askedAt = 0;

  /** Asks for handovers ahead of a click, because a click can't wait. After a failure too, the next request is a minute later. */
  const seal = guard((): void => {
    const userUUID = knownUser();
    const now = Date.now();
    if (!userUUID || now - lookedAt < 1e3 || (userUUID === sealedUser && now - askedAt < renewMilliseconds)) return;
    lookedAt = now;
    if (![...safeDocument.links].some(isOther)) return;
    if (userUUID !== sealedUser) sealed = [];
    sealedUser = userUUID;
    askedAt = now;
    ask(
      createHandoverName,
      `"userUUID":"${userUUID}","from":"${location.host}","to":[${others.map((host) => `"${host}"`)}]`,
    )
      .then((answer) => {
        if (userUUID === sealedUser) sealed = (answer.handover || []) as Sealed[];
      })
      .catch(warn);
  });

  /** Gives a clicked link the handover for its host, or none, until the browser has followed it. */
  const decorate = guard((event: Event): void => {
    const link = (event.composedPath() as HTMLAnchorElement[]).find(isOther);
    if (!link) return;
    const written = link.getAttribute('href') as string;
    const search = withoutHandover(link.search);
    const one = sealedUser === knownUser() && sealed.find(({ to }) => to === link.host);
    link.search = one ? `${search}${search ? '&' : '?'}_visitor=${one.handover}` : search;
    const { href } = link;
    setTimeout(() => {
      if (link.href === href) link.href = written;
    });
  });

  addEventListener('click', decorate, true);
  addEventListener('auxclick', decorate, true);
  addEventListener('pointerover', seal, true);
  addEventListener('focusin', seal, true);
  setTimeout(seal, 1e3);
};
