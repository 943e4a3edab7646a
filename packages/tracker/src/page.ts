/** Creates the global `tracker` from the options in the script's tag, and carries out the calls made before. */
import { safeDocument } from './document.ts';
import { demand, guard } from './guard.ts';
import { setPastTime } from './records/event-uuid.ts';
import { startTracker, type Tracker } from './tracker.ts';
import { warn } from './warn.ts';

/** A call that the snippet's stub recorded: the method, its arguments with the returned promise, its resolver, and its time. */
type EarlyCall = [
  method: 'log' | 'createContact' | 'reset' | 'consent' | 'flush' | 'getUserUUID' | 'set',
  args: unknown[] & { p?: Promise<unknown> },
  resolve: (result: unknown) => void,
  time?: number,
];

/** The snippet's stub: an array of calls with the tracker's methods. It becomes the tracker, because pages may have stored it. */
type Stub = EarlyCall[] & Partial<Tracker>;

/**
 * Starts the page's tracker, now or, on a prerendered page, when the page is shown: it may never be. `then` is called after the early
 * calls, `first` before them; `base` is as in createSender.
 */
export const startInPage = (
  then?: (tracker: Tracker, options: DOMStringMap) => void,
  first?: (tracker: Tracker, options: DOMStringMap, base: URL) => void,
): void => {
  const script = safeDocument.currentScript as HTMLScriptElement;
  const start = guard((): void => {
    // A module has no currentScript.
    // biome-ignore lint/complexity/useOptionalChain: esbuild writes it longer for ES2018
    demand(script && script.dataset.token, 'no data-token');
    const page = window as unknown as Record<string, Stub>;
    const name = script.dataset.name || 'tracker';
    // An element with that name or id is not an own property of the window.
    // biome-ignore lint/suspicious/noPrototypeBuiltins: Object.hasOwn is younger than browsers that we know
    const stub = (page.hasOwnProperty(name) && page[name]) || [];
    demand(stub.push === [].push, `${name} is taken`);
    // `data-api` is the folder that requests go to. Without it they go to the script's own: then this is a file `undefined` there.
    // A function, because a variable would cost `tracker.js` 4 bytes.
    const base = () => new URL(script.dataset.api as string, script.src);
    // The stub's own `set` would call itself in a script without it.
    stub.set = warn;
    startTracker(stub, base(), script.dataset);
    if (first) first(stub as Tracker, script.dataset, base());
    const call = ([method, args, resolve, time]: EarlyCall): void => {
      setPastTime(time);
      resolve((stub[method] as (...args: unknown[]) => unknown)(...args));
      setPastTime();
      if (args.p) args.p.catch(Object);
    };
    for (const early of stub.splice(0)) call(early);
    // Defined, because an assignment fails where `Array.prototype` is frozen.
    Object.defineProperty(stub, 'push', { value: call });
    page[name] = stub;
    if (then) then(stub as Tracker, script.dataset);
  });
  // Listens on window, in the capture phase, because an element may hide a method of the document.
  if ((safeDocument as { prerendering?: boolean }).prerendering) addEventListener('prerenderingchange', start, true);
  // Starts in a task of its own, because evaluating a script blocks the page's parser.
  else setTimeout(start);
};
