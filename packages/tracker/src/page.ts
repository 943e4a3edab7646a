/** Makes the global `tracker` from the script's own tag, and makes up for the calls that came before it. */
import { safeDocument } from './document.ts';
import { setPastTime } from './eventUUID.ts';
import { demand, guard } from './guard.ts';
import { note } from './note.ts';
import { startTracker, type Tracker } from './tracker.ts';

/** A call that the snippet's stub kept: the method, its arguments with the returned promise, its resolver, and when it was made. */
type EarlyCall = [
  method: 'log' | 'createContact' | 'reset' | 'consent' | 'flush',
  args: unknown[] & { p?: Promise<unknown> },
  resolve: (result: unknown) => void,
  time?: number,
];

/** The snippet's stub: an array of calls that has the tracker's methods. Kept as the tracker, since pages hold on to it. */
type Stub = EarlyCall[] & Partial<Tracker>;

/** Starts the page's tracker, now or when a page that is only rendered ahead is shown: it may never be seen. */
export const startInPage = (then?: (tracker: Tracker, options: DOMStringMap) => void): void => {
  const script = safeDocument.currentScript as HTMLScriptElement;
  const start = guard((): void => {
    // Every developer reads why it doesn't start, without data-debug too: `note` writes to the console until it is turned off.
    demand(script, 'module');
    const page = window as unknown as Record<string, Stub>;
    const name = script.dataset.name || 'tracker';
    // An element of that name or id is no property of the window's own.
    // biome-ignore lint/suspicious/noPrototypeBuiltins: Object.hasOwn is younger than browsers that we know
    const stub = (page.hasOwnProperty(name) && page[name]) || [];
    demand(stub.push === [].push, `${name} is taken`);
    startTracker(stub, script.src, script.dataset);
    const call = ([method, args, resolve, time]: EarlyCall): void => {
      setPastTime(time);
      resolve((stub[method] as (...args: unknown[]) => unknown)(...args));
      setPastTime();
      if (args.p) args.p.catch(note);
    };
    stub.splice(0).map(call);
    stub.push = call as Stub['push'];
    page[name] = stub;
    if (then) then(stub as Tracker, script.dataset);
  });
  // Listened to on window, while it goes down to the document: no element can be in the way there.
  if ((safeDocument as { prerendering?: boolean }).prerendering) addEventListener('prerenderingchange', start, true);
  // In a task of its own: evaluating a script holds up the page's parser.
  else setTimeout(start);
};
