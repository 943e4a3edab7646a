/** Makes `tracker` from the script's own tag, and makes up for the calls that came before it. */
import { guard } from './guard.ts';
import { note } from './note.ts';
import { startTracker, type Tracker } from './tracker.ts';

/** A call that the snippet's stub kept: the method, its arguments with the promise that was answered, and its resolver. */
type EarlyCall = [
  method: 'log' | 'createContact' | 'reset' | 'consent',
  args: unknown[] & { p?: Promise<unknown> },
  resolve: (result: unknown) => void,
];

/** The snippet's stub: an array of calls that has the tracker's methods. Kept as the tracker, since pages hold on to it. */
type Stub = EarlyCall[] & Partial<Tracker>;

/** Starts the page's tracker, now or when a page that is only rendered ahead is shown: it may never be seen. */
export const startInPage = (then?: (tracker: Tracker, options: DOMStringMap) => void): void => {
  const script = document.currentScript as HTMLScriptElement;
  const start = guard((): void => {
    const page = window as { tracker?: Stub };
    const stub: Stub = Array.isArray(page.tracker) ? page.tracker : [];
    const tracker = startTracker(stub, script.src, script.dataset);
    const call = ([method, args, resolve]: EarlyCall): void => {
      resolve((tracker[method] as (...args: unknown[]) => unknown)(...args));
      if (args.p) args.p.catch(note);
    };
    stub.splice(0).map(call);
    stub.push = call as Stub['push'];
    page.tracker = stub;
    if (then) then(tracker, script.dataset);
  });
  if ((document as { prerendering?: boolean }).prerendering) document.addEventListener('prerenderingchange', start);
  // In a task of its own: evaluating a script holds up the page's parser.
  else setTimeout(start);
};
