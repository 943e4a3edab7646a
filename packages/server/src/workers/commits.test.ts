import { expect, it } from 'vitest';
import type { Parcel } from '../store/several.ts';
import type { ParcelFrame } from './channel.ts';
import { answerCommit, createCommits } from './commits.ts';

const turn = () => new Promise(setImmediate);
const parcel = (name: number): Parcel => new Uint8Array([name]);

it('each commit is answered with its own outcomes, whatever order they come in', async () => {
  const sent: ParcelFrame[] = [];
  const { commit, answered } = createCommits((frame) => sent.push(frame));
  const both = Promise.all([1, 2].map((name) => commit(parcel(name), { bytes: 10, changesAccess: false })));
  const [first, second] = sent as [ParcelFrame, ParcelFrame];
  expect(first).toEqual({ kind: 'commit', id: first.id, bytes: 10, payload: parcel(1) });
  answered({ ...second, kind: 'not kept' });
  answered({ ...first, kind: 'outcomes', payload: parcel(3) });
  // Twice, or to nobody: as if it had not come.
  answered({ ...first, kind: 'outcomes', payload: parcel(4) });
  expect(await both).toEqual([parcel(3), undefined]);
});

it('what changes access is answered when all have forgotten what they knew of it', async () => {
  const order: string[] = [];
  const { commit } = createCommits((frame) => {
    void answerCommit(frame, {
      commit: async (parcel) => {
        order.push('committed');
        return parcel;
      },
      forgetAccess: async () => {
        await turn();
        order.push('forgotten');
      },
      send: ({ kind }) => order.push(kind),
    });
  });
  void commit(parcel(1), { bytes: 1, changesAccess: true });
  await turn();
  await turn();
  expect(order).toEqual(['committed', 'forgotten', 'outcomes']);
});
