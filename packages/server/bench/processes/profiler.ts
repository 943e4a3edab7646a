/** Profiles this process: its main thread and the threads that it started. */
import { Session } from 'node:inspector/promises';

/** https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile; times in microseconds. */
export interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly children?: readonly number[];
    readonly callFrame: { readonly functionName: string; readonly url: string };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Starts profiling. Returns a function that stops it and returns a profile of each thread. */
export const startProfiler = async (): Promise<() => Promise<Profile[]>> => {
  const session = new Session();
  session.connect();
  const threads: string[] = [];
  const pending = new Map<number, (result: { profile: Profile }) => void>();
  let lastID = 0;
  session.on('NodeWorker.attachedToWorker', ({ params }) => threads.push(params.sessionId));
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
    const { id, result } = JSON.parse(params.message);
    pending.get(id)?.(result);
    pending.delete(id);
  });
  /** Calls a thread's inspector through the main thread's. */
  const callThread = (sessionId: string, method: string) =>
    new Promise<{ profile: Profile }>((resolve, reject) => {
      lastID += 1;
      pending.set(lastID, resolve);
      const message = JSON.stringify({ id: lastID, method });
      session.post('NodeWorker.sendMessageToWorker', { sessionId, message }).catch(reject);
    });
  const callAll = async (method: 'Profiler.enable' | 'Profiler.start') => {
    await session.post(method);
    await Promise.all(threads.map((thread) => callThread(thread, method)));
  };

  await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  await callAll('Profiler.enable');
  await callAll('Profiler.start');
  return async () => {
    const [main, others] = await Promise.all([
      session.post('Profiler.stop'),
      Promise.all(threads.map((thread) => callThread(thread, 'Profiler.stop'))),
    ]);
    session.disconnect();
    return [main.profile as Profile, ...others.map(({ profile }) => profile)];
  };
};
