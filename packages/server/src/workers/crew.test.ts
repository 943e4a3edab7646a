import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createCrew } from './crew.ts';
import type { WorkerProcess } from './worker-process.ts';

const turn = () => new Promise(setImmediate);

/** A worker that does what it is told to. */
const createFake = () => {
  let becomeReady = () => {};
  let fail = (_: Error) => {};
  let end = (_: string) => {};
  const ready = new Promise<void>((resolve, reject) => {
    becomeReady = resolve;
    fail = reject;
  });
  ready.catch(() => {});
  const ended = new Promise<string>((resolve) => {
    end = resolve;
  });
  const handed: Socket[] = [];
  const worker = {
    pid: 1,
    load: 0,
    missed: 0,
    ready,
    ended,
    hand: (connection: Socket) => {
      handed.push(connection);
      worker.load += 1;
    },
    takeBack: () => handed.splice(0),
    tellCommit: vi.fn(),
    forgetAccess: async () => {},
    look: () => {
      worker.missed += 1;
    },
    stop: async () => 2,
    kill: vi.fn(() => worker.end('it was killed')),
    becomeReady,
    end: (how: string) => {
      fail(new Error(how));
      end(how);
    },
    handed,
  };
  return worker;
};

const setUp = (workers: number) => {
  const started: ReturnType<typeof createFake>[] = [];
  const onFatal = vi.fn();
  const crew = createCrew({
    workers,
    start: () => {
      const fake = createFake();
      started.push(fake);
      return fake as WorkerProcess;
    },
    log: pino({ level: 'silent' }),
    onFatal,
  });
  onTestFinished(crew.kill);
  return { crew, started, onFatal };
};

const connection = () => new EventEmitter() as Socket;

it('spreads connections evenly, and keeps them until somebody can take them', async () => {
  const { crew, started } = setUp(3);
  crew.hand(connection());
  for (const { becomeReady } of started) becomeReady();
  await crew.ready;
  for (let count = 0; count < 8; count += 1) crew.hand(connection());
  expect(started.map(({ handed }) => handed.length)).toEqual([3, 3, 3]);
});

it('hands to others what one that has ended was still to be handed', async () => {
  const { crew, started } = setUp(2);
  for (const { becomeReady } of started) becomeReady();
  await crew.ready;
  for (let count = 0; count < 4; count += 1) crew.hand(connection());
  started[0]?.end('it was killed');
  await turn();
  expect(started[1]?.handed).toHaveLength(4);
});

it('hands whoever does not answer nothing while another does', async () => {
  const { crew, started } = setUp(2);
  for (const { becomeReady } of started) becomeReady();
  await crew.ready;
  const [stuck, other] = started as [(typeof started)[0], (typeof started)[0]];
  stuck.missed = 2;
  for (let count = 0; count < 4; count += 1) crew.hand(connection());
  expect([stuck.handed.length, other.handed.length]).toEqual([0, 4]);
});

it('replaces one that ends, and says when one cannot be started at all', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { crew, started, onFatal } = setUp(1);
  started[0]?.becomeReady();
  await crew.ready;
  started[0]?.end('it was killed by SIGKILL');
  for (let failed = 1; failed <= 5; failed += 1) {
    await turn();
    expect(started).toHaveLength(failed + 1);
    expect(onFatal).not.toHaveBeenCalled();
    started[failed]?.end('it ended with 1');
    await turn();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(onFatal).toHaveBeenCalledExactlyOnceWith(new Error('no worker can be started: it ended with 1'));
});

it('cannot be had when one does not start', async () => {
  const { crew, started } = setUp(2);
  started[0]?.becomeReady();
  started[1]?.end('it ended with 1');
  await expect(crew.ready).rejects.toThrow('it ended with 1');
});

it('stops all, and counts what each has cut off; whoever was not ready is ended', async () => {
  const { crew, started } = setUp(2);
  for (const { becomeReady } of started) becomeReady();
  await crew.ready;
  started[0]?.end('it was killed');
  await turn();
  expect(started).toHaveLength(3);
  const stopped = crew.stop(1_000);
  expect(await stopped).toBe(2);
  expect(started[2]?.kill).toHaveBeenCalled();
});

it('ends one that has not answered ten times, unless the first process itself was late', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { crew, started } = setUp(2);
  for (const { becomeReady } of started) becomeReady();
  await crew.ready;
  const [stuck, other] = started as [(typeof started)[0], (typeof started)[0]];
  // It answers each time it is asked.
  other.look = () => {};
  await vi.advanceTimersByTimeAsync(10_000);
  expect([stuck.missed, stuck.kill.mock.calls.length]).toEqual([10, 0]);
  // Nobody was asked while this process stood still.
  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValueOnce(now + 60_000);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(stuck.kill).not.toHaveBeenCalled();
  vi.restoreAllMocks();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(stuck.kill).toHaveBeenCalled();
  expect(other.kill).not.toHaveBeenCalled();
});

it('passes on what all are to hear, and waits until none goes by what it knew', async () => {
  const { crew, started } = setUp(2);
  for (const { becomeReady } of started) becomeReady();
  await crew.ready;
  crew.tellCommit();
  for (const { tellCommit } of started) expect(tellCommit).toHaveBeenCalledOnce();
  const [slow] = started as [(typeof started)[0]];
  slow.forgetAccess = () => new Promise(() => {});
  let forgotten = false;
  const forgetting = crew.forgetAccess().then(() => {
    forgotten = true;
  });
  await turn();
  expect(forgotten).toBe(false);
  slow.end('it was killed');
  await forgetting;
});
