/** Creates the global `tracker` from the options in the script's tag, and runs the calls made before it loaded. */
import { safeDocument } from './document.ts';
import { demand, guard } from './guard.ts';
import { setPastTime } from './records/event-uuid.ts';
import { startTracker, type Tracker } from './tracker.ts';
import { warn } from './warn.ts';

/**
 * A call recorded by the snippet's stub: the method, its arguments with the returned promise, its resolver, and its
 * time.
 */
type EarlyCall = [
  method: 'log' | 'createContact' | 'reset' | 'consent' | 'flush' | 'getUserUUID' | 'set',
  args: unknown[] & { p?: Promise<unknown> },
  resolve: (result: unknown) => void,
  time?: number,
];

/**
 * The snippet's stub: an array of calls with the tracker's methods. It becomes the tracker, because pages may hold a
 * reference to it.
 */
type Stub = EarlyCall[] & Partial<Tracker>;

/**
 * Starts the page's tracker. A prerendered page starts it only when the page is shown, which may never happen.
 * `beforeCalls` runs before the early calls, `afterCalls` after them; `base` is as in createSender.
 */
export const startInPage = (
  afterCalls?: (tracker: Tracker, options: DOMStringMap) => void,
  beforeCalls?: (tracker: Tracker, options: DOMStringMap, base: URL) => void,
): void => {
  const script = safeDocument.currentScript as HTMLScriptElement;
  const start = guard((): void => {
    // A module has no currentScript.
    // biome-ignore lint/complexity/useOptionalChain: esbuild writes it longer for ES2018
    demand(script && script.dataset.token, 'no data-token');
    const page = window as unknown as Record<string, Stub>;
    const name = script.dataset.name || 'tracker';
    // An element with that name or id is not an own property of the window.
    // biome-ignore lint/suspicious/noPrototypeBuiltins: Object.hasOwn is newer than the browsers that we support
    const stub = (page.hasOwnProperty(name) && page[name]) || [];
    demand(stub.push === [].push, `${name} is taken`);
    // Without `data-api`, this is the URL of a file named `undefined` in the script's folder, so requests go to that
    // folder. This is a function because a variable would add 4 bytes to `tracker.js`.
    const base = () => new URL(script.dataset.api as string, script.src);
    // In a script without `set`, the stub's own `set` would call itself.
    stub.set = warn;
    startTracker(stub, base(), script.dataset);
    if (beforeCalls) beforeCalls(stub as Tracker, script.dataset, base());
    const call = ([method, args, resolve, time]: EarlyCall): void => {
      setPastTime(time);
      resolve((stub[method] as (...args: unknown[]) => unknown)(...args));
      setPastTime();
      if (args.p) args.p.catch(Object);
    };
    for (const earlyCall of stub.splice(0)) call(earlyCall);
    // Defines the property, because an assignment would fail where `Array.prototype` is frozen.
    Object.defineProperty(stub, 'push', { value: call });
    page[name] = stub;
    if (afterCalls) afterCalls(stub as Tracker, script.dataset);
  });
  // Listens on window, in the capture phase, because an element may shadow a document method.
  if ((safeDocument as { prerendering?: boolean }).prerendering) addEventListener('prerenderingchange', start, true);
  // Starts in a separate task, because evaluating a script blocks the page's parser.
  else setTimeout(start);
};
