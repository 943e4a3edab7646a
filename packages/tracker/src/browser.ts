/** The script that a page loads: makes `tracker` from its own tag, and makes up for the calls that came before it. */
import { startTracker, type Tracker } from './tracker.ts';

/** A call that the snippet's stub kept: the method, its arguments with the promise that was answered, and its resolver. */
type EarlyCall = [
  method: keyof Tracker,
  args: unknown[] & { p?: Promise<unknown> },
  resolve: (result: unknown) => void,
];

/** The snippet's stub: an array of calls that has the tracker's methods. Kept as the tracker, since pages hold on to it. */
type Stub = EarlyCall[] & Partial<Tracker>;

const start = (script: HTMLScriptElement): void => {
  const page = window as { tracker?: Stub };
  const stub: Stub = Array.isArray(page.tracker) ? page.tracker : [];
  const tracker = startTracker(
    new URL('.', script.src).href,
    script.dataset.token as string,
    'debug' in script.dataset,
  );
  const call = ([method, args, resolve]: EarlyCall): void => {
    resolve((tracker[method] as (...args: unknown[]) => unknown)(...args));
    if (args.p) args.p.catch(() => {});
  };
  stub.splice(0).forEach(call);
  page.tracker = Object.assign(stub, tracker, { push: call });
};

try {
  const script = document.currentScript as HTMLScriptElement;
  // A page that is only rendered ahead may never be seen: it starts when it is shown.
  if ((document as { prerendering?: boolean }).prerendering)
    document.addEventListener('prerenderingchange', () => start(script));
  else start(script);
} catch {}
